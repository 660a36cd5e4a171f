//! A disk in memory, as processes see it: what Linux answers to each system call of the port.
//!
//! Every change is remembered until it is durable; see [`super::durability`].

use std::collections::BTreeMap;
use std::sync::Arc;

use bootlace_model::node::{Attributes, Owner, SpecialKind};

use super::errno::Errno;
use super::inode::{Data, Ino, Inode, Kind, Layered, Meta, MetaChange, Moment, NameChange, Names};

/// The inode of the root.
pub(crate) const ROOT: Ino = 1;

/// A disk in memory.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    pub(super) inodes: BTreeMap<Ino, Inode>,
    next_ino: Ino,
    pub(super) next_moment: Moment,
}

impl Disk {
    /// Makes an empty disk whose root belongs to `owner`.
    pub(crate) fn new(owner: Owner) -> Self {
        let root = Inode {
            kind: Kind::Directory(Layered::new(Names::default())),
            meta: Layered::new(Meta::new(0o755, owner)),
            linked: true,
            fresh: false,
        };
        Self {
            inodes: BTreeMap::from([(ROOT, root)]),
            next_ino: ROOT + 1,
            next_moment: 0,
        }
    }

    /// Returns an inode.
    pub(crate) fn inode(&self, ino: Ino) -> Result<&Inode, Errno> {
        self.inodes.get(&ino).ok_or(Errno::ENOENT)
    }

    /// Returns what a name in a folder refers to.
    pub(crate) fn lookup(&self, dir: Ino, name: &str) -> Result<Option<Ino>, Errno> {
        check_name(name)?;
        Ok(self.names(dir)?.get(name))
    }

    /// Like [`Disk::lookup`], but the name must be there.
    pub(crate) fn must_lookup(&self, dir: Ino, name: &str) -> Result<Ino, Errno> {
        self.lookup(dir, name)?.ok_or(Errno::ENOENT)
    }

    /// Returns the names in a folder.
    pub(crate) fn names(&self, dir: Ino) -> Result<&Names, Errno> {
        match &self.inode(dir)?.kind {
            Kind::Directory(names) => Ok(&names.now),
            _ => Err(Errno::ENOTDIR),
        }
    }

    /// Returns what a regular file holds.
    pub(crate) fn data(&self, ino: Ino) -> Result<&Arc<Vec<u8>>, Errno> {
        match &self.inode(ino)?.kind {
            Kind::File(data) => Ok(&data.now),
            Kind::Directory(_) => Err(Errno::EISDIR),
            Kind::Link(_) => Err(Errno::ELOOP),
            Kind::Special(_) => Err(Errno::EINVAL),
        }
    }

    /// Creates a file that must not exist, empty and with the narrowest attributes.
    pub(crate) fn create_file(&mut self, dir: Ino, name: &str, meta: Meta) -> Result<Ino, Errno> {
        let empty = Arc::new(Vec::new());
        let data = Data {
            now: empty.clone(),
            durable: empty,
            written: None,
        };
        self.add(dir, name, Kind::File(data), meta)
    }

    /// Creates a folder that must not exist.
    pub(crate) fn create_dir(&mut self, dir: Ino, name: &str, meta: Meta) -> Result<Ino, Errno> {
        self.add(
            dir,
            name,
            Kind::Directory(Layered::new(Names::default())),
            meta,
        )
    }

    /// Creates a pipe or a socket that must not exist.
    pub(crate) fn create_special(
        &mut self,
        dir: Ino,
        name: &str,
        kind: SpecialKind,
        meta: Meta,
    ) -> Result<Ino, Errno> {
        self.add(dir, name, Kind::Special(kind), meta)
    }

    /// Creates a symbolic link that must not exist.
    pub(crate) fn create_link(
        &mut self,
        dir: Ino,
        name: &str,
        target: &str,
        owner: Owner,
    ) -> Result<Ino, Errno> {
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        if target.len() > 4095 || target.contains('\0') {
            return Err(Errno::ENAMETOOLONG);
        }
        self.add(
            dir,
            name,
            Kind::Link(target.into()),
            Meta::new(0o777, owner),
        )
    }

    /// Gives a file or a link a further name that must not exist.
    pub(crate) fn create_hard_link(&mut self, dir: Ino, name: &str, ino: Ino) -> Result<(), Errno> {
        if self.lookup(dir, name)?.is_some() {
            return Err(Errno::EEXIST);
        }
        match self.inode(ino)?.kind {
            Kind::Directory(_) => Err(Errno::EPERM),
            _ => self.change_names(dir, NameChange::Link(name.into(), ino)),
        }
    }

    /// Writes a regular file anew from its beginning.
    pub(crate) fn write(&mut self, ino: Ino, bytes: &[u8]) -> Result<(), Errno> {
        let at = self.tick();
        let data = self.data_mut(ino)?;
        data.now = Arc::new(bytes.to_vec());
        data.written = Some(at);
        Ok(())
    }

    /// Writes at the end of a regular file.
    pub(crate) fn append(&mut self, ino: Ino, bytes: &[u8]) -> Result<(), Errno> {
        let at = self.tick();
        let data = self.data_mut(ino)?;
        Arc::make_mut(&mut data.now).extend_from_slice(bytes);
        data.written = Some(at);
        Ok(())
    }

    /// Cuts the end of a regular file off, durably.
    pub(crate) fn truncate(&mut self, ino: Ino, length: u64) -> Result<(), Errno> {
        let data = self.data_mut(ino)?;
        let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
        Arc::make_mut(&mut data.now).resize(length, 0);
        data.sync();
        Ok(())
    }

    /// Lists the changes that would give an inode these attributes.
    pub(crate) fn changes_to(
        &self,
        ino: Ino,
        attributes: &Attributes,
    ) -> Result<Vec<MetaChange>, Errno> {
        match self.inode(ino)?.kind {
            Kind::Link(_) => Err(Errno::ELOOP),
            _ => Ok(self.inode(ino)?.meta.now.changes_to(attributes)),
        }
    }

    /// Changes mode, owner or an extended attribute; a new owner takes set-id bits of files away.
    pub(crate) fn change_meta(&mut self, ino: Ino, change: MetaChange) -> Result<(), Errno> {
        let at = self.tick();
        let inode = self.inode_mut(ino)?;
        let clears = matches!(
            (&change, &inode.kind),
            (MetaChange::Owner(_), Kind::File(_))
        );
        inode.meta.change(at, change);
        let mode = inode.meta.now.mode;
        let group = if mode & 0o010 == 0 { 0 } else { 0o2000 };
        let cleared = mode & !(0o4000 | group);
        if clears && cleared != mode {
            inode.meta.change(at, MetaChange::Mode(cleared));
        }
        Ok(())
    }

    /// Renames within a folder, replacing what is there.
    pub(crate) fn rename(&mut self, dir: Ino, from: &str, to: &str) -> Result<(), Errno> {
        let moved = self.must_lookup(dir, from)?;
        let replaced = self.lookup(dir, to)?;
        if replaced == Some(moved) {
            return Ok(());
        }
        if let Some(replaced) = replaced {
            let moves_folder = matches!(self.inode(moved)?.kind, Kind::Directory(_));
            match (&self.inode(replaced)?.kind, moves_folder) {
                (Kind::Directory(_), false) => return Err(Errno::EISDIR),
                (Kind::Directory(names), true) if !names.now.is_empty() => {
                    return Err(Errno::ENOTEMPTY);
                }
                (Kind::File(_) | Kind::Link(_) | Kind::Special(_), true) => {
                    return Err(Errno::ENOTDIR);
                }
                _ => self.inode_mut(replaced)?.linked = false,
            }
        }
        self.change_names(dir, NameChange::Put(to.into(), moved))
    }

    /// Removes a file or a link.
    pub(crate) fn unlink(&mut self, dir: Ino, name: &str) -> Result<(), Errno> {
        let ino = self.must_lookup(dir, name)?;
        if matches!(self.inode(ino)?.kind, Kind::Directory(_)) {
            return Err(Errno::EISDIR);
        }
        self.inode_mut(ino)?.linked = false;
        self.change_names(dir, NameChange::Remove(name.into()))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_dir(&mut self, dir: Ino, name: &str) -> Result<(), Errno> {
        let ino = self.must_lookup(dir, name)?;
        if !self.names(ino)?.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.inode_mut(ino)?.linked = false;
        self.change_names(dir, NameChange::Remove(name.into()))
    }

    fn add(&mut self, dir: Ino, name: &str, kind: Kind, meta: Meta) -> Result<Ino, Errno> {
        if self.lookup(dir, name)?.is_some() {
            return Err(Errno::EEXIST);
        }
        if !self.inode(dir)?.linked {
            return Err(Errno::ENOENT);
        }
        let ino = self.next_ino;
        self.next_ino += 1;
        let inode = Inode {
            kind,
            meta: Layered::new(meta),
            linked: true,
            fresh: true,
        };
        self.inodes.insert(ino, inode);
        self.change_names(dir, NameChange::Put(name.into(), ino))?;
        Ok(ino)
    }

    fn change_names(&mut self, dir: Ino, change: NameChange) -> Result<(), Errno> {
        let at = self.tick();
        match &mut self.inode_mut(dir)?.kind {
            Kind::Directory(names) => {
                names.change(at, change);
                Ok(())
            }
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn inode_mut(&mut self, ino: Ino) -> Result<&mut Inode, Errno> {
        self.inodes.get_mut(&ino).ok_or(Errno::ENOENT)
    }

    fn data_mut(&mut self, ino: Ino) -> Result<&mut Data, Errno> {
        match &mut self.inode_mut(ino)?.kind {
            Kind::File(data) => Ok(data),
            Kind::Directory(_) => Err(Errno::EISDIR),
            Kind::Link(_) => Err(Errno::ELOOP),
            Kind::Special(_) => Err(Errno::EINVAL),
        }
    }

    fn tick(&mut self) -> Moment {
        self.next_moment += 1;
        self.next_moment
    }
}

fn check_name(name: &str) -> Result<(), Errno> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(Errno::EINVAL);
    }
    if name.len() > 255 {
        return Err(Errno::ENAMETOOLONG);
    }
    Ok(())
}
