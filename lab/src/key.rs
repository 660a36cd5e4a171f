//! Keys: what a product is made from, as one short digest.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::LabError;
use crate::files;

/// How many characters of the digest name a folder.
const LENGTH: usize = 16;

/// Gathers everything that a product depends on.
#[derive(Debug, Default, Clone)]
pub(crate) struct Key(Sha256);

impl Key {
    /// Begins with what is made, and the version of the way in which it is made.
    pub(crate) fn new(product: &str, recipe: u32) -> Self {
        Self::default()
            .text("product", product)
            .text("recipe", &recipe.to_string())
    }

    /// Adds a value by its name.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.bytes(name, value.as_bytes())
    }

    /// Adds the content of a file by its name.
    pub(crate) fn file(self, name: &str, path: &Path) -> Result<Self, LabError> {
        let content = fs::read(path).map_err(LabError::file("read", path))?;
        Ok(self.bytes(name, &content))
    }

    /// Adds every file below a folder, with its path.
    pub(crate) fn folder(mut self, folder: &Path) -> Result<Self, LabError> {
        for relative in files::below(folder)? {
            self = self.file(&relative, &folder.join(&relative))?;
        }
        Ok(self)
    }

    /// Returns the key as the name of a folder.
    pub(crate) fn finish(self) -> String {
        let mut text = hex(&self.0.finalize());
        text.truncate(LENGTH);
        text
    }

    /// Names and values are preceded by their length, so that none can pretend to be two.
    fn bytes(mut self, name: &str, value: &[u8]) -> Self {
        for part in [name.as_bytes(), value] {
            self.0.update((part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
        self
    }
}

/// Writes bytes as hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the digest of some bytes, as images name it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Returns the digest of a file, as images name it.
pub(crate) fn digest_of_file(path: &Path) -> Result<String, LabError> {
    let mut file = fs::File::open(path).map_err(LabError::file("read", path))?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let count = file
            .read(&mut chunk)
            .map_err(LabError::file("read", path))?;
        if count == 0 {
            return Ok(format!("sha256:{}", hex(&hash.finalize())));
        }
        hash.update(chunk.get(..count).unwrap_or_default());
    }
}

/// Writes to another writer, and hashes and counts what goes through.
pub(crate) struct Hashing<W> {
    to: W,
    hash: Sha256,
    size: u64,
}

impl<W: Write> Hashing<W> {
    /// Begins with nothing written.
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            hash: Sha256::new(),
            size: 0,
        }
    }

    /// Returns the writer, the digest and the size of what was written.
    pub(crate) fn finish(self) -> (W, String, u64) {
        let digest = format!("sha256:{}", hex(&self.hash.finalize()));
        (self.to, digest, self.size)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_with_every_input_and_only_then() {
        let key = |name: &str, value: &str| Key::new("x", 1).text(name, value).finish();
        assert_eq!(key("a", "b"), key("a", "b"));
        assert_ne!(key("a", "b"), key("a", "c"));
        assert_ne!(key("a", "b"), key("ab", ""));
        assert_ne!(Key::new("x", 1).finish(), Key::new("x", 2).finish());
        assert_eq!(key("a", "b").len(), LENGTH);
    }

    #[test]
    fn a_folder_s_key_covers_names_and_contents() {
        let folder = tempfile::tempdir().unwrap();
        let key = || Key::default().folder(folder.path()).unwrap().finish();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b"), "1").unwrap();
        let first = key();
        assert_eq!(first, key());
        fs::write(folder.path().join("a/b"), "2").unwrap();
        let second = key();
        fs::rename(folder.path().join("a/b"), folder.path().join("a/c")).unwrap();
        assert!(first != second && second != key() && first != key());
    }

    #[test]
    fn what_is_written_is_hashed_and_counted() {
        let mut hashing = Hashing::new(Vec::new());
        hashing.write_all(b"abc").unwrap();
        let (written, found, size) = hashing.finish();
        assert_eq!((written.as_slice(), size), (&b"abc"[..], 3));
        assert_eq!(found, digest(b"abc"));
        assert!(found.starts_with("sha256:ba7816bf"), "{found}");
    }
}
