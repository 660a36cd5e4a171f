//! The name in a certificate.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The object identifier of a common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The tag of the version, which old certificates leave out.
const VERSION: u8 = 0xa0;

/// Reads the common name of the first certificate in PEM; none if it is not one, or has none.
pub(super) fn common_name(pem: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(pem).ok()?;
    let (_, text) = text.split_once(BEGIN)?;
    let (text, _) = text.split_once(END)?;
    let der = STANDARD.decode(text.split_whitespace().collect::<String>());
    let der = der.ok()?;
    let (_, certificate, _) = element(&der)?;
    let (_, mut fields, _) = element(certificate)?;
    if fields.first() == Some(&VERSION) {
        (_, _, fields) = element(fields)?;
    }
    // The serial number, the algorithm, the issuer and the validity come before the subject.
    for _ in 0..4 {
        (_, _, fields) = element(fields)?;
    }
    let (_, mut names, _) = element(fields)?;
    loop {
        let (_, set, rest) = element(names)?;
        let (_, name, _) = element(set)?;
        let (_, kind, value) = element(name)?;
        if kind == COMMON_NAME {
            let (_, text, _) = element(value)?;
            return String::from_utf8(text.to_vec()).ok();
        }
        names = rest;
    }
}

/// Splits the first element off DER: its tag, its content, and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, short], rest) = der.split_first_chunk()?;
    let (length, rest) = if short < 0x80 {
        (usize::from(short), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
        let length = bytes.iter().try_fold(0_usize, |sum, &byte| {
            Some(sum.checked_mul(256)? + usize::from(byte))
        });
        (length?, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SERVING;
    use super::common_name;

    #[test]
    fn the_subject_is_read_and_not_the_issuer() {
        assert_eq!(
            common_name(SERVING.as_bytes()).as_deref(),
            Some("system:node:node-1")
        );
    }

    #[test]
    fn what_is_no_certificate_has_no_name() {
        for end in 0..SERVING.len() - 30 {
            assert_eq!(common_name(&SERVING.as_bytes()[..end]), None);
        }
        for spoilt in [
            SERVING.replace("MII", "AAA"),
            SERVING.replace("BEGIN", "BEGIN X"),
            format!("{}{}", super::BEGIN, super::END),
            format!("{}MP//////{}", super::BEGIN, super::END),
        ] {
            assert_eq!(common_name(spoilt.as_bytes()), None, "{spoilt}");
        }
    }
}
