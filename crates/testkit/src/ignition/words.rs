//! Small choices and contents from which configs are made.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha512};

use crate::dice::Dice;

/// The most bytes of a block that gzip stores as it is.
const MOST_STORED: usize = 0xffff;

/// Chooses one text.
pub(crate) fn pick<'a>(dice: &mut Dice, from: &[&'a str]) -> &'a str {
    from.get(dice.index(from.len())).copied().unwrap_or("")
}

/// Makes bytes: nothing, a line, text of all kinds, or what is no text.
pub(crate) fn bytes(dice: &mut Dice) -> Vec<u8> {
    match dice.below(8) {
        0 => vec![],
        1 => (0..=u8::MAX).cycle().take(dice.index(300)).collect(),
        2 => "grüße, 世界 + 100% \"quoted\"\n".as_bytes().to_vec(),
        3 => b"a".repeat(dice.index(5000)),
        _ => format!("line {}\n", dice.below(1000)).into_bytes(),
    }
}

/// Writes bytes as a data URL, in one of the forms that are in use.
pub(crate) fn data_url(dice: &mut Dice, bytes: &[u8]) -> String {
    match dice.below(6) {
        0 => format!("data:;base64,{}", STANDARD.encode(bytes)),
        1 => format!("data:text/plain;base64,{}", STANDARD.encode(bytes)),
        2 => format!(
            "data:text/plain;charset=utf-8;base64,{}",
            STANDARD.encode(bytes)
        ),
        3 => format!("data:text/plain;charset=utf-8,{}", escaped(bytes, b"-_.~")),
        4 => format!("data:,{}", escaped(bytes, b"-_.~+!$&'()*,/:;=?@")),
        _ => format!("data:,{}", escaped(bytes, b"-_.~")),
    }
}

/// Writes bytes with all but letters, digits and some others escaped.
fn escaped(bytes: &[u8], plain: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || plain.contains(byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// Writes the hash of bytes as configs name it.
pub(crate) fn hash(bytes: &[u8], short: bool) -> String {
    if short {
        format!("sha256-{}", hex(&Sha256::digest(bytes)))
    } else {
        format!("sha512-{}", hex(&Sha512::digest(bytes)))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Packs bytes as gzip does, without making them smaller, so that the result never changes.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = bytes.chunks(MOST_STORED).peekable();
    if blocks.peek().is_none() {
        packed.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(block);
    }
    packed.extend(checksum(bytes).to_le_bytes());
    packed.extend(u32::try_from(bytes.len()).unwrap_or(0).to_le_bytes());
    packed
}

/// Computes the checksum that stands at the end of what gzip packs.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            let polynomial = if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            (sum >> 1) ^ polynomial
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(gzip(b"").len(), 23);
        assert_eq!(
            gzip(&vec![7; MOST_STORED + 1]).len(),
            10 + 5 + 5 + 8 + MOST_STORED + 1
        );
    }

    #[test]
    fn data_urls_are_plain_text() {
        for seed in 0..50 {
            let mut dice = Dice::new(seed);
            let bytes = bytes(&mut dice);
            let url = data_url(&mut dice, &bytes);
            assert!(url.starts_with("data:") && url.is_ascii(), "{url}");
        }
        assert_eq!(escaped(b"a b%", b""), "a%20b%25");
        assert!(hash(b"", true).starts_with("sha256-e3b0c442"));
        assert_eq!(hash(b"", false).len(), 7 + 128);
    }
}
