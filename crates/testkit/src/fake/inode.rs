//! What the fake disk is made of: inodes, each with what processes see and what would survive.

use std::collections::BTreeMap;
use std::sync::Arc;

use bootlace_model::node::{Attributes, Owner, SpecialKind};

/// Numbers an inode; never used twice.
pub(crate) type Ino = u64;

/// Orders changes over the whole disk.
pub(crate) type Moment = u64;

/// A change that can be made to a state, and made again to an older state.
pub(crate) trait Change<T> {
    fn apply(&self, state: &mut T);
}

/// A state in two layers, and the changes by which the first is ahead of the second.
#[derive(Debug, Clone)]
pub(crate) struct Layered<T, C> {
    /// What processes see.
    pub(crate) now: T,
    /// What is there for sure after a power cut.
    pub(crate) durable: T,
    /// What may or may not be there after a power cut, oldest first.
    pub(crate) pending: Vec<(Moment, C)>,
}

impl<T: Clone, C: Change<T>> Layered<T, C> {
    pub(crate) fn new(state: T) -> Self {
        let durable = state.clone();
        Self {
            now: state,
            durable,
            pending: Vec::new(),
        }
    }

    pub(crate) fn change(&mut self, at: Moment, change: C) {
        change.apply(&mut self.now);
        self.pending.push((at, change));
    }

    /// Makes all changes durable.
    pub(crate) fn sync(&mut self) {
        for (_, change) in self.pending.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    /// Keeps some of the pending changes and forgets the others.
    pub(crate) fn cut(&mut self, mut keeps: impl FnMut(Moment) -> bool) {
        for (at, change) in self.pending.drain(..) {
            if keeps(at) {
                change.apply(&mut self.durable);
            }
        }
        self.now = self.durable.clone();
    }
}

/// The names in a folder. An inode that was renamed has one; further names come only from links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    by_name: BTreeMap<String, Ino>,
    name_of: BTreeMap<Ino, String>,
}

impl Names {
    pub(crate) fn get(&self, name: &str) -> Option<Ino> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Forgets that an inode has a name, unless another one is its own.
    fn forget(&mut self, ino: Ino, name: &str) {
        if self.name_of.get(&ino).is_some_and(|own| own == name) {
            self.name_of.remove(&ino);
        }
    }

    /// Lists names and inodes, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Ino)> {
        self.by_name.iter().map(|(name, ino)| (name.as_str(), *ino))
    }
}

/// A change of a folder's names; a rename is one change, so it happens whole or not at all.
#[derive(Debug, Clone)]
pub(crate) enum NameChange {
    /// An inode gets this name, losing its old one and displacing what had the name.
    Put(String, Ino),
    /// An inode gets this name, too.
    Link(String, Ino),
    /// A name is gone.
    Remove(String),
}

impl Change<Names> for NameChange {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Link(name, ino) => {
                names.by_name.insert(name.clone(), *ino);
            }
            Self::Put(name, ino) => {
                if let Some(displaced) = names.by_name.insert(name.clone(), *ino)
                    && displaced != *ino
                {
                    names.forget(displaced, name);
                }
                if let Some(old) = names.name_of.insert(*ino, name.clone())
                    && old != *name
                {
                    names.by_name.remove(&old);
                }
            }
            Self::Remove(name) => {
                if let Some(ino) = names.by_name.remove(name) {
                    names.forget(ino, name);
                }
            }
        }
    }
}

/// Mode, owner and extended attributes as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) mode: u32,
    pub(crate) owner: Owner,
    pub(crate) xattrs: BTreeMap<String, Vec<u8>>,
}

/// A change of mode, owner or one extended attribute.
#[derive(Debug, Clone)]
pub(crate) enum MetaChange {
    Mode(u32),
    Owner(Owner),
    Xattr(String, Vec<u8>),
}

impl Change<Meta> for MetaChange {
    fn apply(&self, meta: &mut Meta) {
        match self {
            Self::Mode(mode) => meta.mode = *mode,
            Self::Owner(owner) => meta.owner = *owner,
            Self::Xattr(name, value) => {
                meta.xattrs.insert(name.clone(), value.clone());
            }
        }
    }
}

impl Meta {
    pub(crate) fn new(mode: u32, owner: Owner) -> Self {
        Self {
            mode,
            owner,
            xattrs: BTreeMap::new(),
        }
    }

    /// Lists the changes that lead from here to attributes, in the order of the system calls.
    ///
    /// The owner comes before the mode, because a change of owner takes set-id bits away.
    pub(crate) fn changes_to(&self, attributes: &Attributes) -> Vec<MetaChange> {
        let mut changes = Vec::new();
        let owner = attributes.owner.filter(|owner| *owner != self.owner);
        changes.extend(owner.map(MetaChange::Owner));
        if owner.is_some() || attributes.mode != self.mode {
            changes.push(MetaChange::Mode(attributes.mode));
        }
        for (name, value) in &attributes.xattrs.0 {
            if self.xattrs.get(name) != Some(value) {
                changes.push(MetaChange::Xattr(name.clone(), value.clone()));
            }
        }
        changes
    }
}

/// What a file holds, in two layers; `written` is the time of the last write that is not synced.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) now: Arc<Vec<u8>>,
    pub(crate) durable: Arc<Vec<u8>>,
    pub(crate) written: Option<Moment>,
}

impl Data {
    pub(crate) fn sync(&mut self) {
        self.durable = self.now.clone();
        self.written = None;
    }

    /// Survives a power cut; `tear` chooses how much of the new bytes reached the disk.
    ///
    /// Appended bytes survive up to some byte. A file that was written anew holds the old
    /// content or the beginning of the new one, which may be nothing.
    pub(crate) fn cut(&mut self, tear: impl FnOnce(Moment, usize) -> Option<usize>) {
        let Some(written) = self.written.take() else {
            return;
        };
        let grown = self.now.starts_with(&self.durable);
        let base = if grown { self.durable.len() } else { 0 };
        if let Some(kept) = tear(written, self.now.len() - base) {
            self.durable = Arc::new(self.now[..base + kept].to_vec());
        }
        self.now = self.durable.clone();
    }
}

/// What kind of thing an inode is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    File(Data),
    Directory(Layered<Names, NameChange>),
    Link(String),
    Special(SpecialKind),
}

/// An inode.
#[derive(Debug, Clone)]
pub(crate) struct Inode {
    pub(crate) kind: Kind,
    pub(crate) meta: Layered<Meta, MetaChange>,
    /// Whether a process can still reach it by a name.
    pub(crate) linked: bool,
    /// Whether its first name is not durable yet.
    pub(crate) fresh: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(changes: &[NameChange]) -> Vec<(String, Ino)> {
        let mut names = Names::default();
        for change in changes {
            change.apply(&mut names);
        }
        names
            .iter()
            .map(|(name, ino)| (name.to_owned(), ino))
            .collect()
    }

    #[test]
    fn an_inode_never_has_two_names() {
        let put = |name: &str, ino| NameChange::Put(name.into(), ino);
        assert_eq!(names(&[put("a", 1), put("b", 1)]), [("b".into(), 1)]);
        assert_eq!(
            names(&[put("a", 1), put("b", 2), put("a", 2)]),
            [("a".into(), 2)]
        );
        // The inode that was displaced may come back under another name.
        assert_eq!(
            names(&[put("a", 1), put("a", 2), put("b", 1)]),
            [("a".into(), 2), ("b".into(), 1)]
        );
        assert_eq!(
            names(&[put("a", 1), NameChange::Remove("a".into()), put("a", 1)]).len(),
            1
        );
    }

    #[test]
    fn a_cut_keeps_old_bytes_of_a_grown_file_and_tears_a_new_one() {
        let data = |durable: &[u8], now: &[u8]| Data {
            now: Arc::new(now.to_vec()),
            durable: Arc::new(durable.to_vec()),
            written: Some(1),
        };
        for (durable, now, kept, expected) in [
            (&b"ab"[..], &b"abcd"[..], Some(1), &b"abc"[..]),
            (b"ab", b"abcd", Some(0), b"ab"),
            (b"ab", b"abcd", None, b"ab"),
            (b"ab", b"xyz", Some(2), b"xy"),
            (b"ab", b"xyz", Some(0), b""),
            (b"ab", b"xyz", None, b"ab"),
        ] {
            let mut data = data(durable, now);
            data.cut(|_, _| kept);
            assert_eq!(
                (data.now.as_slice(), data.durable.as_slice()),
                (expected, expected)
            );
        }
    }
}
