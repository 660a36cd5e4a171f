//! Which version of the spec a client is given, by the `Accept` header that it sends.
//!
//! The rules are those of OpenShift's server, so that every client that it serves is served here, too:
//! an entry counts by its MIME subtype alone, the highest `q` wins and the first among equals, and who
//! names no version gets 2.2.0, because only old clients name none.

use bootlace_ignition::Version;

/// The MIME subtype of an Ignition config.
const SUBTYPE: &str = "vnd.coreos.ignition+json";
/// What a client gets that asks for a younger version of the same major one.
const NEWEST_SERVED: Version = Version::V3_5;

/// A version that is asked for and cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsupported {
    /// The version, in numbers.
    pub(crate) asked: String,
}

/// Versions that are served, oldest first.
pub(crate) const SERVED: [Version; 7] = [
    Version::V2_2,
    Version::V3_0,
    Version::V3_1,
    Version::V3_2,
    Version::V3_3,
    Version::V3_4,
    Version::V3_5,
];

/// Chooses the version that a client is served.
pub(crate) fn choose(header: &str) -> Result<Version, Unsupported> {
    let mut entries: Vec<Entry<'_>> = header.split(',').filter_map(Entry::parse).collect();
    // Stable, so that of two with the same weight the first is preferred. A weight that is no number
    // is as good as any other.
    entries.sort_by(|one, other| {
        let order = other.weight.partial_cmp(&one.weight);
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    let asked = entries.into_iter().find_map(|entry| {
        let version = entry.version?;
        (entry.subtype == SUBTYPE).then_some(version)
    });
    asked.map_or(Ok(Version::V2_2), Numbers::served)
}

/// One part of the header.
#[derive(Debug)]
struct Entry<'h> {
    subtype: &'h str,
    version: Option<Numbers>,
    weight: f32,
}

impl<'h> Entry<'h> {
    /// Reads one part; none if it is no MIME type.
    fn parse(text: &'h str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (_, subtype) = parts.next()?.split_once('/')?;
        let (mut version, mut weight) = (None, None);
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key {
                "version" => version = version.or_else(|| Numbers::parse(value)),
                "q" => weight = weight.or_else(|| number(value)),
                _ => {}
            }
        }
        let weight = weight.filter(|weight| !weight.is_nan()).unwrap_or(1.0);
        Some(Self {
            subtype,
            version,
            weight,
        })
    }
}

/// Reads a weight; one that is too large to be held is none, while `inf` is one.
fn number(text: &str) -> Option<f32> {
    let weight: f32 = text.parse().ok()?;
    let is_held = weight.is_finite() || !text.bytes().any(|byte| byte.is_ascii_digit());
    is_held.then_some(weight)
}

/// A version in three numbers. What stands behind them does not matter: the minor version decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    major: i64,
    minor: i64,
    patch: i64,
}

impl Numbers {
    fn parse(text: &str) -> Option<Self> {
        let (text, metadata) = text.split_once('+').unwrap_or((text, ""));
        let (text, pre_release) = text.split_once('-').unwrap_or((text, ""));
        let is_word = |word: &str| {
            let mut bytes = word.bytes();
            !word.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let is_fine = |text: &str| text.is_empty() || text.split('.').all(is_word);
        if !is_fine(metadata) || !is_fine(pre_release) {
            return None;
        }
        let mut numbers = text.splitn(3, '.').map(|digits| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok()).flatten()
        });
        let mut number = || numbers.next().flatten();
        Some(Self {
            major: number()?,
            minor: number()?,
            patch: number()?,
        })
    }

    /// Returns the version in which a client that asks for this one is answered.
    fn served(self) -> Result<Version, Unsupported> {
        match (self.major, self.minor) {
            (2, 2..) => Ok(Version::V2_2),
            (3, 0) => Ok(Version::V3_0),
            (3, 1) => Ok(Version::V3_1),
            (3, 2) => Ok(Version::V3_2),
            (3, 3) => Ok(Version::V3_3),
            (3, 4) => Ok(Version::V3_4),
            (3, 5..) => Ok(NEWEST_SERVED),
            _ => Err(Unsupported {
                asked: format!("{}.{}.{}", self.major, self.minor, self.patch),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignition(version: &str) -> String {
        format!("application/vnd.coreos.ignition+json;version={version}, */*;q=0.1")
    }

    #[test]
    fn versions_are_served_row_by_row() {
        let rows = [
            ("2.0.0", None),
            ("2.1.0", None),
            ("2.2.0", Some(Version::V2_2)),
            ("2.3.0", Some(Version::V2_2)),
            ("2.4.0", Some(Version::V2_2)),
            ("3.0.0", Some(Version::V3_0)),
            ("3.1.0", Some(Version::V3_1)),
            ("3.2.0", Some(Version::V3_2)),
            ("3.3.0", Some(Version::V3_3)),
            ("3.4.0", Some(Version::V3_4)),
            ("3.5.0", Some(Version::V3_5)),
            ("3.5.7", Some(Version::V3_5)),
            ("3.6.0", Some(Version::V3_5)),
            ("3.6.0-experimental", Some(Version::V3_5)),
            ("3.7.0-experimental", Some(Version::V3_5)),
            ("3.99.0", Some(Version::V3_5)),
            ("3.4.0-experimental", Some(Version::V3_4)),
            ("4.0.0", None),
            ("4.1.0-experimental", None),
            ("1.0.0", None),
            ("0.1.0", None),
        ];
        for (asked, served) in rows {
            assert_eq!(choose(&ignition(asked)).ok(), served, "{asked}");
        }
        assert_eq!(choose(&ignition("4.0.0")).unwrap_err().asked, "4.0.0");
    }

    #[test]
    fn who_names_no_version_gets_the_oldest() {
        for header in [
            "",
            "*/*",
            "text/plain",
            "application/json",
            "application/vnd.coreos.ignition+json",
            "application/vnd.coreos.ignition+json;version=1",
            "application/vnd.coreos.ignition+json;version=3.1",
            "application/vnd.coreos.ignition+json;version=\"3.1.0\"",
            "application/vnd.coreos.ignition+json;version = 3.1.0",
            "application/vnd.coreos.ignition+json;version=v3.1.0",
            "application/vnd.coreos.ignition+json;version=3.1.0-a..b",
            "application/vnd.coreos.ignition+json;version=99999999999999999999.0.0",
            "vnd.coreos.ignition+json;version=3.1.0",
            "application/vnd.coreos.ignition+json2;version=3.1.0",
        ] {
            assert_eq!(choose(header), Ok(Version::V2_2), "{header:?}");
        }
    }

    #[test]
    fn weights_decide_and_the_first_of_equals_wins() {
        let entry = |version: &str, rest: &str| {
            format!("application/vnd.coreos.ignition+json;version={version}{rest}")
        };
        let rows = [
            (
                entry("3.1.0", ";q=0.5") + "," + &entry("3.4.0", ""),
                Version::V3_4,
            ),
            (
                entry("3.1.0", "") + ", " + &entry("3.4.0", ""),
                Version::V3_1,
            ),
            (
                entry("3.1.0", ";q=0.3") + "," + &entry("3.4.0", ";q=0.3"),
                Version::V3_1,
            ),
            (
                entry("3.1.0", ";q=0") + "," + &entry("3.4.0", ";q=0.1"),
                Version::V3_4,
            ),
            // A weight of nothing is no refusal.
            (entry("3.1.0", ";q=0"), Version::V3_1),
            (
                entry("3.1.0", ";q=x;q=0.2") + "," + &entry("3.4.0", ";q=0.3"),
                Version::V3_4,
            ),
            (
                entry("3.1.0", ";q=1e99") + "," + &entry("3.4.0", ";q=2"),
                Version::V3_4,
            ),
            (
                entry("3.1.0", ";q=2") + "," + &entry("3.4.0", ";q=inf"),
                Version::V3_4,
            ),
            // The first valid version of an entry counts.
            (entry("x", ";version=3.3.0;version=3.4.0"), Version::V3_3),
            // Only the subtype is compared.
            (
                "x/vnd.coreos.ignition+json;version=3.2.0".into(),
                Version::V3_2,
            ),
            (
                "/vnd.coreos.ignition+json;version=3.2.0".into(),
                Version::V3_2,
            ),
            // As Ignition 0.x asks.
            (
                entry(
                    "2.4.0",
                    ", application/vnd.coreos.ignition+json; version=1; q=0.5, */*; q=0.1",
                ),
                Version::V2_2,
            ),
            (
                "text/html, ".to_owned() + &entry("3.2.0", ";q=0.1"),
                Version::V3_2,
            ),
        ];
        for (header, served) in rows {
            assert_eq!(choose(&header), Ok(served), "{header}");
        }
        // The preferred one decides, also if it cannot be served and another could be.
        let header = entry("4.0.0", "") + "," + &entry("3.4.0", ";q=0.5");
        assert!(choose(&header).is_err());
    }

    #[test]
    fn no_header_is_too_absurd() {
        let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
        let pieces = [
            "application",
            "/",
            "vnd.coreos.ignition+json",
            ";",
            ",",
            "version=",
            "q=",
            "3.",
            "0",
            ".",
            "-",
            "+",
            "nan",
            "inf",
            "-1",
            "1e99",
            " ",
            "\t",
            "=",
            "é",
            "\u{0}",
            "99999999999999999999",
        ];
        for _ in 0..20_000 {
            let mut header = String::new();
            for _ in 0..(dice >> 59) {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let piece = (dice >> 33) as usize % pieces.len();
                header.push_str(pieces[piece]);
            }
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if let Ok(version) = choose(&header) {
                assert!(SERVED.contains(&version));
            }
        }
        let long = ",".repeat(100_000) + &ignition("3.4.0");
        assert_eq!(choose(&long), Ok(Version::V3_4));
    }
}
