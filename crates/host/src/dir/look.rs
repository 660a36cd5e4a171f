//! Looks at what is in a folder.

use std::fs::File;
use std::io::{self, Read as _};

use bootlace_engine::port::Stat;
use bootlace_model::ids::{Digest, Hashing};
use bootlace_model::node::{Owner, SpecialKind};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::RealDir;

/// How much of a file is in memory while it is hashed.
const PIECE: usize = 64 << 10;

impl RealDir {
    /// Tells what a name is; none if it is absent.
    pub(super) fn stat_or_none(&self, name: &str) -> Result<Option<Stat>, Errno> {
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
            FileType::Fifo => Stat::Special {
                kind: SpecialKind::Pipe,
                mode,
                owner,
            },
            FileType::Socket => Stat::Special {
                kind: SpecialKind::Socket,
                mode,
                owner,
            },
            kind => Stat::Other(noun(kind).into()),
        }))
    }

    /// Opens a regular file, and tells how long it is; none if it is longer than the limit.
    fn open_file(&self, name: &str, limit: u64) -> io::Result<Option<(File, u64)>> {
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
        Ok((metadata.len() <= limit).then_some((file, metadata.len())))
    }

    /// Hashes a regular file piece by piece; none if it is larger than the limit.
    pub(super) fn hash_file(&self, name: &str, limit: u64) -> io::Result<Option<(Digest, u64)>> {
        let Some((mut file, expected)) = self.open_file(name, limit)? else {
            return Ok(None);
        };
        let piece = usize::try_from(expected).unwrap_or(usize::MAX);
        let mut buffer = vec![0; piece.clamp(1, PIECE)];
        let (mut hashing, mut length) = (Hashing::default(), 0);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Some((hashing.finish(), length))),
                Ok(read) => {
                    hashing.update(&buffer[..read]);
                    length += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if length > limit {
                return Ok(None);
            }
        }
    }

    /// Reads a regular file; none if it is larger than the limit.
    pub(super) fn read_file(&self, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let Some((file, expected)) = self.open_file(name, limit)? else {
            return Ok(None);
        };
        // One byte more than is allowed, to notice a file that grows while it is read.
        let most = limit.saturating_add(1);
        let expected = usize::try_from(expected).unwrap_or(0);
        let mut content = Vec::with_capacity(expected.saturating_add(1));
        file.take(most).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= limit).then_some(content))
    }

    /// Lists the names, sorted.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A handle of its own: two threads may list at the same time.
        let folder = rustix::fs::openat(&self.handle, c".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(folder)? {
            match entry?.file_name().to_bytes() {
                b"." | b".." => {}
                name => names.push(String::from_utf8(name.to_vec()).map_err(|_| {
                    let shown = String::from_utf8_lossy(name);
                    io::Error::other(format!("the name {shown:?} in it is not UTF-8"))
                })?),
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Names a kind of thing in words.
pub(super) fn noun(kind: FileType) -> &'static str {
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
