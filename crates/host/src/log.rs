//! Files that only grow: the journal.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use bootlace_engine::port::{Dir, HostResult, LogFile, LogSync};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::dir::RealDir;
use crate::error::refused;
use crate::sync;

/// A journal holds names of files and before-images; nobody else needs to read it.
const LOG_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a file that only grows, making it if it is absent.
///
/// Where it may not be written it is opened for reading, so that one can look at a journal on a
/// disk that is mounted read-only.
pub(crate) fn open(dir: &dyn Dir, name: &str) -> HostResult<Box<dyn LogFile>> {
    let own = RealDir::of(dir, "open")?;
    own.check("open", name)?;
    let target = own.target(name);
    let failed = |error: io::Error| refused("open", target.as_str(), error);
    let handle = match open_existing(own, name) {
        Err(Errno::NOENT) => {
            own.check_change("create", name)?;
            create(own, name)?
        }
        opened => opened.map_err(|errno| failed(errno.into()))?,
    };
    let file = File::from(handle);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    Ok(Box::new(RealLog { file, target }))
}

fn open_existing(dir: &RealDir, name: &str) -> Result<OwnedFd, Errno> {
    let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::openat(dir.handle(), name, flags | common, Mode::empty());
    if dir.check_change("open", name).is_err() {
        return open(OFlags::RDONLY);
    }
    match open(OFlags::RDWR | OFlags::APPEND) {
        Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => open(OFlags::RDONLY),
        opened => opened,
    }
}

/// Makes the file and its name durable: a journal that a power cut takes away was none.
fn create(dir: &RealDir, name: &str) -> HostResult<OwnedFd> {
    let flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::EXCL
        | OFlags::NOFOLLOW
        | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir.handle(), name, flags, LOG_MODE)
        .and_then(|handle| {
            rustix::fs::fchmod(&handle, LOG_MODE)?;
            rustix::fs::fsync(&handle)?;
            Ok(handle)
        })
        .map_err(|errno| dir.refused("create", name, errno))?;
    sync::folder(dir)?;
    Ok(handle)
}

/// An open log.
#[derive(Debug)]
struct RealLog {
    file: File,
    target: String,
}

impl LogFile for RealLog {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> HostResult<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self
                .file
                .read_at(&mut buffer[filled..], offset + filled as u64)
            {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(refused("read", self.target.as_str(), error)),
            }
        }
        Ok(filled)
    }

    fn length(&self) -> HostResult<u64> {
        self.file
            .metadata()
            .map(|metadata| metadata.len())
            .map_err(|error| refused("look at", self.target.as_str(), error))
    }

    fn append(&mut self, bytes: &[u8]) -> HostResult<()> {
        self.file
            .write_all(bytes)
            .map_err(|error| refused("append to", self.target.as_str(), error))
    }

    fn truncate(&mut self, length: u64) -> HostResult<()> {
        self.file
            .set_len(length)
            .and_then(|()| self.file.sync_all())
            .map_err(|error| refused("cut", self.target.as_str(), error))
    }

    fn syncer(&self) -> HostResult<Box<dyn LogSync>> {
        let file = self
            .file
            .try_clone()
            .map_err(|error| refused("open again", self.target.as_str(), error))?;
        Ok(Box::new(RealSync {
            file,
            target: self.target.clone(),
        }))
    }
}

/// A second handle on a log, for the thread that waits for the disk.
#[derive(Debug)]
struct RealSync {
    file: File,
    target: String,
}

impl LogSync for RealSync {
    fn sync(&self) -> HostResult<()> {
        // The length is part of what this makes durable; times are not.
        self.file
            .sync_data()
            .map_err(|error| refused("sync", self.target.as_str(), error))
    }
}
