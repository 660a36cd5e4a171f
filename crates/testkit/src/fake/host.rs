//! The fake host: how tests make it, script it, break it, and bring it back to life.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{Command, HostResult, Output};
use bootlace_model::effect::Product;
use bootlace_model::path::TargetPath;

use super::disk::{Disk, ROOT};
use super::durability::Weather;
use super::errno::Errno;
use super::faults::{Counters, Faults, Operation, Point, When};
use super::inode::{Kind, Meta};
use super::program::Program;
use super::running::{Ailment, Running};
use super::state::{Held, IDENTITY, Shared, State};
use super::url::{Trouble, Url};
use super::walk::LostWay;
use super::world::{World, lost_way};
use crate::dice::Dice;
use crate::tree::{Entry, EntryKind};

/// How long whatever is under way on the machine takes at most.
const A_WHILE: Duration = Duration::from_secs(10);

/// A machine in memory, below the same port as the real one.
///
/// The same seed gives the same clock, the same random numbers and the same half-done operations.
pub struct FakeHost {
    pub(super) shared: Shared,
}

/// How the process or the machine ended before it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// Only the process died: what it wrote is there, synced or not.
    Kill,
    /// The machine lost power: what was not synced survives or not, as the seed will have it.
    PowerCut {
        /// Chooses what survives; see [`Weather::of`].
        seed: u64,
    },
}

impl FakeHost {
    /// Makes an empty machine.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        // Somewhere in the year 2026, so that no test can rely on a round hour.
        let begin = 1_767_225_600 + i64::try_from(dice.below(31_536_000)).unwrap_or(0);
        let state = State {
            disk: Disk::new(IDENTITY),
            now: jiff::Timestamp::from_second(begin).unwrap_or(jiff::Timestamp::UNIX_EPOCH),
            clock_error: jiff::SignedDuration::ZERO,
            clock: dice.fork(),
            random: dice.fork(),
            parts: dice.fork(),
            faults: Faults::default(),
            counters: Counters::default(),
            trace: Vec::new(),
            life: 0,
            boots: 0,
            crashed: false,
            stop: false,
            locks: BTreeMap::new(),
            programs: BTreeMap::new(),
            urls: BTreeMap::new(),
            asked: VecDeque::new(),
            runs: BTreeMap::new(),
            inputs: Vec::new(),
            running: Running::new(),
        };
        Self {
            shared: Shared::new(state),
        }
    }

    /// Copies the whole machine; what happens to one does not happen to the other.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = self.shared.lock().clone();
        Self {
            shared: Shared::new(state),
        }
    }

    /// Changes the machine from outside, durably and without counting: sets it up, or edits by hand.
    pub fn set_up<T>(&self, change: impl FnOnce(&mut World<'_>) -> HostResult<T>) -> HostResult<T> {
        let mut state = self.shared.lock();
        let result = change(&mut World::beside(&mut state));
        state.disk.sync_all();
        result
    }

    /// Scripts a program.
    pub fn program(
        &self,
        name: &str,
        script: impl Fn(&Command<'_>, &mut World<'_>) -> HostResult<Output> + Send + Sync + 'static,
    ) {
        self.shared
            .lock()
            .programs
            .insert(name.into(), Program(Arc::new(script)));
    }

    /// Scripts a URL: each request meets the next trouble, then there is the content.
    pub fn url(&self, url: &str, content: impl Into<Vec<u8>>, troubles: &[Trouble]) {
        let troubles = troubles.iter().copied().collect();
        self.shared.lock().urls.insert(
            url.into(),
            Url {
                content: content.into(),
                troubles,
            },
        );
    }

    /// Takes the list of URLs that were asked since the last call, in order.
    pub fn take_asked(&self) -> Vec<String> {
        self.shared.lock().asked.drain(..).collect()
    }

    /// Adds to what a unit makes when it is started.
    pub fn unit_leaves(&self, unit: &str, products: Vec<Product>) {
        self.shared.lock().running.add_leaves(unit, products);
    }

    /// Lets something be wrong with the machine, until it is healed.
    pub fn ail(&self, ailment: Ailment) {
        self.shared.lock().running.ail(ailment);
    }

    /// Lets nothing be wrong with the machine any more.
    pub fn heal(&self) {
        self.shared.lock().heal();
    }

    /// Takes the list of what the API was asked for and has no route to.
    pub fn take_unanswered(&self) -> Vec<String> {
        self.shared.lock().running.take_unanswered()
    }

    /// Lets another process hold a lock, until a power cut or [`FakeHost::release_lock`].
    pub fn hold_lock(&self, path: &str, holder: &str) -> HostResult<()> {
        let mut state = self.shared.lock();
        World::beside(&mut state).write(path, b"")?;
        let ino = state
            .disk
            .walk(path)
            .map_err(|lost| lost_way("lock", path, lost))?;
        let missing = || lost_way("lock", path, LostWay::Refused(Errno::ENOENT));
        let held = Held {
            holder: holder.into(),
            life: None,
        };
        state.locks.insert(ino.ok_or_else(missing)?, held);
        Ok(())
    }

    /// Lets the other process give its lock back.
    pub fn release_lock(&self) {
        self.shared
            .lock()
            .locks
            .retain(|_, held| held.life.is_some());
    }

    /// Crashes the machine at an operation, counted from 0; all later ones fail as well.
    pub fn crash_at(&self, operation: u64, when: When) {
        self.shared.lock().faults.crash = Some((Point::Operation(operation), when));
    }

    /// Crashes the machine right after an append to a growing file, counted from 0.
    pub fn crash_after_append(&self, append: u64) {
        self.shared.lock().faults.crash = Some((Point::Append(append), When::After));
    }

    /// Crashes the machine right after a sync of a growing file, counted from 0.
    pub fn crash_after_log_sync(&self, sync: u64) {
        self.shared.lock().faults.crash = Some((Point::LogSync(sync), When::After));
    }

    /// Lets one operation, counted from 0, fail with an error; later ones go on.
    pub fn fail_at(&self, operation: u64, errno: Errno, when: When) {
        self.shared
            .lock()
            .faults
            .failures
            .insert(operation, (errno, when));
    }

    /// Asks the process to stop when an operation, counted from 0, begins.
    pub fn stop_after(&self, operation: u64) {
        self.shared.lock().faults.stop_after = Some(operation);
    }

    /// Sets the clock forward or back when an operation, counted from 0, begins.
    pub fn step_clock_at(&self, operation: u64, by: jiff::SignedDuration) {
        self.shared.lock().faults.clock_steps.insert(operation, by);
    }

    /// Forgets all faults that were ordered, and counts from 0 again.
    pub fn clear_faults(&self) {
        let mut state = self.shared.lock();
        state.faults = Faults::default();
        state.counters = Counters::default();
        state.trace.clear();
        state.stop = false;
    }

    /// Tells whether the machine crashed.
    pub fn is_crashed(&self) -> bool {
        self.shared.lock().crashed
    }

    /// Returns how much happened since the machine was made or came back.
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters
    }

    /// Returns the operations since the machine was made or came back, in order.
    pub fn trace(&self) -> Vec<Operation> {
        self.shared.lock().trace.clone()
    }

    /// Lists everything on the disk, as processes see it, and what runs.
    ///
    /// What is under way comes to its end first, on a copy: a machine that is left alone for a
    /// while. Otherwise what is found would depend on how long somebody looked at something else.
    pub(crate) fn everything(&self) -> (BTreeMap<TargetPath, Entry>, BTreeMap<String, String>) {
        let mut state = self.shared.lock().clone();
        for _ in 0..2 {
            state.settle();
            state.pass_time(A_WHILE);
        }
        state.settle();
        (entries(&state), state.what_runs())
    }

    /// Ends the process or the machine, and begins anew: handles die, locks are free, faults are
    /// forgotten, counters begin at 0.
    pub fn reboot(&self, death: Death) {
        let mut state = self.shared.lock();
        state.life += 1;
        state.crashed = false;
        match death {
            Death::Kill => state.locks.retain(|_, held| held.life.is_none()),
            Death::PowerCut { seed } => {
                state.disk.power_cut(Weather::of(seed));
                state.power_off();
                state.locks.clear();
                state.boots += 1;
                let down = Duration::from_secs(30 + seed % 60);
                state.pass_time(down);
                state.boot();
            }
        }
        drop(state);
        self.clear_faults();
    }
}

impl fmt::Debug for FakeHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("FakeHost")
            .field("now", &state.now)
            .field("boots", &state.boots)
            .field("life", &state.life)
            .field("crashed", &state.crashed)
            .field("counters", &state.counters)
            .finish_non_exhaustive()
    }
}

/// Lists everything on a disk, as processes see it.
fn entries(state: &State) -> BTreeMap<TargetPath, Entry> {
    let mut entries = BTreeMap::new();
    let mut next = vec![(ROOT, TargetPath::root())];
    while let Some((ino, path)) = next.pop() {
        let Ok(inode) = state.disk.inode(ino) else {
            continue;
        };
        let kind = match &inode.kind {
            Kind::File(data) => EntryKind::File(data.now.clone()),
            Kind::Link(target) => EntryKind::Link(target.clone()),
            Kind::Special(kind) => EntryKind::Other(kind.noun().into()),
            Kind::Directory(names) => {
                // The disk takes no name that a path could not have.
                let below = names.now.iter();
                next.extend(below.filter_map(|(name, ino)| Some((ino, path.join(name).ok()?))));
                EntryKind::Directory
            }
        };
        let Meta {
            mode,
            owner,
            xattrs,
        } = inode.meta.now.clone();
        entries.insert(
            path,
            Entry {
                kind,
                mode,
                owner,
                xattrs,
            },
        );
    }
    entries
}
