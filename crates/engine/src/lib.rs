//! Runs any sequence: explains, plans, runs, verifies, resumes and undoes it.
//!
//! The engine knows steps only as values and the world only through one port. It holds the
//! journal, the blobs and the one interpreter that performs effects.
//!
//! | module | what it does |
//! |---|---|
//! | [`port`] | the world, as the engine sees it |
//! | `explain`, `plan`, `run`, `follow`, `resume`, `verify`, `undo`, `status` | one verb, one file |
//! | `whole` | a run that is taken back if it fails |
//! | `schedule`, `step_work` | which step runs when, and what it does in its turns |
//! | `assess` | what of a step's wishes is missing, for plans and for runs |
//! | `effects` | the interpreter: standing, groups, performing |
//! | `answers`, `claims`, `access` | probes and expectations, read-only |
//! | `survey`, `accounts` | what lies where before a run, and who is who on the target |
//! | `preflight`, `waiting`, `symptoms` | whether a step may begin, and how long there is hope |
//! | `store`, `journal`, `blobs`, `history` | what is kept about runs |
//! | `tidy` | what a crash left half done |

pub mod port;

mod access;
mod accounts;
mod answers;
mod assess;
mod blobs;
mod claims;
mod effects;
mod explain;
mod fault;
mod folders;
mod follow;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod journal;
mod plan;
mod preflight;
mod resume;
mod run;
mod schedule;
mod status;
mod step_work;
mod store;
mod survey;
mod symptoms;
mod tidy;
mod undo;
mod verify;
mod waiting;
mod whole;

pub use access::credentials;
pub use answers::{answer, ask};
use bootlace_model::config::Settings;
use bootlace_model::event::Event;
use bootlace_model::ids::RunId;
use bootlace_model::record::Outcome;
use bootlace_model::step::{Choice, Sequence};
use bootlace_model::view::{ExplainedStep, PlannedStep};
pub use status::{begun_with, runs};
pub use verify::Ways;

use crate::port::Host;

/// Is told what happens, and is asked before each step of a paused run.
pub trait Observer: Sync {
    /// Something happened. Called from several threads.
    fn on(&self, event: &Event);
    /// A paused run is about to begin a step and would do this; false stops the run, which can be
    /// resumed.
    fn may_start(&self, _step: &ExplainedStep, _plan: &PlannedStep) -> bool {
        true
    }
}

/// How a sequence is worked on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that people type, or follows from one"
)]
#[derive(Debug, Clone)]
pub struct Options {
    /// Which steps.
    pub choice: Choice,
    /// Ask the observer before every step, strictly in the order of the table.
    pub pause: bool,
    /// How many steps at most run side by side.
    pub jobs: usize,
    /// Run the steps' turns in one thread, in an order that this seed decides: for tests.
    pub interleave: Option<u64>,
    /// Which run; the newest of the sequence if none is given.
    pub run: Option<RunId>,
    /// Go on although the config or the tool changed since the run began.
    pub replan: bool,
    /// Begin a new run if the newest one succeeded with other settings, instead of refusing.
    pub anew: bool,
    /// Undo: overwrite what someone edited since.
    pub force: bool,
    /// Preflight checks that are not looked at, by name; `all` for all.
    pub ignore: Vec<String>,
    /// This tool's version, for the journal.
    pub tool: String,
    /// What the user switched off that protects, for the journal and for `status`.
    pub insecure: Vec<String>,
}

impl Options {
    /// The options of a plain run of this version of the tool.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            choice: Choice::default(),
            pause: false,
            jobs: 2,
            interleave: None,
            run: None,
            replan: false,
            anew: false,
            force: false,
            ignore: vec![],
            tool: tool.into(),
            insecure: vec![],
        }
    }
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
