//! The versions of the spec.

use std::fmt;

use crate::text::semver::SemVer;

/// A version of the spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2.2.0, which only old clients ask for: it can be written, not read.
    V2_2,
    /// 3.0.0.
    V3_0,
    /// 3.1.0.
    V3_1,
    /// 3.2.0.
    V3_2,
    /// 3.3.0.
    V3_3,
    /// 3.4.0.
    V3_4,
    /// 3.5.0.
    V3_5,
    /// 3.6.0, and 3.6.0-experimental as Ignition 2.24 calls it.
    V3_6,
}

impl Version {
    /// The newest one.
    pub const NEWEST: Self = Self::V3_6;

    /// All of them, oldest first.
    pub const ALL: [Self; 8] = [
        Self::V2_2,
        Self::V3_0,
        Self::V3_1,
        Self::V3_2,
        Self::V3_3,
        Self::V3_4,
        Self::V3_5,
        Self::V3_6,
    ];

    /// Returns the name that stands in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2_2 => "2.2.0",
            Self::V3_0 => "3.0.0",
            Self::V3_1 => "3.1.0",
            Self::V3_2 => "3.2.0",
            Self::V3_3 => "3.3.0",
            Self::V3_4 => "3.4.0",
            Self::V3_5 => "3.5.0",
            Self::V3_6 => "3.6.0",
        }
    }

    /// Finds the version that a person means, also without its last number.
    pub fn meant(text: &str) -> Option<Self> {
        let versions = Self::ALL.into_iter();
        let mut meant = versions.filter(|version| {
            let name = version.name();
            name == text || name.strip_suffix(".0") == Some(text)
        });
        meant
            .next()
            .or((text == "3.6.0-experimental").then_some(Self::V3_6))
    }

    /// Finds the version of a config; none if it is one that cannot be read.
    pub(crate) fn of(version: &SemVer) -> Option<Self> {
        let (3, minor, 0, "") = (
            version.major,
            version.minor,
            version.patch,
            &*version.metadata,
        ) else {
            return None;
        };
        match (minor, &*version.pre_release) {
            (0, "") => Some(Self::V3_0),
            (1, "") => Some(Self::V3_1),
            (2, "") => Some(Self::V3_2),
            (3, "") => Some(Self::V3_3),
            (4, "") => Some(Self::V3_4),
            (5, "") => Some(Self::V3_5),
            (6, "" | "experimental") => Some(Self::V3_6),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_known_by_their_numbers() {
        let of = |text: &str| SemVer::parse(text).and_then(|version| Version::of(&version));
        assert_eq!(of("3.0.0"), Some(Version::V3_0));
        // Whoever reads numbers does not see zeros in front of them.
        assert_eq!(of("03.5.00"), Some(Version::V3_5));
        assert_eq!(of("3.6.0-experimental"), Some(Version::V3_6));
        assert_eq!(of("3.5.0-experimental"), None);
        assert_eq!(of("3.1.0+x"), None);
        assert_eq!(of("2.2.0"), None);
        assert_eq!(Version::meant("3.4"), Some(Version::V3_4));
        assert_eq!(Version::meant("2.2.0"), Some(Version::V2_2));
        assert_eq!(Version::meant("4"), None);
    }
}
