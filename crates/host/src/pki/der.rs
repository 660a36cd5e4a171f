//! As much of DER as it takes to write a name, wrap a key and put a certificate together.

use bootlace_engine::port::HostResult;

use super::crypto;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// Writes one element: its tag, its length and the parts of its content.
pub(super) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(length + 6);
    bytes.push(tag);
    push_length(&mut bytes, length);
    for part in parts {
        bytes.extend_from_slice(part);
    }
    bytes
}

fn push_length(bytes: &mut Vec<u8>, length: usize) {
    // Up to 127 the length is one byte; above, a byte tells how many bytes of length follow.
    let Some(short) = u8::try_from(length).ok().filter(|short| *short < 0x80) else {
        let long = length.to_be_bytes();
        let zeros = long.iter().take_while(|byte| **byte == 0).count();
        let used = &long[zeros..];
        bytes.push(0x80 | used.len().to_le_bytes()[0]);
        bytes.extend_from_slice(used);
        return;
    };
    bytes.push(short);
}

/// Returns the content of the one element that the bytes are.
pub(super) fn content(bytes: &[u8]) -> HostResult<&[u8]> {
    let (whole, header) = first(bytes)?;
    if whole.len() != bytes.len() {
        return Err(crypto("it has bytes behind its end"));
    }
    Ok(&whole[header..])
}

/// Splits the content of a sequence into its elements, each with tag and length.
pub(super) fn elements(mut content: &[u8]) -> HostResult<Vec<&[u8]>> {
    let mut found = Vec::new();
    while !content.is_empty() {
        let (whole, _) = first(content)?;
        found.push(whole);
        content = &content[whole.len()..];
    }
    Ok(found)
}

/// Returns the first element as it stands and the length of its header.
fn first(bytes: &[u8]) -> HostResult<(&[u8], usize)> {
    let torn = || crypto("it is torn: it ends in the middle of an element");
    let first_length = *bytes.get(1).ok_or_else(torn)?;
    let (header, length) = if first_length < 0x80 {
        (2, usize::from(first_length))
    } else {
        let header = 2 + usize::from(first_length & 0x7f);
        let digits = bytes.get(2..header).ok_or_else(torn)?;
        let length = digits.iter().try_fold(0_usize, |length, digit| {
            Some(length.checked_mul(256)? + usize::from(*digit))
        });
        (header, length.ok_or_else(torn)?)
    };
    let end = header.checked_add(length).ok_or_else(torn)?;
    Ok((bytes.get(..end).ok_or_else(torn)?, header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_as_many_bytes_as_they_need_and_read_back() {
        for (length, header) in [
            (0, 2),
            (127, 2),
            (128, 3),
            (255, 3),
            (256, 4),
            (65_535, 4),
            (65_536, 5),
        ] {
            let body = vec![7; length];
            let bytes = element(OCTET_STRING, &[&body]);
            assert_eq!(bytes.len(), length + header, "{length}");
            assert_eq!(content(&bytes).unwrap(), body);
        }
    }

    #[test]
    fn torn_bytes_are_an_error_and_never_a_panic() {
        let whole = element(SEQUENCE, &[&element(INTEGER, &[&[1]]), &[0x04, 0x81, 0x80]]);
        for end in 0..whole.len() {
            assert!(content(&whole[..end]).is_err(), "{end}");
        }
        assert!(elements(content(&whole).unwrap()).is_err());
        assert!(content(&[0x30, 0xff]).is_err());
        assert!(content(&[&[0x30, 0x88][..], &[0xff; 8]].concat()).is_err());
        assert!(content(&[0x05, 0x00, 0x00]).is_err());
    }
}
