//! Contents: data URLs, gzip and hashes, in the order in which Ignition handles them.

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256, Sha512};

use crate::problem::Problem;
use crate::text::data_url;

/// Why contents cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// They are not compressed as was said.
    #[error("it is not compressed with gzip, or broken: {0}")]
    Gzip(String),
    /// They are larger than is taken.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The most that is taken.
        limit: u64,
    },
    /// They are something else than was promised.
    #[error("its hash is {found}, not {wanted}")]
    Hash {
        /// What was promised.
        wanted: String,
        /// What it is.
        found: String,
    },
    /// What was promised cannot be checked.
    #[error("the hash {0} cannot be checked: its function is not known")]
    UnknownHash(String),
}

/// Decodes a data URL.
pub fn decode_data_url(url: &str) -> Result<Vec<u8>, Problem> {
    data_url::decode(url).map_err(Problem::BadDataUrl)
}

/// Undoes the compression, and checks what comes out; at most `limit` bytes are taken.
pub fn finish(
    raw: Vec<u8>,
    compression: Option<&str>,
    hash: Option<&str>,
    limit: u64,
) -> Result<Vec<u8>, ContentError> {
    let content = match compression {
        Some("gzip") => unpacked(&raw, limit)?,
        _ => raw,
    };
    if content.len() as u64 > limit {
        return Err(ContentError::TooLarge { limit });
    }
    if let Some(wanted) = hash {
        check(&content, wanted)?;
    }
    Ok(content)
}

/// Unpacks; a small file that unpacks to a huge one is given up at the limit.
fn unpacked(raw: &[u8], limit: u64) -> Result<Vec<u8>, ContentError> {
    let mut content = Vec::new();
    let decoder = MultiGzDecoder::new(raw);
    let mut bounded = decoder.take(limit.saturating_add(1));
    bounded
        .read_to_end(&mut content)
        .map_err(|error| ContentError::Gzip(error.to_string()))?;
    if content.len() as u64 > limit {
        return Err(ContentError::TooLarge { limit });
    }
    Ok(content)
}

fn check(content: &[u8], wanted: &str) -> Result<(), ContentError> {
    let found = match wanted.split_once('-') {
        Some(("sha256", _)) => format!("sha256-{}", hex(&Sha256::digest(content))),
        Some(("sha512", _)) => format!("sha512-{}", hex(&Sha512::digest(content))),
        _ => return Err(ContentError::UnknownHash(wanted.to_owned())),
    };
    if found.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(ContentError::Hash {
        wanted: wanted.to_owned(),
        found,
    })
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn hashes_are_of_what_was_unpacked() {
        let sum = "sha256-2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let taken = finish(packed(b"hello"), Some("gzip"), Some(sum), 100);
        assert_eq!(taken.as_deref(), Ok(&b"hello"[..]));
        assert!(finish(b"hello".to_vec(), None, Some(sum), 100).is_ok());
        // Ignition reads the digits before it compares, so their case does not matter.
        let loud = format!("sha256-{}", sum["sha256-".len()..].to_uppercase());
        assert!(finish(b"hello".to_vec(), None, Some(&loud), 100).is_ok());
        let wrong = finish(b"hell".to_vec(), None, Some(sum), 100);
        assert!(matches!(wrong, Err(ContentError::Hash { .. })), "{wrong:?}");
    }

    #[test]
    fn a_bomb_is_given_up_and_a_broken_archive_is_named() {
        let bomb = packed(&vec![0; 10 << 20]);
        let taken = finish(bomb, Some("gzip"), None, 1 << 20);
        assert_eq!(taken, Err(ContentError::TooLarge { limit: 1 << 20 }));
        let broken = finish(b"no archive".to_vec(), Some("gzip"), None, 100);
        assert!(matches!(broken, Err(ContentError::Gzip(_))), "{broken:?}");
        let mut cut = packed(b"hello");
        cut.truncate(12);
        assert!(matches!(
            finish(cut, Some("gzip"), None, 100),
            Err(ContentError::Gzip(_))
        ));
    }
}
