//! Locks that end with their process.
//!
//! The kernel keeps the lock on the open file and drops it when the process dies, so a lock file
//! that a dead process left behind blocks nobody. What stands in the file only tells people who
//! holds it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use bootlace_engine::port::{Dir, HostError, HostResult, Lock};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

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

/// Interrupts the live holder of a lock, and waits at most so long until it gives the lock back.
pub(crate) fn interrupt_holder(dir: &dyn Dir, name: &str, within: Duration) -> HostResult<()> {
    let begun = Instant::now();
    if holder(dir, name)?.is_some() {
        interrupt(RealDir::of(dir, "look at")?, name)?;
    }
    while begun.elapsed() < within && holder(dir, name)?.is_some() {
        pause();
    }
    Ok(())
}

/// Sends the signal, if the process that signed the lock still runs as it did when it signed.
///
/// The number alone is not enough: it may count in another namespace, or belong to another process by now.
fn interrupt(dir: &RealDir, name: &str) -> HostResult<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir.handle(), name, flags, Mode::empty());
    let signed = file.ok().and_then(|file| text_of(&File::from(file)));
    let Some((process, command)) = signed else {
        return Ok(());
    };
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let handle = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    // The handle first, then the look: the number cannot change its owner behind a handle.
    if let Some(handle) = handle
        && command_of(process) == Some(command)
    {
        match rustix::process::pidfd_send_signal(handle, Signal::INT) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(errno) => return Err(dir.refused("interrupt the holder of", name, errno)),
        }
    }
    Ok(())
}

/// Returns the command line of a process as [`sign`] writes it.
#[expect(
    clippy::disallowed_methods,
    reason = "a process of this computer, not of the root"
)]
fn command_of(process: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let words = line.split(|byte| *byte == 0);
    Some(signature(words.map(String::from_utf8_lossy)))
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
    let words: Vec<_> = std::env::args_os().collect();
    let command = signature(words.iter().map(|word| word.to_string_lossy()));
    // In one write, so that nobody reads the half of it.
    file.write_all(format!("{} {command}\n", std::process::id()).as_bytes())
}

/// Joins the words of a command line into the text by which a process is known.
fn signature<'a>(words: impl Iterator<Item = Cow<'a, str>>) -> String {
    let words: Vec<_> = words.collect();
    let plain = words.join(" ");
    let plain = plain.chars().filter(|character| !character.is_control());
    plain.take(LONGEST_COMMAND).collect()
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
