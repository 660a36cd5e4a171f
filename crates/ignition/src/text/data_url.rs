//! Data URLs, taken or refused as by the library that Ignition uses: stricter than browsers.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Base64 as Go reads it: with its padding, and without looking at the last bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// The families of media types; one of these must be at the beginning.
const FAMILIES: [&str; 7] = [
    "text",
    "image",
    "audio",
    "video",
    "application",
    "message",
    "multipart",
];

/// Decodes a data URL, or says why it cannot be.
pub(crate) fn decode(url: &str) -> Result<Vec<u8>, &'static str> {
    let rest = url
        .strip_prefix("data:")
        .ok_or("it does not begin with data:")?;
    let mut head = Head { rest };
    head.media_type()?;
    let is_base64 = head.parameters()?;
    let data = head.rest;
    if is_base64 {
        let decoded = BASE64.decode(data);
        // Ends of lines do not count.
        return match decoded {
            Err(_) if data.contains('\n') => BASE64.decode(data.replace('\n', "")),
            decoded => decoded,
        }
        .map_err(|_| BROKEN_BASE64);
    }
    if !data.bytes().all(|byte| URL_BYTES[usize::from(byte)]) {
        return Err("it has a character that must be written with a percent sign");
    }
    unescaped(data)
}

const BROKEN_BASE64: &str = "its base64 is broken";
const NO_COMMA: &str = "it has no comma before the data";

/// What stands before the comma.
struct Head<'t> {
    rest: &'t str,
}

impl<'t> Head<'t> {
    /// Takes the characters of a token.
    fn token(&mut self) -> &'t str {
        let end = self.rest.bytes().position(|byte| !is_token_byte(byte));
        let (token, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        token
    }

    /// Reads the media type, if there is one.
    fn media_type(&mut self) -> Result<(), &'static str> {
        if self.rest.starts_with([';', ',']) {
            return Ok(());
        }
        let family = self.token();
        let is_own = family.len() >= 2
            && family.is_char_boundary(2)
            && family[..2].eq_ignore_ascii_case("x-");
        if !self.rest.starts_with('/') {
            return Err("its media type has no slash");
        }
        if !is_own && !FAMILIES.iter().any(|known| family.starts_with(known)) {
            return Err("its media type is none");
        }
        self.rest = &self.rest[1..];
        self.token();
        if self.rest.starts_with([';', ',']) {
            Ok(())
        } else {
            Err("its media type is broken")
        }
    }

    /// Reads all parameters and the comma; tells whether the data is base64.
    fn parameters(&mut self) -> Result<bool, &'static str> {
        let mut is_base64 = false;
        loop {
            if let Some(data) = self.rest.strip_prefix(',') {
                self.rest = data;
                return Ok(is_base64);
            }
            self.rest = self.rest.strip_prefix(';').ok_or(NO_COMMA)?;
            let name = self.token();
            if name.is_empty() {
                return Err("a parameter has no name");
            }
            if let Some(value) = self.rest.strip_prefix('=') {
                self.rest = value;
                self.value()?;
            } else if self.rest.starts_with(',') && name == "base64" {
                is_base64 = true;
            } else {
                return Err("a parameter has no value");
            }
        }
    }

    fn value(&mut self) -> Result<(), &'static str> {
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let end = quoted_end(quoted).ok_or("a quoted value is broken")?;
            self.rest = &quoted[end + 1..];
            return Ok(());
        }
        let value = self.token();
        if value.is_empty() {
            return Err("a parameter has no value");
        }
        unescaped(value).map(drop)
    }
}

/// Finds the end of a quoted value; what a backslash stands for must be something that Go knows.
fn quoted_end(quoted: &str) -> Option<usize> {
    let bytes = quoted.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => {
                let digits = |count: usize| {
                    let digits = bytes.get(at + 2..at + 2 + count)?;
                    let digits = std::str::from_utf8(digits).ok()?;
                    let value = u32::from_str_radix(digits, 16).ok()?;
                    (count == 2 || char::from_u32(value).is_some()).then_some(2 + count)
                };
                at += match bytes.get(at + 1)? {
                    b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'"' => 2,
                    b'x' => digits(2)?,
                    b'u' => digits(4)?,
                    b'U' => digits(8)?,
                    b'0'..=b'3' => {
                        let more = bytes.get(at + 2..at + 4)?;
                        more.iter()
                            .all(|byte| matches!(byte, b'0'..=b'7'))
                            .then_some(4)?
                    }
                    _ => return None,
                };
            }
            b'\n' | 0x80.. => return None,
            _ => at += 1,
        }
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte)
}

/// Tells of every byte whether it may stand for itself.
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are 256 bytes, and the place of each is its value"
)]
const URL_BYTES: [bool; 256] = {
    let mut bytes = [false; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        bytes[at] = byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'<' | b'>' | b'#' | b'"' | b'{' | b'}' | b'|' | b'\\' | b'^' | b'[' | b']' | b'`'
            );
        at += 1;
    }
    bytes
};

fn unescaped(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        bytes.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.split_at_checked(2);
        let decoded = digits.and_then(|(digits, after)| {
            let high = char::from(digits[0]).to_digit(16)?;
            let low = char::from(digits[1]).to_digit(16)?;
            Some((u8::try_from(high * 16 + low).ok()?, after))
        });
        let Some((byte, after)) = decoded else {
            return Err("a percent sign is not followed by two digits");
        };
        bytes.push(byte);
        rest = after;
    }
    bytes.extend_from_slice(rest);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_decoded() {
        for (url, data) in [
            ("data:,", ""),
            ("data:,a%20b%0A", "a b\n"),
            ("data:;base64,aGk=", "hi"),
            ("data:text/plain,x", "x"),
            ("data:text/plain;charset=utf-8;base64,aGk=", "hi"),
            ("data:x-own/thing,x", "x"),
            ("data:textual/,x", "x"),
            ("data:;a=\"b \\n,c\",x", "x"),
            ("data:,a,b;c=d", "a,b;c=d"),
            ("data:;base64,aGl=", "hi"),
        ] {
            assert_eq!(decode(url).as_deref(), Ok(data.as_bytes()), "{url}");
        }
        assert_eq!(decode("data:,%ff").unwrap(), [0xff]);
    }

    #[test]
    fn data_urls_that_are_none_are_refused() {
        for url in [
            "data:",
            "data:x",
            "DATA:,x",
            "data:text,x",
            "data:foo/bar,x",
            "data:;base64,aGk",
            "data:;base64,a-==",
            "data:;base64;charset=a,aGk=",
            "data:,a b",
            "data:,{}",
            "data:,%4",
            "data:,%zz",
            "data:;,x",
            "data:;=a,x",
            "data:;a=,x",
            "data:;a=\"b,x",
            "data:;a=\"\\q\",x",
            "data:,\u{e9}",
            "data:xy/z,x",
            "data:;a=%z,x",
        ] {
            assert!(decode(url).is_err(), "{url}");
        }
    }
}
