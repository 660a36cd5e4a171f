//! Watches a running program: reads what it prints, notices its end, and ends it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use bootlace_engine::port::Output;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use super::capture::{Capture, Keep};
use crate::clock::{STOP_CHECK, StopHandle};

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long the kernel may take to end a program that was killed.
const KILLING: Duration = Duration::from_secs(5);
/// How often is looked for the end of a program where the kernel cannot tell it.
const EXIT_CHECK: Duration = Duration::from_millis(5);
/// The most that is read after a program ended, in case a child of it prints for ever.
const LAST_WORDS: usize = 16 << 20;

/// How watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The program exited.
    Exited,
    /// This process was asked to stop.
    Stopped,
    /// Time is up.
    Late,
}

/// A running program, the leader of a process group of its own.
pub(super) struct Running {
    child: Child,
    group: Option<Pid>,
    /// Becomes readable when the program exits; none on kernels before 5.3.
    exit: Option<OwnedFd>,
    exited: bool,
    stdout: Stream,
    stderr: Stream,
}

impl Running {
    /// Takes a program over that was just started.
    pub(super) fn new(mut child: Child, keep: usize) -> Self {
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
        let exit = group.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
        let stdout = Stream::new(child.stdout.take(), Keep::Beginning, keep);
        let stderr = Stream::new(child.stderr.take(), Keep::End, keep);
        Self {
            child,
            group,
            exit,
            exited: false,
            stdout,
            stderr,
        }
    }

    /// Takes a program over as on a kernel that cannot tell when it exits.
    #[cfg(test)]
    pub(super) fn without_exit_handle(child: Child, keep: usize) -> Self {
        Self {
            exit: None,
            ..Self::new(child, keep)
        }
    }

    /// Waits until the program exits, time is up, or this process shall stop and its patience is over.
    pub(super) fn watch(
        &mut self,
        within: Duration,
        stop: &StopHandle,
        patience: Duration,
    ) -> io::Result<End> {
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        while !self.exited {
            if stop.is_requested() && asked.get_or_insert_with(Instant::now).elapsed() >= patience {
                return Ok(End::Stopped);
            }
            let left = within.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(End::Late);
            }
            self.step(left.min(STOP_CHECK))?;
        }
        Ok(End::Exited)
    }

    /// Returns what came of a program that exited.
    ///
    /// What it printed is in the pipes by now; a child of it that keeps them open is not waited for.
    pub(super) fn finish(mut self) -> io::Result<Output> {
        self.stdout.read(LAST_WORDS)?;
        self.stderr.read(LAST_WORDS)?;
        let status = self.child.wait()?;
        Ok(Output {
            code: status.code(),
            stdout: self.stdout.capture.finish(),
            stderr: self.stderr.capture.finish(),
        })
    }

    /// Ends the program and all its children: asks first, kills then.
    ///
    /// The program is not waited for before the whole group was killed: until then the kernel gives
    /// its number, which is the group's, to nobody else.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.signal(Signal::TERM)?;
        let begun = Instant::now();
        // Children that clean up still hold the pipes open after the program itself is gone.
        while begun.elapsed() < GRACE && !(self.exited && self.is_silent()) {
            self.step(STOP_CHECK)?;
        }
        self.signal(Signal::KILL)?;
        let begun = Instant::now();
        while !self.exited {
            if begun.elapsed() > KILLING {
                let why = "it was killed but does not end; it may hang in the kernel";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            self.step(STOP_CHECK)?;
        }
        self.child.wait()?;
        Ok(())
    }

    fn is_silent(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let Some(group) = self.group else {
            return Err(io::Error::other("the program has an impossible number"));
        };
        match rustix::process::kill_process_group(group, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits for something to happen, at most so long, and takes it in.
    fn step(&mut self, most: Duration) -> io::Result<()> {
        let most = match (self.exited, &self.exit) {
            (false, None) => most.min(EXIT_CHECK),
            _ => most,
        };
        let [exit, stdout, stderr] = self.poll(most)?;
        if stdout {
            self.stdout.read(LAST_WORDS)?;
        }
        if stderr {
            self.stderr.read(LAST_WORDS)?;
        }
        self.exited = self.exited || exit || (self.exit.is_none() && self.has_exited()?);
        Ok(())
    }

    /// Tells which of the exit, the output and the complaints have news.
    fn poll(&self, most: Duration) -> io::Result<[bool; 3]> {
        let exit = self.exit.as_ref().filter(|_| !self.exited);
        let sources: [Option<BorrowedFd<'_>>; 3] = [
            exit.map(AsFd::as_fd),
            self.stdout.pipe.as_ref().map(AsFd::as_fd),
            self.stderr.pipe.as_ref().map(AsFd::as_fd),
        ];
        let mut polled: Vec<PollFd<'_>> = sources
            .iter()
            .flatten()
            .map(|source| PollFd::from_borrowed_fd(*source, PollFlags::IN))
            .collect();
        let most = Timespec::try_from(most).map_err(|_| Errno::INVAL)?;
        match rustix::event::poll(&mut polled, Some(&most)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut answers = polled.iter().map(|source| !source.revents().is_empty());
        Ok(sources.map(|source| source.is_some() && answers.next().unwrap_or(false)))
    }

    /// Looks whether the program exited, and leaves it to be waited for.
    fn has_exited(&self) -> io::Result<bool> {
        let Some(pid) = self.group else {
            return Ok(true);
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(rustix::process::waitid(WaitId::Pid(pid), look)?.is_some())
    }
}

/// One of the two pipes from a program.
struct Stream {
    /// None once nobody can write to it any more.
    pipe: Option<OwnedFd>,
    capture: Capture,
}

impl Stream {
    fn new(pipe: Option<impl Into<OwnedFd>>, which: Keep, keep: usize) -> Self {
        Self {
            pipe: pipe.map(Into::into),
            capture: Capture::new(which, keep),
        }
    }

    /// Reads what is there, without waiting for more.
    fn read(&mut self, most: usize) -> io::Result<()> {
        let Some(pipe) = &self.pipe else {
            return Ok(());
        };
        let mut buffer = [0; 16 << 10];
        let mut taken = 0;
        while taken < most {
            match read_now(pipe, &mut buffer)? {
                None => return Ok(()),
                Some(0) => {
                    self.pipe = None;
                    return Ok(());
                }
                Some(length) => {
                    self.capture.push(&buffer[..length]);
                    taken += length;
                }
            }
        }
        Ok(())
    }
}

/// Reads from a pipe; none if nothing is in it now.
fn read_now(pipe: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    let mut polled = [PollFd::new(pipe, PollFlags::IN)];
    let at_once = Timespec::default();
    loop {
        match rustix::event::poll(&mut polled, Some(&at_once)) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(rustix::io::read(pipe, &mut *buffer)?)),
        }
    }
}
