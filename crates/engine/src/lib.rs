//! Runs any sequence: explains, plans, runs, verifies, resumes and undoes it.
//!
//! The engine knows steps only as values and the world only through one port. It holds the
//! journal, the blobs and the one interpreter that performs effects.

pub mod port;

use bootlace_model::config::Settings;
use bootlace_model::event::Event;
use bootlace_model::fault::Fault;
use bootlace_model::ids::RunId;
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Line, Outcome};
use bootlace_model::step::{Choice, Sequence};
use bootlace_model::view::{
    ExplainView, ExplainedStep, PlanView, RunsView, StatusView, UndoView, VerifyView,
};

use crate::port::Host;

/// Is told what happens, and is asked before each step of a paused run.
pub trait Observer: Sync {
    /// Something happened. Called from several threads.
    fn on(&self, event: &Event);
    /// A paused run is about to begin a step; false stops the run, which can be resumed.
    fn may_start(&self, _step: &ExplainedStep) -> bool {
        true
    }
}

/// How a sequence is worked on.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which steps.
    pub choice: Choice,
    /// Ask the observer before every step, strictly in the order of the table.
    pub pause: bool,
    /// How many steps at most run side by side.
    pub jobs: usize,
    /// Which run; the newest of the sequence if none is given.
    pub run: Option<RunId>,
    /// Go on although the config or the tool changed since the run began.
    pub replan: bool,
    /// Undo: overwrite what someone edited since.
    pub force: bool,
    /// This tool's version, for the journal.
    pub tool: String,
    /// What the user switched off that protects, for the journal and for `status`.
    pub insecure: Vec<String>,
}

/// What came of `run` and `resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// Which run.
    pub run: RunId,
    /// How it ended.
    pub outcome: Outcome,
    /// How many steps were done now; none means that there was nothing to do.
    pub steps_done: u64,
    /// How many effects were performed now.
    pub effects_done: u64,
    /// How long it took.
    pub millis: u64,
}

/// A sequence, the settings it works by, and the world it works on.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    /// The world.
    pub host: &'a dyn Host,
    /// The steps.
    pub sequence: &'a Sequence,
    /// What the user wants.
    pub settings: &'a Settings,
    /// Who watches.
    pub observer: &'a dyn Observer,
    /// How.
    pub options: &'a Options,
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine({:?}, {:?})", self.sequence, self.options)
    }
}

impl Engine<'_> {
    /// Tells what the chosen steps are for; needs no world.
    pub fn explain(&self) -> Result<ExplainView, Fault> {
        Err(Fault::internal("explain is not built yet"))
    }

    /// Answers the probes read-only and lists the effects that are still missing.
    pub fn plan(&self) -> Result<PlanView, Fault> {
        Err(Fault::internal("plan is not built yet"))
    }

    /// Performs the plan; goes on with an unfinished run, does nothing for a completed one.
    /// A failed step is an error; a stop on request is a report with that outcome.
    pub fn run(&self) -> Result<RunReport, Fault> {
        Err(Fault::internal("run is not built yet"))
    }

    /// Goes on with an unfinished run; an error if there is none.
    pub fn resume(&self) -> Result<RunReport, Fault> {
        Err(Fault::internal("resume is not built yet"))
    }

    /// Evaluates the expectations of all finished steps again, and looks for drift.
    /// What does not hold is in the view, not an error.
    pub fn verify(&self) -> Result<VerifyView, Fault> {
        Err(Fault::internal("verify is not built yet"))
    }

    /// Takes back what the run did, newest first. What is left alone is in the view.
    pub fn undo(&self) -> Result<UndoView, Fault> {
        Err(Fault::internal("undo is not built yet"))
    }

    /// Tells where the run stands, from the journal alone.
    pub fn status(&self) -> Result<StatusView, Fault> {
        Err(Fault::internal("status is not built yet"))
    }

    /// Hands out the journal's lines, as they stand on disk and as they are understood.
    /// A damaged journal is an error, after the lines before the damage.
    pub fn log(&self, _sink: &mut dyn FnMut(&str, &Line)) -> Result<(), Fault> {
        Err(Fault::internal("log is not built yet"))
    }
}

/// Lists all runs in a state folder, oldest first.
pub fn runs(
    _host: &dyn Host,
    _state: &TargetPath,
    _sequences: &[Sequence],
) -> Result<RunsView, Fault> {
    Err(Fault::internal("runs is not built yet"))
}
