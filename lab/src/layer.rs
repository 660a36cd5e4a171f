//! Layers of images: the same files give the same bytes, on any day and by any user.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
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

    /// Adds all files, folders and links of a root, without those that start with one of some paths.
    pub(crate) fn tree(mut self, root: &Path, without: &[&str]) -> Result<Self, LabError> {
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            let failed = |error| LabError::file("list", &folder)(error);
            for item in fs::read_dir(&folder).map_err(failed)? {
                let path = item.map_err(failed)?.path();
                let relative = path.strip_prefix(root).unwrap_or(&path);
                let at = relative.to_string_lossy().into_owned();
                if without.iter().any(|left_out| at.starts_with(left_out)) {
                    continue;
                }
                let looked = fs::symlink_metadata(&path).map_err(LabError::file("read", &path))?;
                let mode = looked.permissions().mode() & 0o7777;
                let kind = looked.file_type();
                if kind.is_dir() {
                    self = self.folder(&at, mode);
                    open.push(path);
                } else if kind.is_symlink() {
                    let to = fs::read_link(&path).map_err(LabError::file("read", &path))?;
                    self = self.link(&at, &to.to_string_lossy());
                } else if kind.is_file() {
                    self = self.file(&at, &path, mode);
                }
            }
        }
        Ok(self)
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

    #[test]
    fn a_root_is_taken_without_what_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        let path = |relative: &str| root.path().join(relative);
        for folder in ["usr/bin", "usr/share/doc/x", "tmp"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        fs::write(path("usr/bin/su"), "x").unwrap();
        fs::write(path("usr/share/doc/x/y"), "x").unwrap();
        let modes = [("usr/bin/su", 0o4755), ("tmp", 0o1777)];
        for (at, mode) in modes {
            fs::set_permissions(path(at), fs::Permissions::from_mode(mode)).unwrap();
        }
        std::os::unix::fs::symlink("usr/bin", path("bin")).unwrap();
        let layer = Layer::default()
            .tree(root.path(), &["usr/share/doc/"])
            .unwrap();
        let names: Vec<&str> = layer.entries.keys().map(String::as_str).collect();
        let expected = [
            "bin",
            "tmp",
            "usr",
            "usr/bin",
            "usr/bin/su",
            "usr/share",
            "usr/share/doc",
        ];
        assert_eq!(names, expected);
        let mode = |at: &str| match &layer.entries[at] {
            Entry::Folder { mode } | Entry::File { mode, .. } => *mode,
            other => panic!("{other:?}"),
        };
        for (at, expected) in modes {
            assert_eq!(mode(at), expected, "{at}");
        }
        assert!(matches!(&layer.entries["bin"], Entry::Link { to } if to == "usr/bin"));
    }
}
