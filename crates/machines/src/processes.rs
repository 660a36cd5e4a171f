//! Processes of the host, known by more than their number.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize};

/// A process, told from a later one with the same number by when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Its number.
    pub(crate) pid: i32,
    /// When it began, in the kernel's ticks since boot.
    started: u64,
}

impl Identity {
    /// Looks at a process that runs.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        (!stat.is_dead).then_some(Self {
            pid,
            started: stat.started,
        })
    }

    /// Returns the identity of the calling process.
    pub(crate) fn own() -> Option<Self> {
        Self::of(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// Tells whether this very process still runs.
    pub(crate) fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Kills this very process; one that ended is as good.
    pub(crate) fn kill(self) {
        // The handle first, then the look: the number cannot change its owner behind a handle.
        if let Some((_, handle)) = handle(self.pid)
            && self.is_alive()
        {
            kill(&handle);
        }
    }
}

/// Tells whether a process runs; one that ended and was not waited for does not.
pub(crate) fn is_alive(pid: i32) -> bool {
    Stat::read(pid).is_some_and(|stat| !stat.is_dead)
}

/// Opens a handle on a process, which stays with it; none if it ended.
pub(crate) fn handle(pid: i32) -> Option<(i32, OwnedFd)> {
    let known = Pid::from_raw(pid)?;
    let handle = rustix::process::pidfd_open(known, PidfdFlags::empty()).ok()?;
    Some((pid, handle))
}

/// Kills what a handle stands for.
pub(crate) fn kill(handle: &OwnedFd) {
    signal(handle, Signal::KILL);
}

/// Sends a signal to what a handle stands for; one that ended is as good.
pub(crate) fn signal(handle: &OwnedFd, signal: Signal) {
    // The only failure that root can see is that it ended.
    if let Err(errno) = rustix::process::pidfd_send_signal(handle, signal) {
        debug_assert_eq!(errno, rustix::io::Errno::SRCH);
    }
}

/// Finds a child of a process.
pub(crate) fn child_of(parent: u32) -> Option<i32> {
    let entries = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid| Stat::read(*pid).is_some_and(|stat| stat.parent == parent))
}

/// Finds the first process of a machine among its processes: number 1 in a namespace just below ours.
pub(crate) fn leader(pids: impl IntoIterator<Item = i32>) -> Option<i32> {
    pids.into_iter().find(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        is_first_in_machine(&status)
    })
}

fn is_first_in_machine(status: &str) -> bool {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let mut numbers = numbers.unwrap_or_default().split_whitespace().skip(1);
    numbers.next() == Some("1") && numbers.next().is_none()
}

/// The few things of `/proc/PID/stat` that matter here.
struct Stat {
    is_dead: bool,
    parent: u32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The program's name stands in brackets, and may itself hold brackets and blanks.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut words = rest.split_whitespace();
        let state = words.next()?;
        Some(Self {
            is_dead: matches!(state, "Z" | "X" | "x"),
            parent: words.next()?.parse().ok()?,
            started: words.nth(17)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself_and_not_its_successor() {
        let own = Identity::own().unwrap();
        assert!(own.is_alive());
        let later = Identity {
            started: own.started + 1,
            ..own
        };
        assert!(!later.is_alive());
    }

    #[test]
    fn a_process_that_ended_is_dead_before_it_is_waited_for() {
        let mut child = crate::tools::command("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let ended = crate::wait::until(std::time::Duration::from_secs(5), || {
            Ok((!is_alive(pid)).then_some(()))
        });
        assert_eq!(ended.unwrap(), Some(()));
        child.wait().unwrap();
    }

    #[test]
    fn the_kernel_s_line_is_understood() {
        let line = "7 (a) b (c) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.is_dead, stat.started), (false, 4711));
        assert!(Stat::parse(&line.replace(" S ", " Z ")).unwrap().is_dead);
    }

    #[test]
    fn a_machine_s_first_process_is_neither_ours_nor_a_container_s() {
        assert!(is_first_in_machine("Name:\tsystemd\nNSpid:\t812\t1\n"));
        assert!(!is_first_in_machine("NSpid:\t1\n"));
        assert!(!is_first_in_machine("NSpid:\t812\t17\n"));
        assert!(!is_first_in_machine("NSpid:\t900\t88\t1\n"));
        assert!(!is_first_in_machine(""));
    }
}
