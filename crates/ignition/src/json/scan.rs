//! Is a text JSON at all? Without recursion, so that no nesting is too deep for us.

/// How deep arrays and objects may be nested in all.
const DEEPEST: usize = 10_000;

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// How many bytes were fine.
    pub(crate) offset: usize,
    /// What was found, or what is missing.
    pub(crate) what: String,
}

/// Checks that a text is one JSON value and nothing else.
pub(crate) fn check(text: &[u8]) -> Result<(), SyntaxError> {
    let mut scan = Scan { text, at: 0 };
    let mut open: Vec<u8> = Vec::new();
    loop {
        // A value begins here.
        scan.space();
        match scan.peek() {
            Some(bracket @ (b'{' | b'[')) => {
                scan.at += 1;
                if open.len() >= DEEPEST {
                    return Err(scan.error("it is nested too deeply"));
                }
                scan.space();
                if scan.peek() == Some(closing(bracket)) {
                    scan.at += 1;
                } else {
                    open.push(bracket);
                    if bracket == b'{' {
                        scan.key()?;
                    }
                    continue;
                }
            }
            Some(b'"') => scan.string()?,
            Some(b'-' | b'0'..=b'9') => scan.number()?,
            Some(b't') => scan.word(b"true")?,
            Some(b'f') => scan.word(b"false")?,
            Some(b'n') => scan.word(b"null")?,
            Some(_) => return Err(scan.unexpected("where a value begins")),
            None => return Err(scan.ended()),
        }
        // A value has ended here, and with it perhaps those around it.
        loop {
            scan.space();
            let Some(&bracket) = open.last() else {
                return match scan.peek() {
                    None => Ok(()),
                    Some(_) => Err(scan.unexpected("after the end")),
                };
            };
            match scan.peek() {
                Some(b',') => {
                    scan.at += 1;
                    if bracket == b'{' {
                        scan.space();
                        scan.key()?;
                    }
                    break;
                }
                Some(byte) if byte == closing(bracket) => {
                    scan.at += 1;
                    open.pop();
                }
                Some(_) => return Err(scan.unexpected("where a comma or an end is expected")),
                None => return Err(scan.ended()),
            }
        }
    }
}

/// Counts the bytes at the beginning that mean nothing but themselves in a string: eight at a time,
/// since most of a config is contents.
pub(super) fn plain(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // High bits mark the bytes that are zero; bytes above such a one may be marked in vain.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut at = 0;
    for chunk in text.as_chunks::<8>().0 {
        let word = u64::from_ne_bytes(*chunk);
        let quotes = zeros(word ^ (ONES * u64::from(b'"')));
        let escapes = zeros(word ^ (ONES * u64::from(b'\\')));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        if (quotes | escapes | controls) != 0 {
            break;
        }
        at += 8;
    }
    let means_more = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    let rest = &text[at..];
    at + rest.iter().position(means_more).unwrap_or(rest.len())
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(_) => return Err(self.unexpected("where a key begins")),
            None => return Err(self.ended()),
        }
        self.space();
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.unexpected("where a colon is expected")),
            None => Err(self.ended()),
        }
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..=0x1f) => return Err(self.unexpected("in a string")),
                Some(_) => self.at += 1 + plain(&self.text[self.at + 1..]),
                None => return Err(self.ended()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.peek() {
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        Some(_) => return Err(self.unexpected("in an escaped character")),
                        None => return Err(self.ended()),
                    }
                }
            }
            Some(_) => return Err(self.unexpected("after a backslash")),
            None => return Err(self.ended()),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            Some(_) => return Err(self.unexpected("in a number")),
            None => return Err(self.ended()),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            Some(_) => Err(self.unexpected("in a number")),
            None => Err(self.ended()),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        for expected in word {
            match self.peek() {
                Some(byte) if byte == *expected => self.at += 1,
                Some(_) => return Err(self.unexpected("in a word")),
                None => return Err(self.ended()),
            }
        }
        Ok(())
    }

    fn unexpected(&self, place: &str) -> SyntaxError {
        let byte = self.peek().unwrap_or_default();
        let shown = char::from(byte).escape_default();
        self.error(&format!("'{shown}' is not expected {place}"))
    }

    fn ended(&self) -> SyntaxError {
        self.error("it ends in the middle")
    }

    fn error(&self, what: &str) -> SyntaxError {
        SyntaxError {
            offset: self.at,
            what: what.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_is_and_what_it_is_not() {
        for good in [
            "{}",
            " [ ] ",
            "null",
            "-0.5e+7",
            r#"{"a":[1,{"b":"\u00e9\n"}],"c":true}"#,
            "\"\u{7f}\"",
        ] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        assert_eq!(check(b"\"\xff\""), Ok(()));
        for (bad, offset) in [
            ("", 0),
            ("{", 1),
            ("{\"a\"}", 4),
            ("[1,]", 3),
            ("{\"a\":1,}", 7),
            ("01", 1),
            ("1.", 2),
            ("tru", 3),
            ("\"\\x\"", 2),
            ("\"\t\"", 1),
            ("{} x", 3),
            ("'a'", 0),
            ("[1 2]", 3),
            ("-", 1),
        ] {
            let error = check(bad.as_bytes()).unwrap_err();
            assert_eq!(error.offset, offset, "{bad}: {error:?}");
        }
    }

    #[test]
    fn plain_bytes_are_counted_to_the_first_that_is_not() {
        for before in 0..40 {
            for byte in 0..=255_u8 {
                let mut text = vec![b'a'; before];
                text.push(byte);
                text.extend([b'z'; 20]);
                let is_plain = !matches!(byte, b'"' | b'\\' | 0..=0x1f);
                let expected = if is_plain { text.len() } else { before };
                assert_eq!(plain(&text), expected, "{before} {byte}");
            }
        }
    }

    #[test]
    fn nesting_has_a_limit_and_costs_no_stack() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(check(nested(DEEPEST).as_bytes()), Ok(()));
        assert!(check(nested(DEEPEST + 1).as_bytes()).is_err());
        assert!(check("[".repeat(1 << 20).as_bytes()).is_err());
    }
}
