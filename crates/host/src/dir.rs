//! Open folders: everything in them is done relative to the handle, by a single name.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;

use bootlace_engine::port::{Dir, HostError, HostResult, Stat};
use bootlace_model::node::{Attributes, Owner, Xattrs};
use bootlace_model::path::TargetPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::attributes;
use crate::error::{refused, senseless};
use crate::resolve::OpenFolder;

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

    fn stat_or_none(&self, name: &str) -> Result<Option<Stat>, Errno> {
        let stat = match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        let mode = stat.st_mode & 0o7777;
        let owner = Owner {
            uid: stat.st_uid,
            gid: stat.st_gid,
        };
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Stat::File {
                size: u64::try_from(stat.st_size).unwrap_or_default(),
                mode,
                owner,
            },
            FileType::Directory => Stat::Directory { mode, owner },
            FileType::Symlink => match rustix::fs::readlinkat(&self.handle, name, Vec::new()) {
                // It was removed between the two calls.
                Err(Errno::NOENT) => return Ok(None),
                target => match target?.into_string() {
                    Ok(target) => Stat::Link { target, owner },
                    Err(_) => Stat::Other("a link whose target is not UTF-8".into()),
                },
            },
            kind => Stat::Other(noun(kind).into()),
        }))
    }

    fn read_file(&self, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(
            &self.handle,
            name,
            flags,
            Mode::empty(),
        )?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no longer a regular file"));
        }
        if metadata.len() > limit {
            return Ok(None);
        }
        // One byte more than is allowed, to notice a file that grows while it is read.
        let most = limit.saturating_add(1);
        let expected = usize::try_from(metadata.len()).unwrap_or(0);
        let mut content = Vec::with_capacity(expected.saturating_add(1));
        file.take(most).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= limit).then_some(content))
    }

    fn create_file(
        &self,
        name: &str,
        content: &[u8],
        attributes: &Attributes,
    ) -> Result<(), CreateError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else may read it before it has its owner and its labels.
        let narrow = Mode::from_raw_mode(attributes.mode & 0o600);
        let file =
            rustix::fs::openat(&self.handle, name, flags, narrow).map_err(CreateError::NotBegun)?;
        write_all(&file, content)
            .and_then(|()| attributes::settle(&file, attributes, self.inherits_group))
            .map_err(CreateError::Begun)
    }

    fn make_dir(&self, name: &str, attributes: &Attributes) -> Result<(), CreateError> {
        rustix::fs::mkdirat(&self.handle, name, Mode::RWXU).map_err(CreateError::NotBegun)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, name, flags, Mode::empty())
            .and_then(|made| {
                let mut attributes = attributes.clone();
                if self.inherits_group {
                    attributes.owner.get_or_insert_with(attributes::identity);
                }
                attributes::replace(&made, &attributes)
            })
            .map_err(CreateError::Begun)
    }

    /// Takes back what a failed creation left behind, and says what went wrong.
    fn take_back(&self, name: &str, flags: AtFlags, error: CreateError) -> HostError {
        let errno = match error {
            CreateError::NotBegun(errno) => return self.refused("create", name, errno),
            CreateError::Begun(errno) => errno,
        };
        match rustix::fs::unlinkat(&self.handle, name, flags) {
            Ok(()) => self.refused("create", name, errno),
            Err(second) => {
                let error = io::Error::from(errno);
                let text = format!("{error}; and what was begun cannot be removed: {second}");
                self.refused("create", name, io::Error::new(error.kind(), text))
            }
        }
    }
}

/// Why something was not created.
#[derive(Debug, Clone, Copy)]
enum CreateError {
    /// Nothing was made.
    NotBegun(Errno),
    /// It was made, but it is not what was wanted.
    Begun(Errno),
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

    fn xattrs(&self, name: &str) -> HostResult<Xattrs> {
        const ACT: &str = "read the attributes of";
        self.check(ACT, name)?;
        attributes::read_xattrs(&self.handle, name).map_err(|error| self.refused(ACT, name, error))
    }

    fn list(&self) -> HostResult<Vec<String>> {
        let failed = |error: io::Error| refused("list", self.path.as_str(), error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A handle of its own: two threads may list at the same time.
        let entries = rustix::fs::openat(&self.handle, c".", flags, Mode::empty())
            .and_then(rustix::fs::Dir::new)
            .map_err(|errno| failed(errno.into()))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|errno| failed(errno.into()))?;
            match entry.file_name().to_bytes() {
                b"." | b".." => {}
                name => names.push(String::from_utf8(name.to_vec()).map_err(|_| {
                    let shown = String::from_utf8_lossy(name);
                    failed(io::Error::other(format!(
                        "the name {shown:?} in it is not UTF-8"
                    )))
                })?),
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, name: &str, content: &[u8], attributes: &Attributes) -> HostResult<()> {
        self.check_change("create", name)?;
        self.create_file(name, content, attributes)
            .map_err(|error| self.take_back(name, AtFlags::empty(), error))
    }

    fn create_dir(&self, name: &str, attributes: &Attributes) -> HostResult<()> {
        self.check_change("create", name)?;
        self.make_dir(name, attributes)
            .map_err(|error| self.take_back(name, AtFlags::REMOVEDIR, error))
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

/// Names a kind of thing in words.
fn noun(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        FileType::Unknown => "something unknown",
    }
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
