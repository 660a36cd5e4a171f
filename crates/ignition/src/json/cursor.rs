//! Walks over a text that is known to be JSON.

use std::borrow::Cow;

use super::scan::plain;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// `null`.
    Null,
}

impl Kind {
    /// Names the kind for people.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "a list",
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Null => "null",
        }
    }
}

/// A place in a text that was checked before; it never leaves the text, whatever it is asked.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Begins at the value of a whole text.
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let mut cursor = Self { text, at: 0 };
        cursor.space();
        cursor
    }

    /// Returns how many bytes lie before this place.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Tells what the value here is.
    pub(crate) fn kind(&self) -> Kind {
        match self.byte() {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::Text,
            b't' | b'f' => Kind::Flag,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Steps over the bracket that begins an object or an array.
    pub(crate) fn enter(&mut self) {
        self.at += 1;
        self.space();
    }

    /// Goes to the next item, or leaves the object or array and returns false.
    pub(crate) fn next_item(&mut self) -> bool {
        self.space();
        if self.byte() == b',' {
            self.at += 1;
            self.space();
        }
        if matches!(self.byte(), b'}' | b']' | 0) {
            self.at += 1;
            return false;
        }
        true
    }

    /// Reads a key and goes to its value.
    pub(crate) fn key(&mut self) -> Cow<'t, str> {
        let key = self.text();
        self.space();
        self.at += 1;
        self.space();
        key
    }

    /// Reads a string.
    pub(crate) fn text(&mut self) -> Cow<'t, str> {
        let begin = self.at + 1;
        self.skip();
        let inner = self.text.get(begin..self.at.saturating_sub(1));
        let inner = inner.unwrap_or_default();
        if inner.contains(&b'\\') {
            return Cow::Owned(unescaped(inner));
        }
        String::from_utf8_lossy(inner)
    }

    /// Reads a flag.
    pub(crate) fn flag(&mut self) -> bool {
        let flag = self.byte() == b't';
        self.skip();
        flag
    }

    /// Reads a whole number; none if it is not one, or too large.
    pub(crate) fn whole_number(&mut self) -> Option<i64> {
        let begin = self.at;
        self.skip();
        let digits = self.text.get(begin..self.at)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Steps over the value, however deep it is.
    pub(crate) fn skip(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.byte() {
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b'"' => self.skip_string(),
                0 if self.at >= self.text.len() => return,
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => self.at += 1,
                _ => self.skip_scalar(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        loop {
            match self.byte() {
                b'"' => break,
                b'\\' => self.at += 2,
                0 if self.at >= self.text.len() => return,
                _ => {
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    self.at += 1 + plain(rest);
                }
            }
        }
        self.at += 1;
    }

    fn skip_scalar(&mut self) {
        let ends = |byte: u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        while self.at < self.text.len() && !ends(self.byte()) {
            self.at += 1;
        }
    }

    fn space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }
}

/// Resolves what backslashes stand for; half of a pair and bytes that are no UTF-8 become U+FFFD.
fn unescaped(inner: &[u8]) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&escape, after)) = rest.split_first() else {
            break;
        };
        rest = after;
        let plain = match escape {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character;
                (character, rest) = escaped_character(rest);
                let mut buffer = [0; 4];
                bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
            other => other,
        };
        bytes.push(plain);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads what follows `\u`, with the second half of a pair if there is one.
fn escaped_character(rest: &[u8]) -> (char, &[u8]) {
    let Some((first, rest)) = hex(rest) else {
        return (char::REPLACEMENT_CHARACTER, &[]);
    };
    if let Some(character) = char::from_u32(first) {
        return (character, rest);
    }
    let second = rest.strip_prefix(b"\\u").and_then(hex);
    if let (0xd800..=0xdbff, Some((second @ 0xdc00..=0xdfff, after))) = (first, second) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (character, after);
    }
    (char::REPLACEMENT_CHARACTER, rest)
}

fn hex(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, after) = rest.split_at_checked(4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_what_go_makes_of_them() {
        let read = |text: &[u8]| Cursor::new(text).text().into_owned();
        assert_eq!(read(b"\"plain\""), "plain");
        assert_eq!(read(br#""a\n\t\"\\\/\u00e9""#), "a\n\t\"\\/\u{e9}");
        assert_eq!(
            read(br#""\ud83d\ude00\ud83dx\udc00""#),
            "\u{1f600}\u{fffd}x\u{fffd}"
        );
        assert_eq!(read(b"\"\xff!\""), "\u{fffd}!");
    }

    #[test]
    fn a_cursor_walks_and_skips() {
        let text = br#" {"a": [1, -2], "b" : {"x":[[{}]]}, "c":true } "#;
        let mut cursor = Cursor::new(text);
        cursor.enter();
        let mut seen = Vec::new();
        while cursor.next_item() {
            let key = cursor.key().into_owned();
            seen.push((key, cursor.kind(), cursor.offset()));
            if cursor.kind() == Kind::Array {
                cursor.enter();
                let mut numbers = Vec::new();
                while cursor.next_item() {
                    numbers.push(cursor.whole_number());
                }
                assert_eq!(numbers, [Some(1), Some(-2)]);
            } else {
                cursor.skip();
            }
        }
        let names: Vec<&str> = seen.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(seen[1].1, Kind::Object);
        assert_eq!(seen[2].2, 40);
    }

    #[test]
    fn only_whole_numbers_that_fit_are_taken() {
        let read = |text: &str| Cursor::new(text.as_bytes()).whole_number();
        assert_eq!(read("9223372036854775807"), Some(i64::MAX));
        assert_eq!(read("9223372036854775808"), None);
        assert_eq!(read("1.0"), None);
        assert_eq!(read("1e2"), None);
    }
}
