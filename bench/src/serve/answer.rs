//! An answer while it comes in: nothing of it is kept, everything of it is checked.

use std::io;

/// The longest head of an answer.
const LONGEST_HEAD: usize = 4 << 10;

/// An answer that must have a certain body.
#[derive(Debug)]
pub(crate) struct Answer<'e> {
    expected: &'e [u8],
    head: Vec<u8>,
    /// How much of the body came in; none while the head does.
    came: Option<usize>,
}

impl<'e> Answer<'e> {
    /// Expects a body.
    pub(crate) fn new(expected: &'e [u8]) -> Self {
        Self {
            expected,
            head: Vec::new(),
            came: None,
        }
    }

    /// Begins again, for the next answer on a connection.
    pub(crate) fn again(&mut self) {
        self.head.clear();
        self.came = None;
    }

    /// Tells whether all of it came in.
    pub(crate) fn is_whole(&self) -> bool {
        self.came == Some(self.expected.len())
    }

    /// Takes what came in. To compare every byte with what is expected is cheaper than to digest it,
    /// and says as much.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(came) = self.came else {
            return self.take_head(bytes);
        };
        let expected = self.expected.get(came..came + bytes.len());
        if expected != Some(bytes) {
            return Err(wrong("the body is not what was expected"));
        }
        self.came = Some(came + bytes.len());
        Ok(())
    }

    fn take_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.head.len();
        self.head.extend_from_slice(bytes);
        let end = self.head.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end.map(|end| end + 4) else {
            let fits = self.head.len() <= LONGEST_HEAD;
            return if fits {
                Ok(())
            } else {
                Err(wrong("its head has no end"))
            };
        };
        self.head.truncate(end);
        let head = std::str::from_utf8(&self.head).map_err(io::Error::other)?;
        if !head.starts_with("HTTP/1.1 200 ") {
            let line = head.lines().next().unwrap_or_default();
            return Err(wrong(line));
        }
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.and_then(|(_, length)| length.parse().ok());
        if length != Some(self.expected.len()) {
            return Err(wrong("the body does not have the length that was expected"));
        }
        self.came = Some(0);
        self.take(bytes.get(end - before..).unwrap_or_default())
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_it_is_what_was_expected() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
        for parts in 1..text.len() {
            let mut answer = Answer::new(b"body");
            for part in text.chunks(parts) {
                assert!(!answer.is_whole());
                answer.take(part).unwrap();
            }
            assert!(answer.is_whole());
            assert!(answer.take(b"x").is_err());
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodi",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody!",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody!",
            "HTTP/1.1 200 OK\r\n\r\nbody",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbody",
            "nonsense\r\n\r\n",
        ] {
            assert!(
                Answer::new(b"body").take(text.as_bytes()).is_err(),
                "{text}"
            );
        }
    }
}
