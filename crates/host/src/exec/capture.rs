//! Keeps the interesting end of a stream.

/// Which end of a stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The beginning: of data, the header.
    Beginning,
    /// The end: of complaints, the last word.
    End,
}

/// What is kept of a stream, never much more than was asked for.
#[derive(Debug)]
pub(super) struct Capture {
    which: Keep,
    most: usize,
    kept: Vec<u8>,
}

impl Capture {
    /// Keeps at most so many bytes.
    pub(super) fn new(which: Keep, most: usize) -> Self {
        Self {
            which,
            most,
            kept: Vec::new(),
        }
    }

    /// Takes what came.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self.which {
            Keep::Beginning => {
                let room = self.most.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(&bytes[..room.min(bytes.len())]);
            }
            Keep::End => {
                self.kept.extend_from_slice(bytes);
                // Cut now and then, not at each piece, which would move the whole each time.
                if self.kept.len() > self.most.saturating_mul(2).max(64 << 10) {
                    self.cut();
                }
            }
        }
    }

    /// Returns what was kept.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.cut();
        std::mem::take(&mut self.kept)
    }

    fn cut(&mut self) {
        let surplus = self.kept.len().saturating_sub(self.most);
        self.kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_end_is_kept_whatever_the_pieces() {
        let whole: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        for (which, expected) in [
            (Keep::Beginning, &whole[..1000]),
            (Keep::End, &whole[whole.len() - 1000..]),
        ] {
            for piece in [1, 7, 999, 1000, 1001, 65_536, 300_000] {
                let mut capture = Capture::new(which, 1000);
                for bytes in whole.chunks(piece) {
                    capture.push(bytes);
                    assert!(capture.kept.len() <= 300_000 && capture.kept.capacity() < 1 << 20);
                }
                assert_eq!(capture.finish(), expected, "{which:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn short_streams_are_kept_whole_and_nothing_is_kept_of_any_if_so_asked() {
        for which in [Keep::Beginning, Keep::End] {
            let mut capture = Capture::new(which, 10);
            capture.push(b"abc");
            assert_eq!(capture.finish(), b"abc");
            let mut capture = Capture::new(which, 0);
            capture.push(b"abc");
            assert_eq!(capture.finish(), b"");
        }
    }
}
