//! The folder of manifests, and what changed in it since the last look.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::{Result, SupervisorError};

/// Tells a file from its successor of the same name without reading either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    inode: u64,
    changed: (i64, i64),
    size: u64,
}

/// A folder that is looked at again and again.
#[derive(Debug)]
pub(crate) struct Manifests {
    folder: PathBuf,
    seen: BTreeMap<String, Fingerprint>,
}

/// What is new about a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// It came, or was written anew; this is its text.
    Written(String),
    /// It is gone.
    Gone,
}

impl Manifests {
    /// Looks at a folder that may come later.
    pub(crate) fn new(folder: PathBuf) -> Self {
        let seen = BTreeMap::new();
        Self { folder, seen }
    }

    /// Returns what changed since the last look, by file name.
    pub(crate) fn look(&mut self) -> Result<Vec<(String, News)>> {
        let now = list(&self.folder)?;
        let mut news = Vec::new();
        for name in self.seen.keys() {
            if !now.contains_key(name) {
                news.push((name.clone(), News::Gone));
            }
        }
        let mut read = BTreeMap::new();
        for (name, fingerprint) in now {
            if self.seen.get(&name) != Some(&fingerprint) {
                let path = self.folder.join(&name);
                match fs::read_to_string(&path) {
                    Ok(text) => news.push((name.clone(), News::Written(text))),
                    // It went between the two looks; the next look tells.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(SupervisorError::file("read", &path)(error)),
                }
            }
            read.insert(name, fingerprint);
        }
        self.seen = read;
        Ok(news)
    }
}

/// Lists manifests as a kubelet does: every file whose name does not begin with a dot.
fn list(folder: &Path) -> Result<BTreeMap<String, Fingerprint>> {
    let refused = SupervisorError::file("list", folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(&refused)?,
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(&refused)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        match fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => {
                let fingerprint = Fingerprint {
                    inode: metadata.ino(),
                    changed: (metadata.mtime(), metadata.mtime_nsec()),
                    size: metadata.size(),
                };
                found.insert(name, fingerprint);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(SupervisorError::file("look at", &entry.path())(error)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifests");
        let mut manifests = Manifests::new(path.clone());
        assert_eq!(manifests.look().unwrap(), []);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("b.yaml"), "one").unwrap();
        fs::write(path.join(".a.yaml"), "half").unwrap();
        fs::create_dir(path.join("folder")).unwrap();
        let came = ("b.yaml".to_owned(), News::Written("one".into()));
        assert_eq!(manifests.look().unwrap(), [came]);
        assert_eq!(manifests.look().unwrap(), []);
        fs::write(path.join(".new"), "two").unwrap();
        fs::rename(path.join(".new"), path.join("b.yaml")).unwrap();
        let changed = ("b.yaml".to_owned(), News::Written("two".into()));
        assert_eq!(manifests.look().unwrap(), [changed]);
        fs::remove_file(path.join("b.yaml")).unwrap();
        assert_eq!(manifests.look().unwrap(), [("b.yaml".into(), News::Gone)]);
        assert_eq!(manifests.look().unwrap(), []);
    }
}
