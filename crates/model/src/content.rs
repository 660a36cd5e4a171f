//! Bytes that are known by their digest and need not be in memory until somebody wants them.

use std::fmt;
use std::sync::Arc;

use crate::fault::Fault;
use crate::ids::{Digest, Hashing};

/// Where bytes come from each time that they are wanted.
pub trait Supply: fmt::Debug + Send + Sync {
    /// Returns the bytes.
    fn supply(&self) -> Result<Vec<u8>, Fault>;

    /// Shows the bytes piece by piece, so that they need not be in memory all at once.
    fn pieces(&self, see: &mut See<'_>) -> Result<(), Fault> {
        see(&self.supply()?)
    }
}

/// Looks at a piece of a content.
pub type See<'a> = dyn FnMut(&[u8]) -> Result<(), Fault> + 'a;

/// Bytes that are known by their digest; two contents of one digest are the same.
#[derive(Clone)]
pub struct Content {
    digest: Digest,
    length: u64,
    held: Held,
}

#[derive(Clone)]
enum Held {
    Here(Arc<[u8]>),
    Elsewhere(Arc<dyn Supply>),
}

impl Content {
    /// Takes bytes that are in memory.
    pub fn of(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            digest: Digest::of(&bytes),
            length: bytes.len() as u64,
            held: Held::Here(bytes),
        }
    }

    /// Takes bytes that can be had again, as they are now.
    pub fn supplied(bytes: &[u8], supply: Arc<dyn Supply>) -> Self {
        Self {
            digest: Digest::of(bytes),
            length: bytes.len() as u64,
            held: Held::Elsewhere(supply),
        }
    }

    /// Returns what the bytes hash to.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns how many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the bytes, or says that they are not what they were.
    pub fn read(&self) -> Result<Arc<[u8]>, Fault> {
        let bytes = match &self.held {
            Held::Here(bytes) => return Ok(bytes.clone()),
            Held::Elsewhere(supply) => supply.supply()?,
        };
        self.check(Digest::of(&bytes))?;
        Ok(bytes.into())
    }

    /// Shows the bytes piece by piece, and says at the end if they are not what they were.
    pub fn pieces(&self, see: &mut See<'_>) -> Result<(), Fault> {
        let supply = match &self.held {
            Held::Here(bytes) => return see(bytes),
            Held::Elsewhere(supply) => supply,
        };
        let mut hashing = Hashing::default();
        supply.pieces(&mut |piece| {
            hashing.update(piece);
            see(piece)
        })?;
        self.check(hashing.finish())
    }

    fn check(&self, found: Digest) -> Result<(), Fault> {
        if found == self.digest {
            return Ok(());
        }
        Err(
            Fault::refused("a content is not what it was when it was looked at first")
                .because("What was planned and what is written have to be the same.")
                .hint("leave the config alone while it is applied, then try again"),
        )
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    /// Shows the length only: contents may be secret and are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug)]
    struct Changing(Mutex<Vec<u8>>);

    impl Supply for Changing {
        fn supply(&self) -> Result<Vec<u8>, Fault> {
            Ok(self.0.lock().unwrap().clone())
        }
    }

    #[test]
    fn what_was_changed_in_the_meantime_is_refused() {
        let changing = Arc::new(Changing(Mutex::new(b"one".to_vec())));
        let content = Content::supplied(b"one", changing.clone());
        assert_eq!(&*content.read().unwrap(), b"one");
        assert_eq!(content, Content::of(*b"one"));
        assert_eq!(content.length(), 3);
        *changing.0.lock().unwrap() = b"two".to_vec();
        let mut seen = Vec::new();
        let in_pieces = content.pieces(&mut |piece| {
            seen.extend_from_slice(piece);
            Ok(())
        });
        assert_eq!(seen, b"two");
        for fault in [content.read().unwrap_err(), in_pieces.unwrap_err()] {
            assert!(fault.message.contains("not what it was"), "{fault}");
        }
    }
}
