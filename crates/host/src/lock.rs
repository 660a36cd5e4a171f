//! Locks that end with their process.
//!
//! The kernel keeps the lock on the open file and drops it when the process dies, so a lock file
//! that a dead process left behind blocks nobody. What stands in the file only tells people who
//! holds it.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use bootlace_engine::port::{Dir, HostError, HostResult, Lock};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::dir::RealDir;

/// Others may look for a moment whether the lock is taken; so it is tried a few times.
const TRIES: u32 = 8;
/// How long is waited between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);
/// The most that is kept of a command line.
const LONGEST_COMMAND: usize = 200;

/// Takes a lock without waiting for its holder.
pub(crate) fn take(dir: &dyn Dir, name: &str) -> HostResult<Box<dyn Lock>> {
    let own = RealDir::of(dir, "lock")?;
    own.check_change("lock", name)?;
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(own, name, flags)?;
    for attempt in 0..TRIES {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                sign(&file).map_err(|error| own.refused("lock", name, error))?;
                return Ok(Box::new(RealLock { _file: file }));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) if attempt + 1 < TRIES => pause(),
            Err(Errno::WOULDBLOCK) => break,
            Err(errno) => return Err(own.refused("lock", name, errno)),
        }
    }
    Err(HostError::Locked {
        path: own.target(name),
        holder: holder_of(&file),
    })
}

/// Names the live holder of a lock, if there is one.
pub(crate) fn holder(dir: &dyn Dir, name: &str) -> HostResult<Option<String>> {
    let own = RealDir::of(dir, "look at")?;
    own.check("look at", name)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(own.handle(), name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => File::from(opened.map_err(|errno| own.refused("look at", name, errno))?),
    };
    // Shared, so that two who look do not take each other for the holder. It ends with the handle.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => {
            // It may have been taken a moment ago, and not be signed yet.
            if text_of(&file).is_none() {
                pause();
            }
            Ok(Some(holder_of(&file)))
        }
        Err(errno) => Err(own.refused("look at", name, errno)),
    }
}

/// A lock that is held.
#[derive(Debug)]
struct RealLock {
    _file: File,
}

impl Lock for RealLock {}

fn open(dir: &RealDir, name: &str, flags: OFlags) -> HostResult<File> {
    let handle: OwnedFd = rustix::fs::openat(dir.handle(), name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| dir.refused("lock", name, errno))?;
    let file = File::from(handle);
    let metadata = file
        .metadata()
        .map_err(|error| dir.refused("lock", name, error))?;
    if metadata.is_file() {
        return Ok(file);
    }
    let odd = io::Error::other("it is not a regular file");
    Err(dir.refused("lock", name, odd))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a few milliseconds, which nobody has to interrupt"
)]
fn pause() {
    std::thread::sleep(BETWEEN_TRIES);
}

/// Writes into the file who holds the lock.
fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    let command: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let command: String = command
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .take(LONGEST_COMMAND)
        .collect();
    // In one write, so that nobody reads the half of it.
    file.write_all(format!("{} {command}\n", std::process::id()).as_bytes())
}

fn holder_of(file: &File) -> String {
    let Some((process, command)) = text_of(file) else {
        return "a process that has not said yet who it is".into();
    };
    format!("process {process} ({command})")
}

/// Reads who signed a lock; none if nobody has.
fn text_of(file: &File) -> Option<(u32, String)> {
    let mut buffer = [0; LONGEST_COMMAND * 4 + 32];
    let length = file.read_at(&mut buffer, 0).ok()?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    let (process, command) = text.trim_end().split_once(' ')?;
    Some((process.parse().ok()?, command.to_owned()))
}
