//! The names of pools and configs.

/// The longest name that Kubernetes allows.
const LONGEST_NAME: usize = 253;

/// The name of a pool or a config: one plain part of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(String);

impl Name {
    /// Takes a name if it cannot be anything but a name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_name = text.len() <= LONGEST_NAME
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.bytes().all(is_plain);
        is_name.then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_part_of_a_path() {
        for good in ["worker", "master-0", "a.b", "X_1", "0"] {
            assert!(Name::parse(good).is_some(), "{good}");
        }
        let long = "a".repeat(254);
        for bad in [
            "", ".", "..", ".a", "a/b", "../a", "a%2fb", "%2e%2e", "a\\b", "a b", "a\0", "-a", "é",
            "a?b", "a;b", "~", &long,
        ] {
            assert_eq!(Name::parse(bad), None, "{bad:?}");
        }
    }
}
