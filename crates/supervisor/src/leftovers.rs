//! Processes whose supervisor was killed: they run on, and nobody watches them.
//!
//! Every process carries a variable that names its root, so they are found without having been
//! written down.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::{Result, SupervisorError};

/// The variable that every supervised process carries.
pub(crate) const MARK: &str = "BOOTLACE_SUPERVISED";

/// How long each of them may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);
/// How long the kernel may take to end what was killed.
const KILLING: Duration = Duration::from_secs(5);

/// How often it is looked for more.
const ROUNDS: u32 = 5;

/// A process that was found, by a handle that stays with it.
struct Found {
    pid: u32,
    handle: OwnedFd,
}

/// Ends all processes that carry the mark of a root, and returns how many there were.
pub(crate) fn end_all(root: &Path) -> Result<usize> {
    end_all_within(root, GRACE)
}

fn end_all_within(root: &Path, grace: Duration) -> Result<usize> {
    let mut ended = 0;
    // A process may start another one while it is asked to end, so it is looked again.
    for _ in 0..ROUNDS {
        let found = find(root)?;
        if found.is_empty() {
            return Ok(ended);
        }
        ended += found.len();
        end(found, grace)?;
    }
    Err(SupervisorError::Late {
        what: "processes that were killed came again and again",
        within: grace,
    })
}

/// Ends processes one after the other, the youngest first: the older ones are what they need.
fn end(mut processes: Vec<Found>, grace: Duration) -> Result<()> {
    processes.sort_by_key(|process| std::cmp::Reverse(process.pid));
    for process in processes {
        process.signal(Signal::TERM)?;
        if process.has_ended(grace)? {
            continue;
        }
        process.signal(Signal::KILL)?;
        if !process.has_ended(KILLING)? {
            return Err(SupervisorError::Late {
                what: "a process that was killed did not end",
                within: KILLING,
            });
        }
    }
    Ok(())
}

fn find(root: &Path) -> Result<Vec<Found>> {
    let processes = Path::new("/proc");
    let entries = fs::read_dir(processes).map_err(SupervisorError::file("list", processes))?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut found = Vec::new();
    for pid in pids {
        if !carries(pid, root) {
            continue;
        }
        let known = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(handle) =
            known.and_then(|known| rustix::process::pidfd_open(known, PidfdFlags::empty()).ok())
        else {
            continue;
        };
        // The handle first, then the look: the number cannot change its owner behind a handle.
        if carries(pid, root) {
            found.push(Found { pid, handle });
        }
    }
    Ok(found)
}

/// Tells whether a process carries the mark; one that is gone, or another user's, does not.
fn carries(pid: u32, root: &Path) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let mark = [MARK.as_bytes(), b"=", root.as_os_str().as_bytes()].concat();
    environment.split(|byte| *byte == 0).any(|it| it == mark)
}

impl Found {
    fn signal(&self, signal: Signal) -> Result<()> {
        match rustix::process::pidfd_send_signal(&self.handle, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(SupervisorError::Process {
                act: "end",
                pid: self.pid,
                error: errno.into(),
            }),
        }
    }

    /// Waits until it ended; false if it did not in time.
    fn has_ended(&self, within: Duration) -> Result<bool> {
        let begun = Instant::now();
        loop {
            let left = within.saturating_sub(begun.elapsed());
            let timeout = Timespec::try_from(left).unwrap_or_default();
            let mut polled = [PollFd::new(&self.handle, PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) if !left.is_zero() => {}
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => return Ok(false),
                Err(errno) => {
                    return Err(SupervisorError::Process {
                        act: "wait for",
                        pid: self.pid,
                        error: errno.into(),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn marked_processes_are_ended_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = |root: &Path| {
            let mut command = Command::new("sleep");
            command.arg("600").env(MARK, root).spawn().unwrap()
        };
        let mut ours = sleeper(folder.path());
        let mut others = sleeper(&folder.path().join("below"));
        // A process carries the mark only once it has become its program.
        let begun = Instant::now();
        while !carries(ours.id(), folder.path()) {
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
        let mut stubborn = Command::new("sh")
            .args(["-c", "trap '' TERM; echo; while :; do sleep 600; done"])
            .env(MARK, folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        std::io::Read::read_exact(stubborn.stdout.as_mut().unwrap(), &mut line).unwrap();
        // The shell, its sleeps, and the one above.
        let grace = Duration::from_millis(100);
        assert!(end_all_within(folder.path(), grace).unwrap() >= 2);
        assert!(!ours.wait().unwrap().success());
        assert!(!stubborn.wait().unwrap().success());
        assert!(others.try_wait().unwrap().is_none());
        others.kill().unwrap();
        others.wait().unwrap();
        assert_eq!(end_all(folder.path()).unwrap(), 0);
    }
}
