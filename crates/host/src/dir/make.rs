//! Makes files and folders, and takes back what became nothing.

use std::io;
use std::os::fd::OwnedFd;

use bootlace_engine::port::HostError;
use bootlace_model::node::{Attributes, SpecialKind};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::RealDir;
use crate::attributes;

/// Why something was not created.
#[derive(Debug, Clone, Copy)]
pub(super) enum CreateError {
    /// Nothing was made.
    NotBegun(Errno),
    /// It was made, but it is not what was wanted.
    Begun(Errno),
}

impl RealDir {
    /// Creates a file with its content and its attributes.
    pub(super) fn create_file(
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

    /// Writes at the end of a regular file.
    pub(super) fn add_to_file(&self, name: &str, content: &[u8]) -> Result<(), Errno> {
        let flags =
            OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        write_all(&file, content)
    }

    /// Creates a folder with its attributes.
    pub(super) fn make_dir(&self, name: &str, attributes: &Attributes) -> Result<(), CreateError> {
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

    /// Creates a pipe or a socket with its attributes.
    pub(super) fn make_special(
        &self,
        name: &str,
        kind: SpecialKind,
        attributes: &Attributes,
    ) -> Result<(), CreateError> {
        let kind = match kind {
            SpecialKind::Pipe => FileType::Fifo,
            SpecialKind::Socket => FileType::Socket,
        };
        // Nobody else may open it before it has its owner.
        let narrow = Mode::from_raw_mode(attributes.mode & 0o600);
        rustix::fs::mknodat(&self.handle, name, kind, narrow, 0).map_err(CreateError::NotBegun)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, name, flags, Mode::empty())
            .and_then(|made| {
                let mut attributes = attributes.clone();
                attributes.owner.get_or_insert_with(attributes::identity);
                attributes::replace(&made, &attributes)
            })
            .map_err(CreateError::Begun)
    }

    /// Takes back what a failed creation left behind, and says what went wrong.
    pub(super) fn take_back(&self, name: &str, flags: AtFlags, error: CreateError) -> HostError {
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
