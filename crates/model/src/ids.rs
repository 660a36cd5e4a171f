//! Names and digests, each with a type of its own so that they cannot be mixed up.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Names a step for ever, as `sequence/step`; journals refer to it, so it is never reused.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct StepId(String);

impl StepId {
    /// Joins a sequence's name and a step's name.
    pub fn new(sequence: &str, step: &str) -> Self {
        Self(format!("{sequence}/{step}"))
    }

    /// Returns the whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part after the sequence's name.
    pub fn step(&self) -> &str {
        self.0
            .split_once('/')
            .map_or(self.0.as_str(), |(_, step)| step)
    }
}

/// Names one run of a sequence; sorts by the time at which the run was opened.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Makes an id from the time of opening, the sequence and four random hexadecimal digits.
    pub fn new(opened: jiff::Timestamp, sequence: &str, random: u16) -> Self {
        Self(format!(
            "{}-{sequence}-{random:04x}",
            opened.strftime("%Y%m%dT%H%M%SZ")
        ))
    }

    /// Accepts an id that was printed earlier; refuses what could not be a folder's name.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (!text.is_empty() && text.len() <= 80 && text.chars().all(plain)).then(|| Self(text.into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifies one boot of one machine; a reboot changes it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct BootId(String);

impl BootId {
    /// Wraps what the kernel says.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A SHA-256 digest, written as `sha256:HEX`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes parts as if they stood one behind the other.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hashing = Hashing::default();
        for part in parts {
            hashing.update(part);
        }
        hashing.finish()
    }

    /// Returns the sixty-four hexadecimal digits without the prefix.
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }

    /// Returns the thirty-two bytes in base64.
    pub fn base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(self.0)
    }

    /// Returns the first twelve digits, for people.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }
}

/// Hashes bytes that come piece by piece.
#[derive(Clone, Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Takes the next piece in.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the digest of all pieces.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Debug for Hashing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hashing")
    }
}

/// Says that a text is not `sha256:` and sixty-four lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a digest of the form sha256:<64 hexadecimal digits>")]
pub struct BadDigest(String);

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let bad = || BadDigest(text.to_owned());
        let hex = text.strip_prefix("sha256:").ok_or_else(bad)?.as_bytes();
        if hex.len() != 64 {
            return Err(bad());
        }
        let nibble = |c: u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])
                .zip(nibble(pair[1]))
                .map(|(h, l)| h << 4 | l)
                .ok_or_else(bad)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(71);
        text.push_str("sha256:");
        text.push_str(&self.hex());
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Digest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a digest sha256:<64 hexadecimal digits>")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
    }
}

macro_rules! text_like {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }
    )*};
}
text_like!(StepId, RunId, BootId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_read_what_they_write_and_refuse_the_rest() {
        let digest = Digest::of(b"abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(Digest::of_parts([&b"a"[..], b"bc"]), digest);
        for bad in [
            "",
            "sha256:",
            "sha1:00",
            &text[..70],
            &text.to_uppercase(),
            "sha256:zz",
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }

    #[test]
    fn run_ids_are_folder_names() {
        let id = RunId::new(jiff::Timestamp::UNIX_EPOCH, "cluster", 0xbeef);
        assert_eq!(id.as_str(), "19700101T000000Z-cluster-beef");
        assert_eq!(RunId::parse(id.as_str()), Some(id));
        for bad in ["", "..", "a/b", "a b", ".x"] {
            assert_eq!(RunId::parse(bad), None, "{bad}");
        }
    }
}
