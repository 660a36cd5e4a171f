//! Versions of Kubernetes.

use super::Problem;

const WHY: &str = "the version names images and files, which exist only under their exact name";

/// Reads `vX.Y.Z`, with a pre-release such as `-rc.1` behind it or not.
pub(in crate::config) fn version(text: &str) -> Result<String, Problem> {
    if is_version(text) {
        return Ok(text.into());
    }
    let tidy = format!("v{}", text.trim().trim_start_matches(['v', 'V']));
    let hint = if is_version(&tidy) {
        format!("did you mean {tidy}?")
    } else if is_version(&format!("{tidy}.0")) {
        format!("write the patch version as well, such as {tidy}.0")
    } else {
        "write vMAJOR.MINOR.PATCH, such as v1.36.3".into()
    };
    Err(Problem::new(
        "is not a version of the form vX.Y.Z",
        WHY,
        hint,
    ))
}

fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else {
        return false;
    };
    let (core, pre) = rest
        .split_once('-')
        .map_or((rest, None), |(core, pre)| (core, Some(pre)));
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits && part.len() <= 9 && (part == "0" || !part.starts_with('0'))
    };
    let identifier = |part: &str| {
        let all = |test: fn(&u8) -> bool| part.bytes().all(|byte| test(&byte));
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        !part.is_empty() && all(plain) && (!all(u8::is_ascii_digit) || number(part))
    };
    core.split('.').count() == 3
        && core.split('.').all(number)
        && pre.is_none_or(|pre| pre.split('.').all(identifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact() {
        for good in ["v1.36.3", "v1.37.0-rc.1", "v0.0.0", "v1.36.3-alpha-2.x"] {
            assert!(version(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "v",
            "1.36.3",
            "v1.36",
            "v1.36.3.4",
            "v01.2.3",
            "v1.2.3-",
            "v1.2.3-01",
            "v1.2.3+x",
            "v1.a.3",
            "v1.-2.3",
            "latest",
        ] {
            assert!(version(bad).is_err(), "{bad}");
        }
        assert_eq!(version("1.36.3").unwrap_err().hint, "did you mean v1.36.3?");
    }
}
