//! What lies below a path: taken from the fake machine or from a real folder, and compared.

mod difference;
mod folder;

use std::collections::BTreeMap;
use std::sync::Arc;

use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
pub use difference::Difference;

use crate::fake::FakeHost;

/// What is at one path. Times are not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is, and what it holds.
    pub kind: EntryKind,
    /// Mode bits; those of links mean nothing and are always 0777.
    pub mode: u32,
    /// Who owns it.
    pub owner: Owner,
    /// Its extended attributes.
    pub xattrs: BTreeMap<String, Vec<u8>>,
}

/// What is at one path, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file with its content.
    File(Arc<Vec<u8>>),
    /// A folder.
    Directory,
    /// A symbolic link with its target.
    Link(String),
    /// Something else, in words.
    Other(String),
}

/// A tree by path, the root first, and what runs beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What lies where. Paths are those on the target, whatever folder it lies in.
    pub files: BTreeMap<TargetPath, Entry>,
    /// Units, pods and the like, in words; a real folder has none.
    pub running: BTreeMap<String, String>,
}

impl Snapshot {
    /// Takes the fake machine as it is when it is left alone for a while, crashed or not.
    pub fn of_fake(host: &FakeHost, without: &[TargetPath]) -> Self {
        let (files, running) = host.everything();
        Self { files, running }.without(without)
    }

    /// Takes a real folder as if it were the root.
    pub fn of_folder(root: &std::path::Path, without: &[TargetPath]) -> std::io::Result<Self> {
        let files = folder::entries(root)?;
        let running = BTreeMap::new();
        Ok(Self { files, running }.without(without))
    }

    /// Leaves paths and all below them out.
    #[must_use]
    pub fn without(mut self, paths: &[TargetPath]) -> Self {
        self.files
            .retain(|path, _| !paths.iter().any(|left_out| path.below(left_out).is_some()));
        self
    }

    /// Compares this tree, which is what was expected, with another.
    pub fn compare(&self, found: &Self) -> Result<(), Difference> {
        Difference::between(self, found)
    }

    /// Returns what a file holds, if one is there.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        let path = TargetPath::new(path).ok()?;
        match &self.files.get(&path)?.kind {
            EntryKind::File(content) => Some(content),
            _ => None,
        }
    }
}
