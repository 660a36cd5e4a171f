//! Layers of images: the same files give the same bytes, on any day and by any user.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header};

use crate::error::LabError;

/// When everything in a layer was made, as far as the layer says.
const MADE_AT: u64 = 946_684_800;

/// What is at a path of a layer.
#[derive(Debug, Clone)]
enum Entry {
    Folder { mode: u32 },
    File { from: PathBuf, mode: u32 },
    Text { content: Vec<u8>, mode: u32 },
    Link { to: String },
}

/// The content of an image.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    // Sorted, which also puts a folder before what is in it.
    entries: BTreeMap<String, Entry>,
}

impl Layer {
    /// Adds a file of this computer.
    pub(crate) fn file(self, at: &str, from: &Path, mode: u32) -> Self {
        let from = from.to_owned();
        self.entry(at, Entry::File { from, mode })
    }

    /// Adds a file with a content of ours.
    pub(crate) fn text(self, at: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        let content = content.into();
        self.entry(at, Entry::Text { content, mode })
    }

    /// Adds a link.
    pub(crate) fn link(self, at: &str, to: &str) -> Self {
        self.entry(at, Entry::Link { to: to.to_owned() })
    }

    /// Adds an empty folder.
    pub(crate) fn folder(self, at: &str, mode: u32) -> Self {
        self.entry(at, Entry::Folder { mode })
    }

    fn entry(mut self, at: &str, entry: Entry) -> Self {
        let at = at.trim_matches('/').to_owned();
        for (end, _) in at.match_indices('/') {
            let above = at.get(..end).unwrap_or_default().to_owned();
            self.entries
                .entry(above)
                .or_insert(Entry::Folder { mode: 0o755 });
        }
        self.entries.insert(at, entry);
        self
    }

    /// Writes the layer as an archive.
    pub(crate) fn write<W: Write>(&self, to: W) -> Result<W, LabError> {
        let mut builder = Builder::new(to);
        for (at, entry) in &self.entries {
            let path = Path::new(at);
            append(&mut builder, path, entry).map_err(LabError::file("add to an image", path))?;
        }
        builder
            .into_inner()
            .map_err(LabError::file("write", Path::new("an image's layer")))
    }
}

fn append<W: Write>(builder: &mut Builder<W>, at: &Path, entry: &Entry) -> io::Result<()> {
    match entry {
        Entry::Folder { mode } => {
            let mut header = header(EntryType::Directory, *mode, 0);
            builder.append_data(&mut header, at.join(""), io::empty())
        }
        Entry::File { from, mode } => {
            let file = File::open(from).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", from.display()))
            })?;
            let mut header = header(EntryType::Regular, *mode, file.metadata()?.len());
            builder.append_data(&mut header, at, file)
        }
        Entry::Text { content, mode } => {
            let mut header = header(EntryType::Regular, *mode, content.len() as u64);
            builder.append_data(&mut header, at, content.as_slice())
        }
        Entry::Link { to } => {
            let mut header = header(EntryType::Symlink, 0o777, 0);
            builder.append_link(&mut header, at, to)
        }
    }
}

/// Adds a file to an archive with nothing in its header that could differ tomorrow.
pub(crate) fn append_plain<W: Write>(
    builder: &mut Builder<W>,
    name: &str,
    size: u64,
    content: impl io::Read,
) -> io::Result<()> {
    let mut header = header(EntryType::Regular, 0o644, size);
    builder.append_data(&mut header, name, content)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(MADE_AT);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "content").unwrap();
        let one = Layer::default()
            .file("/usr/bin/x", &file, 0o755)
            .text("/etc/a", "a", 0o644);
        let other = Layer::default()
            .text("etc/a", "a", 0o644)
            .file("usr/bin/x", &file, 0o755);
        let first = one.write(Vec::new()).unwrap();
        std::fs::File::open(&file)
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        assert_eq!(first, other.write(Vec::new()).unwrap());
    }

    #[test]
    fn folders_stand_before_what_is_in_them() {
        let layer = Layer::default()
            .text("a/b/c", "1", 0o600)
            .link("/bin/sh", "busybox")
            .folder("/tmp", 0o1777);
        let bytes = layer.write(Vec::new()).unwrap();
        let mut archive = tar::Archive::new(bytes.as_slice());
        let found: Vec<(String, u32, u64)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().to_string_lossy().into_owned();
                (path, header.mode().unwrap(), header.uid().unwrap())
            })
            .collect();
        let expected = [
            ("a/", 0o755),
            ("a/b/", 0o755),
            ("a/b/c", 0o600),
            ("bin/", 0o755),
            ("bin/sh", 0o777),
            ("tmp/", 0o1777),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(path, mode)| ((*path).to_owned(), *mode, 0))
            .collect();
        assert_eq!(found, expected);
    }
}
