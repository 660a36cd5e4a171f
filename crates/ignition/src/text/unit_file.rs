//! Unit files, as far as Ignition looks into them: whether they can be read, and their sections.

/// The longest line that systemd takes whole.
const LONGEST_LINE: usize = 2048;
/// How much of a file the reader that Ignition uses looks ahead.
const LOOK_AHEAD: usize = 4096;

/// Reads a unit file; returns the section of each option, in order, or why it cannot be read.
pub(crate) fn sections(content: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader::new(content);
    let mut found = Vec::new();
    let mut section: Option<String> = None;
    loop {
        reader.check_line()?;
        let Some(character) = reader.peek() else {
            return Ok(found);
        };
        match (character, &section) {
            ('[', _) => {
                reader.next();
                section = Some(reader.section_name()?);
            }
            ('#' | ';', _) => {
                reader.next();
                reader.check_line()?;
                reader.skip_comment();
            }
            // Before the first section everything else is passed over.
            (_, None) => reader.next(),
            (space, Some(_)) if space.is_whitespace() => reader.next(),
            (_, Some(name)) => {
                reader.option_name()?;
                reader.option_value()?;
                found.push(name.clone());
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Up to where the text was looked at so far, in pieces of a fixed length.
    seen: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            seen: 0,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) {
        let width = self.peek().map_or(0, char::len_utf8);
        self.advance(width);
    }

    /// Goes on; the reader that Ignition uses fills its buffer when it is empty.
    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        while self.seen < self.at {
            self.seen = (self.seen + LOOK_AHEAD).min(self.text.len());
        }
    }

    /// Refuses a line that systemd would cut, if enough of it was seen to know.
    fn check_line(&self) -> Result<(), String> {
        let bytes = self.text.as_bytes();
        if self.seen.saturating_sub(self.at) < LONGEST_LINE {
            return Ok(());
        }
        let ahead = &bytes[self.at..self.at + LONGEST_LINE];
        if ahead.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            return Ok(());
        }
        Err(format!("line too long (max {LONGEST_LINE} bytes)"))
    }

    fn section_name(&mut self) -> Result<String, String> {
        self.check_line()?;
        let Some(end) = self.rest().find(']') else {
            return Err("unable to find end of section".into());
        };
        let name = self.rest()[..end].to_owned();
        self.advance(end + 1);
        self.check_line()?;
        let garbage = self.line();
        if garbage.trim().is_empty() {
            Ok(name)
        } else {
            Err(format!(
                "found garbage after section name: {:?}",
                garbage.trim()
            ))
        }
    }

    fn skip_comment(&mut self) {
        loop {
            let line = self.line();
            let line = line.strip_suffix(' ').unwrap_or(line);
            if !line.ends_with('\\') {
                return;
            }
        }
    }

    fn option_name(&mut self) -> Result<(), String> {
        self.check_line()?;
        loop {
            match self.peek() {
                None => return Err("EOF".into()),
                Some('\n' | '\r') => {
                    return Err("unexpected newline encountered while parsing option name".into());
                }
                Some('=') => {
                    self.next();
                    return Ok(());
                }
                Some(_) => self.next(),
            }
        }
    }

    fn option_value(&mut self) -> Result<(), String> {
        loop {
            self.check_line()?;
            let ended = !self.rest().contains('\n');
            let line = self.line();
            if line.trim().is_empty() || !line.ends_with('\\') || ended {
                return Ok(());
            }
        }
    }

    /// Takes the rest of the line, without its end.
    fn line(&mut self) -> &'t str {
        let rest = self.rest();
        let (line, length) = match rest.find('\n') {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.advance(length);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_with_their_sections() {
        let unit = "# a comment \\\n that goes on\n[Unit]\nDescription = x\n\n[Install]\nWantedBy=a \\\n  b\n";
        assert_eq!(sections(unit).unwrap(), ["Unit", "Install"]);
        assert_eq!(sections("").unwrap(), [""; 0]);
        assert_eq!(sections("no section at all").unwrap(), [""; 0]);
        assert_eq!(sections("[Install]").unwrap(), [""; 0]);
        assert_eq!(sections("[Unit]\nA=").unwrap(), ["Unit"]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (unit, why) in [
            ("[Unit", "unable to find end of section"),
            ("[Unit] x\n", "found garbage"),
            ("[Unit]\nfoo\n", "unexpected newline"),
            ("[Unit]\nfoo", "EOF"),
        ] {
            let said = sections(unit).unwrap_err();
            assert!(said.contains(why), "{unit:?}: {said}");
        }
        let long = format!("[Unit]\nA={}", "x".repeat(5000));
        assert!(sections(&long).unwrap_err().contains("too long"));
    }
}
