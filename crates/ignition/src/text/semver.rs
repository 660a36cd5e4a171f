//! Versions in three numbers.

/// A version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SemVer {
    pub(crate) major: i64,
    pub(crate) minor: i64,
    pub(crate) patch: i64,
    pub(crate) pre_release: String,
    pub(crate) metadata: String,
}

impl SemVer {
    /// Reads a version; none if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, metadata) = text.split_once('+').unwrap_or((text, ""));
        let (text, pre_release) = text.split_once('-').unwrap_or((text, ""));
        let mut numbers = text.splitn(3, '.');
        let mut number = || {
            let digits = numbers.next()?;
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok()).flatten()
        };
        let (major, minor, patch) = (number()?, number()?, number()?);
        let is_fine = |text: &str| text.bytes().all(is_identifier_byte);
        (is_fine(pre_release) && is_fine(metadata)).then(|| Self {
            major,
            minor,
            patch,
            pre_release: pre_release.to_owned(),
            metadata: metadata.to_owned(),
        })
    }
}

/// Tells what may stand behind the numbers. The library that Ignition uses meant a dot and a hyphen,
/// and wrote a range from the dot to the A.
fn is_identifier_byte(byte: u8) -> bool {
    matches!(byte, b'.'..=b'A') || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_make_a_version() {
        let version = SemVer::parse("3.6.0-experimental+x").unwrap();
        assert_eq!((version.major, version.minor, version.patch), (3, 6, 0));
        assert_eq!(
            (&*version.pre_release, &*version.metadata),
            ("experimental", "x")
        );
        for bad in [
            "",
            "3",
            "3.0",
            "3.0.0.0",
            "3.0.x",
            "v3.0.0",
            "3.0.0-a_b",
            " 3.0.0",
            "3..0",
        ] {
            assert_eq!(SemVer::parse(bad), None, "{bad}");
        }
    }
}
