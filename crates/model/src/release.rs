//! How the manifests of a release are ordered: the one rule, for those who show and who apply them.

/// The run level of a file whose name says none.
const USUAL_LEVEL: u16 = 50;

/// Reads the run level from a name like `0000_30_dns_deployment.yaml`; lower ones come first.
pub fn run_level(file: &str) -> u16 {
    let mut parts = file.splitn(3, '_');
    let (Some("0000"), Some(level), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return USUAL_LEVEL;
    };
    let is_level = level.len() == 2 && level.bytes().all(|byte| byte.is_ascii_digit());
    let level = level.parse().ok().filter(|_| is_level);
    level.unwrap_or(USUAL_LEVEL)
}

#[cfg(test)]
mod tests {
    use super::run_level;

    #[test]
    fn names_say_their_run_level() {
        let levels = [
            ("0000_00_first.yaml", 0),
            ("0000_30_dns_deployment.yaml", 30),
            ("0000_99_last.yaml", 99),
            ("0000_3_short.yaml", 50),
            ("0000_300_long.yaml", 50),
            ("0000_x3_odd.yaml", 50),
            ("0000_30.yaml", 50),
            ("30_dns.yaml", 50),
            ("dns.yaml", 50),
            ("", 50),
        ];
        for (name, level) in levels {
            assert_eq!(run_level(name), level, "{name}");
        }
    }
}
