//! Files as they are on disk: read whole, with a fingerprint by which a change is noticed.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

/// No file that is read here is larger in earnest.
const LARGEST: u64 = 64 << 20;

/// Does not wait for whoever is at the other end of a pipe.
#[expect(clippy::cast_possible_wrap, reason = "the flag is a small number")]
pub(crate) const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// By what the states of a file are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Looks at a file without opening it; none if there is none that can be looked at.
    pub(crate) fn look(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|found| Self::of(&found))
    }

    /// Tells whether the last change was a moment ago. The clock of most filesystems ticks every few
    /// milliseconds, so the next change may look the same; and the file may be half written.
    pub(crate) fn is_fresh(&self, now: Timestamp, moment: Duration) -> bool {
        let (seconds, nanoseconds) = self.modified;
        let modified = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        (now.as_nanosecond() - modified).unsigned_abs() < moment.as_nanos()
    }
}

/// Reads a file whole. If it changes meanwhile, the fingerprint is that of no state of it any more.
#[expect(
    clippy::disallowed_methods,
    reason = "this server lives beside the engine and its port, and only reads"
)]
pub(crate) fn read(path: &Path) -> io::Result<(Vec<u8>, Fingerprint)> {
    // A pipe would keep us waiting for whoever writes into it.
    let mut options = File::options();
    let mut file = options.read(true).custom_flags(NONBLOCK).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if before.len() > LARGEST {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    let mut content = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default());
    file.by_ref().take(LARGEST + 1).read_to_end(&mut content)?;
    Ok((content, Fingerprint::of(&before)))
}

/// Returns the time.
#[expect(
    clippy::disallowed_methods,
    reason = "this server lives beside the engine and its port"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Lists the names in a folder, in order.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        // What is not text cannot be the name of anything that is served.
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(Fingerprint::look(&path), None);
        std::fs::write(&path, "one").unwrap();
        let (content, first) = read(&path).unwrap();
        assert_eq!(content, b"one");
        assert_eq!(Fingerprint::look(&path), Some(first));
        assert!(first.is_fresh(now(), Duration::from_mins(1)));
        // The same size in another file that takes its place.
        std::fs::write(folder.path().join("b"), "two").unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        let second = Fingerprint::look(&path).unwrap();
        assert_ne!(first, second);
        assert!(!second.is_fresh(
            "2020-01-01T00:00:00Z".parse().unwrap(),
            Duration::from_mins(1)
        ));
        assert!(read(folder.path()).is_err());
    }
}
