//! Tokens by which machines prove that they may ask for their first config.
//!
//! A token is one line without an end: when it expires, a dot, and 256 random bits in hexadecimal
//! digits. The time is a part of it so that nothing else has to be kept to know it; who takes the
//! token looks at the list of hashes, not at the token, to decide.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::secret::Secret;

/// How the time is written: characters only that an `Authorization` header takes.
const TIME: &str = "%Y%m%dT%H%M%SZ";
/// How many random bytes a token has.
pub const BYTES: usize = 32;

/// Puts a token together; `bits` are [`BYTES`] random bytes.
pub fn compose(bits: &Secret, now: Timestamp, valid_for: Duration) -> Option<Secret> {
    if bits.expose().len() != BYTES {
        return None;
    }
    let valid_for = SignedDuration::try_from(valid_for).ok()?;
    let expires = now.checked_add(valid_for).ok()?;
    let digits = bits.expose().iter().map(|byte| format!("{byte:02x}"));
    let text = format!("{}.{}", expires.strftime(TIME), digits.collect::<String>());
    Some(Secret::new(text.into_bytes()))
}

/// Reads when a token expires; fails with what is wrong with it, and shows nothing of it.
pub fn expiry(token: &[u8]) -> Result<Timestamp, &'static str> {
    const FORM: &str = "it is not a time, a dot and 64 hexadecimal digits, such as \
                        20300131T000000Z.0123…, without an end of line";
    let text = std::str::from_utf8(token).map_err(|_| FORM)?;
    let (time, bits) = text.split_once('.').ok_or(FORM)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if bits.len() != 2 * BYTES || !bits.bytes().all(is_digit) || time.len() != 16 {
        return Err(FORM);
    }
    let time = DateTime::strptime(TIME, time).map_err(|_| FORM)?;
    let time = time.to_zoned(TimeZone::UTC).map_err(|_| FORM)?;
    Ok(time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_tells_when_it_expires() {
        let bits = Secret::new(vec![0xa5; BYTES]);
        let now: Timestamp = "2026-01-02T03:04:05.678Z".parse().unwrap();
        let token = compose(&bits, now, Duration::from_hours(24)).unwrap();
        let text = String::from_utf8(token.expose().to_vec()).unwrap();
        assert_eq!(text, format!("20260103T030405Z.{}", "a5".repeat(BYTES)));
        let expires = expiry(token.expose()).unwrap();
        assert_eq!(expires.to_string(), "2026-01-03T03:04:05Z");
        assert!(compose(&Secret::new(vec![1]), now, Duration::ZERO).is_none());
        assert!(compose(&bits, now, Duration::MAX).is_none());
    }

    #[test]
    fn what_is_no_token_is_refused_without_showing_it() {
        let bits = "0".repeat(64);
        for bad in [
            String::new(),
            "hush".into(),
            bits.clone(),
            format!("20260103T030405Z.{bits}\n"),
            format!("20260103T030405Z.{}", bits.replace('0', "A")),
            format!("20261303T030405Z.{bits}"),
            format!("20260103T030405.{bits}"),
            format!("20260103T030405Z{bits}"),
        ] {
            let why = expiry(bad.as_bytes()).unwrap_err();
            assert!(bad.is_empty() || !why.contains(&bad), "{bad}");
        }
        assert!(expiry(&[0xff, 0xfe]).is_err());
    }
}
