//! One case on its machine: what is there before, what an undisturbed run leaves, and the verbs.

use std::fmt;
use std::slice::from_ref;
use std::time::Duration;

use bootlace_engine::port::Host;
use bootlace_engine::{Engine, Options, RunReport};
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::record::Outcome;
use bootlace_model::view::{RunStateView, StatusView, UndoView, VerifyView};

use super::Case;
use crate::env::{self, Unseen};
use crate::fake::{FakeHost, Operation};
use crate::meaning::meaning_of;
use crate::tree::Snapshot;

/// How long a machine needs after a boot until all that it runs is up.
const A_MOMENT: Duration = Duration::from_secs(10);

/// What should not have happened, in words.
#[derive(Clone, PartialEq, Eq)]
pub struct Wrong(pub String);

impl fmt::Debug for Wrong {
    /// Says it as it is: tests that return an error print it this way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wrong {
    /// Says of a fault that it should not have come.
    pub fn fault(doing: &str, fault: &Fault) -> Self {
        let details = fault.details.iter().flat_map(|line| ["\n    ", line]);
        let details: String = details.collect();
        let place = fault
            .place
            .as_ref()
            .map(|place| format!(" ({place})"))
            .unwrap_or_default();
        Self(format!("{doing} failed: {fault}{place}{details}"))
    }

    /// Says under which circumstances it happened.
    #[must_use]
    pub fn when(self, circumstances: impl fmt::Display) -> Self {
        Self(format!("{circumstances}: {}", self.0))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A case with its prepared machine and the results of an undisturbed run.
#[derive(Debug)]
pub struct Bench {
    /// What is tried.
    pub case: Case,
    /// What is there before, byte for byte.
    pub start: Snapshot,
    /// What is there after an undisturbed run, by its meaning.
    pub finish: Snapshot,
    /// The operations of the undisturbed run.
    pub operations: Vec<Operation>,
    /// How often the undisturbed run appended to its journal.
    pub appends: u64,
    /// How often the undisturbed run synced its journal.
    pub log_syncs: u64,
    prepared: FakeHost,
    seed: u64,
}

impl Bench {
    /// Prepares a case and runs it once without disturbing it.
    pub fn new(case: Case, seed: u64) -> Result<Self, Wrong> {
        let prepared = FakeHost::new(seed);
        (case.prepare)(&prepared).map_err(|error| Wrong(format!("{}: {error}", case.name)))?;
        let start = Snapshot::of_fake(&prepared, from_ref(&case.settings.paths.state));
        let mut bench = Self {
            case,
            start,
            finish: Snapshot::default(),
            operations: vec![],
            appends: 0,
            log_syncs: 0,
            prepared,
            seed,
        };
        let host = bench.machine();
        bench
            .run(&host)
            .map_err(|fault| Wrong::fault("an undisturbed run", &fault))?;
        if let Some(path) = host.take_unanswered().first() {
            let what = format!("the fake API was asked for {path}, which it does not know");
            return Err(Wrong(what));
        }
        bench.finish = meaning_of(&bench.tree(&host));
        bench.operations = host.trace();
        let counters = host.counters();
        (bench.appends, bench.log_syncs) = (counters.appends, counters.log_syncs);
        Ok(bench)
    }

    /// Returns a fresh machine, prepared.
    pub fn machine(&self) -> FakeHost {
        self.prepared.fork()
    }

    /// Returns a machine after an undisturbed run, counting from 0.
    pub fn finished_machine(&self) -> Result<FakeHost, Wrong> {
        let host = self.machine();
        self.run(&host)
            .map_err(|fault| Wrong::fault("an undisturbed run", &fault))?;
        host.clear_faults();
        Ok(host)
    }

    /// Takes the tree without the state folder.
    pub fn tree(&self, host: &FakeHost) -> Snapshot {
        Snapshot::of_fake(host, from_ref(self.state()))
    }

    /// Returns the asset folder.
    pub fn assets(&self) -> &TargetPath {
        &self.case.settings.paths.assets
    }

    /// Returns the state folder.
    pub fn state(&self) -> &TargetPath {
        &self.case.settings.paths.state
    }

    /// Runs, or goes on with a run, in the order of the bench's seed.
    pub fn run(&self, host: &FakeHost) -> Result<RunReport, Fault> {
        self.engine(host, &self.options()).run()
    }

    /// Takes the run back.
    pub fn undo(&self, host: &FakeHost) -> Result<UndoView, Fault> {
        self.engine(host, &self.options()).undo()
    }

    /// Gives the machine back, also past the point of no return and with what was edited since.
    pub fn reset(&self, host: &FakeHost) -> Result<UndoView, Fault> {
        let options = Options {
            force: true,
            ..self.options()
        };
        self.engine(host, &options).reset()
    }

    /// Evaluates the expectations again.
    pub fn verify(&self, host: &FakeHost) -> Result<VerifyView, Fault> {
        self.engine(host, &self.options()).verify()
    }

    /// Tells where the run stands.
    pub fn status(&self, host: &FakeHost) -> Result<StatusView, Fault> {
        self.engine(host, &self.options()).status()
    }

    /// Puts an engine on a machine.
    pub fn engine<'a>(&'a self, host: &'a FakeHost, options: &'a Options) -> Engine<'a> {
        Engine {
            host,
            sequence: self.case.sequence,
            settings: &self.case.settings,
            observer: &Unseen,
            options,
        }
    }

    /// Returns the options of this bench.
    pub fn options(&self) -> Options {
        Options {
            choice: self.case.choice.clone(),
            ignore: self.case.ignore.clone(),
            ..env::options(self.seed)
        }
    }

    /// Runs without a disturbance and checks that everything is as after an undisturbed run.
    pub fn must_finish(&self, host: &FakeHost) -> Result<(), Wrong> {
        let report = self
            .run(host)
            .map_err(|fault| Wrong::fault("going on", &fault))?;
        if report.outcome != Outcome::Succeeded {
            return Err(Wrong(format!("going on ended with {:?}", report.outcome)));
        }
        let compared = self.finish.compare(&meaning_of(&self.tree(host)));
        compared.map_err(|difference| Wrong(format!("after going on {difference}")))?;
        // A machine that has just booted is not up yet, and steps that are done do not wait.
        let waited = host.sleep(A_MOMENT);
        waited.map_err(|error| Wrong(error.to_string()))?;
        let verified = self
            .verify(host)
            .map_err(|fault| Wrong::fault("verifying", &fault))?;
        let unmet = verified.checks.iter().find(|check| !check.ok);
        if let Some(unmet) = unmet {
            return Err(Wrong(format!(
                "not verified: {}: {}",
                unmet.what, unmet.found
            )));
        }
        let status = self
            .status(host)
            .map_err(|fault| Wrong::fault("asking", &fault))?;
        if status.state != RunStateView::Succeeded {
            return Err(Wrong(format!("the status is {:?}", status.state)));
        }
        Ok(())
    }

    /// Takes the run back without a disturbance and checks that everything is as at the start.
    pub fn must_undo(&self, host: &FakeHost) -> Result<(), Wrong> {
        match self.undo(host) {
            Ok(view) if view.refused.is_empty() => {}
            Ok(view) => return Err(Wrong(format!("undo refused {:?}", view.refused))),
            // A run that was cut off before its first record did nothing.
            Err(_) if self.status(host).is_err() => {}
            Err(fault) => return Err(Wrong::fault("undoing", &fault)),
        }
        let compared = self.start.compare(&self.tree(host));
        compared.map_err(|difference| Wrong(format!("after undo {difference}")))
    }
}
