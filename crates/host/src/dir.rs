//! Open folders: everything in them is done relative to the handle, by a single name.

mod look;
mod make;

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;

use bootlace_engine::port::{Dir, FileIdentity, HostError, HostResult, Stat};
use bootlace_model::ids::Digest;
use bootlace_model::node::{Attributes, Owner, SpecialKind, Xattrs};
use bootlace_model::path::TargetPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::attributes;
use crate::error::{refused, senseless};
use crate::resolve::OpenFolder;

use self::look::noun;

/// An open folder of this computer.
#[derive(Debug)]
pub(crate) struct RealDir {
    path: TargetPath,
    handle: OwnedFd,
    readable: bool,
    writable: bool,
    device: u64,
    /// What is made here gets the folder's group instead of ours.
    inherits_group: bool,
}

impl RealDir {
    /// Takes an open folder over.
    pub(crate) fn new(path: TargetPath, folder: OpenFolder, writable: bool) -> HostResult<Self> {
        let stat = rustix::fs::fstat(&folder.handle)
            .map_err(|errno| refused("look at", path.as_str(), errno))?;
        Ok(Self {
            path,
            handle: folder.handle,
            readable: folder.readable,
            writable,
            device: stat.st_dev,
            inherits_group: Mode::from_raw_mode(stat.st_mode).contains(Mode::SGID),
        })
    }

    /// Finds our own handle in a folder that was handed back to the host.
    pub(crate) fn of<'a>(dir: &'a dyn Dir, act: &'static str) -> HostResult<&'a Self> {
        let any: &dyn Any = dir;
        any.downcast_ref()
            .ok_or_else(|| senseless(act, dir.path().as_str(), "another host opened this folder"))
    }

    /// Returns the handle.
    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Identifies the filesystem.
    pub(crate) fn device(&self) -> u64 {
        self.device
    }

    /// Tells whether the handle can be listed and synced.
    pub(crate) fn is_readable(&self) -> bool {
        self.readable
    }

    /// Returns the path of a name, for messages.
    pub(crate) fn target(&self, name: &str) -> String {
        format!("{}/{name}", self.path.as_str().trim_end_matches('/'))
    }

    /// Says what was tried on a name and what the operating system answered.
    pub(crate) fn refused(
        &self,
        act: &'static str,
        name: &str,
        error: impl Into<io::Error>,
    ) -> HostError {
        refused(act, self.target(name), error)
    }

    /// Refuses a name that could lead out of the folder.
    pub(crate) fn check(&self, act: &'static str, name: &str) -> HostResult<()> {
        if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
            let why = format!("{name:?} is not the name of one thing in a folder");
            return Err(senseless(act, self.path.as_str(), why));
        }
        Ok(())
    }

    /// Refuses to change an input folder, too.
    pub(crate) fn check_change(&self, act: &'static str, name: &str) -> HostResult<()> {
        self.check(act, name)?;
        if self.writable {
            return Ok(());
        }
        Err(HostError::ReadOnly {
            path: self.target(name),
        })
    }

    /// Refuses what is no regular file, before it is opened: opening a device can set it off.
    pub(crate) fn check_regular(&self, act: &'static str, name: &str) -> HostResult<()> {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.refused(act, name, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            kind => Err(senseless(
                act,
                self.target(name),
                format!("it is {}, not a regular file", noun(kind)),
            )),
        }
    }
}

impl Dir for RealDir {
    fn path(&self) -> &TargetPath {
        &self.path
    }

    fn stat(&self, name: &str) -> HostResult<Option<Stat>> {
        self.check("look at", name)?;
        self.stat_or_none(name)
            .map_err(|errno| self.refused("look at", name, errno))
    }

    fn read(&self, name: &str, limit: u64) -> HostResult<Vec<u8>> {
        self.check("read", name)?;
        self.check_regular("read", name)?;
        self.read_file(name, limit)
            .map_err(|error| self.refused("read", name, error))?
            .ok_or_else(|| HostError::TooLarge {
                target: self.target(name),
                limit,
            })
    }

    fn digest(&self, name: &str, limit: u64) -> HostResult<(Digest, u64)> {
        self.check("read", name)?;
        self.check_regular("read", name)?;
        self.hash_file(name, limit)
            .map_err(|error| self.refused("read", name, error))?
            .ok_or_else(|| HostError::TooLarge {
                target: self.target(name),
                limit,
            })
    }

    fn xattrs(&self, name: &str) -> HostResult<Xattrs> {
        const ACT: &str = "read the attributes of";
        self.check(ACT, name)?;
        attributes::read_xattrs(&self.handle, name).map_err(|error| self.refused(ACT, name, error))
    }

    fn list(&self) -> HostResult<Vec<String>> {
        self.names()
            .map_err(|error| refused("list", self.path.as_str(), error))
    }

    fn create(&self, name: &str, content: &[u8], attributes: &Attributes) -> HostResult<()> {
        self.check_change("create", name)?;
        self.create_file(name, content, attributes)
            .map_err(|error| self.take_back(name, AtFlags::empty(), error))
    }

    fn append(&self, name: &str, content: &[u8]) -> HostResult<()> {
        self.check_change("add to", name)?;
        self.check_regular("add to", name)?;
        self.add_to_file(name, content)
            .map_err(|errno| self.refused("add to", name, errno))
    }

    fn create_dir(&self, name: &str, attributes: &Attributes) -> HostResult<()> {
        self.check_change("create", name)?;
        self.make_dir(name, attributes)
            .map_err(|error| self.take_back(name, AtFlags::REMOVEDIR, error))
    }

    fn create_hard_link(
        &self,
        name: &str,
        existing: &dyn Dir,
        existing_name: &str,
    ) -> HostResult<()> {
        const ACT: &str = "give a further name to";
        self.check_change("create", name)?;
        let existing = Self::of(existing, ACT)?;
        existing.check_change(ACT, existing_name)?;
        let (from, to) = (&existing.handle, &self.handle);
        rustix::fs::linkat(from, existing_name, to, name, AtFlags::empty())
            .map_err(|errno| self.refused("create", name, errno))
    }

    fn identity(&self, name: &str) -> HostResult<Option<FileIdentity>> {
        self.check("look at", name)?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileIdentity {
                device: stat.st_dev,
                inode: stat.st_ino,
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.refused("look at", name, errno)),
        }
    }

    fn create_special(
        &self,
        name: &str,
        kind: SpecialKind,
        attributes: &Attributes,
    ) -> HostResult<()> {
        self.check_change("create", name)?;
        self.make_special(name, kind, attributes)
            .map_err(|error| self.take_back(name, AtFlags::empty(), error))
    }

    fn create_link(&self, name: &str, target: &str) -> HostResult<()> {
        self.check_change("create", name)?;
        rustix::fs::symlinkat(target, &self.handle, name)
            .map_err(|errno| self.refused("create", name, errno))
    }

    fn set_attributes(&self, name: &str, attributes: &Attributes) -> HostResult<()> {
        const ACT: &str = "change the attributes of";
        self.check_change(ACT, name)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let failed = |errno| self.refused(ACT, name, errno);
        let place = rustix::fs::openat(&self.handle, name, flags, Mode::empty()).map_err(failed)?;
        let stat = rustix::fs::fstat(&place).map_err(failed)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Directory => {
                attributes::replace(&place, attributes).map_err(failed)
            }
            kind => {
                let why = format!("it is {}, not a file or a folder", noun(kind));
                Err(senseless(ACT, self.target(name), why))
            }
        }
    }

    fn set_owner(&self, name: &str, owner: Owner) -> HostResult<()> {
        const ACT: &str = "change the owner of";
        self.check_change(ACT, name)?;
        let (uid, gid) = attributes::ids(owner);
        rustix::fs::chownat(&self.handle, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.refused(ACT, name, errno))
    }

    fn rename(&self, from: &str, to: &str) -> HostResult<()> {
        self.check_change("rename", from)?;
        self.check_change("rename to", to)?;
        rustix::fs::renameat(&self.handle, from, &self.handle, to)
            .map_err(|errno| self.refused("rename to", to, errno))
    }

    fn remove(&self, name: &str) -> HostResult<()> {
        self.check_change("remove", name)?;
        rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
            .map_err(|errno| self.refused("remove", name, errno))
    }

    fn remove_dir(&self, name: &str) -> HostResult<()> {
        self.check_change("remove", name)?;
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
            .map_err(|errno| self.refused("remove", name, errno))
    }
}
