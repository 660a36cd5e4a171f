//! Everything that the fake host and its handles share.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;

use super::disk::Disk;
use super::errno::Errno;
use super::faults::{Counters, Faults, Operation, OperationKind, Verdict, When};
use super::inode::Ino;
use super::program::Program;
use super::running::Running;
use super::url::Url;
use crate::dice::Dice;

/// Who owns what the fake process creates.
pub(crate) const IDENTITY: Owner = Owner { uid: 0, gid: 0 };

/// A lock that somebody holds.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// Process id and command.
    pub(crate) holder: String,
    /// The life of the fake process that holds it; none if it is another process.
    pub(crate) life: Option<u64>,
}

/// Everything that the fake host and its handles share.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) disk: Disk,
    /// How far time has come; what runs on the machine goes by it.
    pub(crate) now: jiff::Timestamp,
    /// How wrong the clock is that shows it.
    pub(crate) clock_error: jiff::SignedDuration,
    pub(crate) clock: Dice,
    pub(crate) random: Dice,
    /// Chooses which part of an operation is done when it is disturbed within.
    pub(crate) parts: Dice,
    pub(crate) faults: Faults,
    pub(crate) counters: Counters,
    pub(crate) trace: Vec<Operation>,
    /// Handles of an earlier life are dead.
    pub(crate) life: u64,
    pub(crate) boots: u64,
    pub(crate) crashed: bool,
    pub(crate) stop: bool,
    pub(crate) locks: BTreeMap<Ino, Held>,
    pub(crate) programs: BTreeMap<String, Program>,
    pub(crate) urls: BTreeMap<String, Url>,
    pub(crate) asked: VecDeque<String>,
    /// How often each program was run.
    pub(crate) runs: BTreeMap<String, u64>,
    pub(crate) inputs: Vec<TargetPath>,
    pub(crate) running: Running,
}

/// A handle on the shared state.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks for a handle of a certain life; fails if that life is over.
    pub(crate) fn alive(&self, life: u64) -> HostResult<MutexGuard<'_, State>> {
        let state = self.lock();
        if state.crashed || state.life != life {
            Err(HostError::Crashed)
        } else {
            Ok(state)
        }
    }
}

/// An operation that may go on, and how it ends.
#[derive(Debug)]
#[must_use]
pub(crate) struct Pass {
    verdict: Verdict,
    operation: Operation,
}

impl Pass {
    /// Tells whether the operation fails in the middle, but lives on to remove what it began.
    pub(crate) fn is_tidied_up(&self) -> bool {
        matches!(self.verdict, Verdict::Fail(_, When::Within))
    }

    /// Tells whether only a part of the operation is to be done.
    pub(crate) fn is_partial(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Crash(When::Within) | Verdict::Fail(_, When::Within)
        )
    }
}

impl State {
    /// Begins an operation: counts it and lets a fault before it happen.
    pub(crate) fn begin(&mut self, kind: OperationKind, target: &str) -> HostResult<Pass> {
        if self.crashed {
            return Err(HostError::Crashed);
        }
        let before = self.counters;
        let operation = Operation {
            kind,
            target: target.to_owned(),
        };
        self.trace.push(operation.clone());
        self.counters.operations += 1;
        self.counters.appends += u64::from(kind == OperationKind::Append);
        self.counters.log_syncs += u64::from(kind == OperationKind::SyncLog);
        if self.faults.stop_after == Some(before.operations) {
            self.stop = true;
        }
        if let Some(by) = self.faults.clock_steps.get(&before.operations) {
            self.clock_error += *by;
        }
        match self.faults.judge(kind, before) {
            Verdict::Crash(When::Before) => {
                self.crashed = true;
                Err(HostError::Crashed)
            }
            Verdict::Fail(errno, When::Before) => Err(refusal(kind, target, errno)),
            verdict => Ok(Pass { verdict, operation }),
        }
    }

    /// Ends an operation that was done as far as [`Pass::is_partial`] says, and came to `done`.
    ///
    /// A crash after an operation comes whether that operation itself succeeded or not.
    pub(crate) fn end<T>(&mut self, pass: Pass, done: HostResult<T>) -> HostResult<T> {
        let Pass { verdict, operation } = pass;
        match verdict {
            Verdict::Undisturbed => done,
            Verdict::Crash(_) => {
                self.crashed = true;
                Err(HostError::Crashed)
            }
            Verdict::Fail(errno, _) => Err(refusal(operation.kind, &operation.target, errno)),
        }
    }

    /// Chooses how much of something is done when an operation is disturbed within it.
    pub(crate) fn part(&mut self, pass: &Pass, whole: usize) -> usize {
        if pass.is_partial() {
            self.parts.index(whole)
        } else {
            whole
        }
    }

    /// Returns what the clock shows.
    pub(crate) fn clock_shows(&self) -> jiff::Timestamp {
        let shown = self.now.saturating_add(self.clock_error);
        shown.unwrap_or(self.now)
    }

    /// Lets time pass.
    pub(crate) fn pass_time(&mut self, how_long: Duration) {
        // The fake clock stands still at the end of time rather than to fail a test's sleep.
        self.now = self
            .now
            .saturating_add(how_long)
            .unwrap_or(jiff::Timestamp::MAX);
    }
}

/// Says that an operation was refused.
pub(crate) fn refusal(kind: OperationKind, target: &str, errno: Errno) -> HostError {
    HostError::Io {
        act: kind.verb(),
        target: target.to_owned(),
        error: errno.error(),
    }
}
