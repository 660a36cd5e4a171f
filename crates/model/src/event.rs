//! What is shown while a run is under way; with `--progress json` one of these a line.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ids::{RunId, StepId};

/// Something that happened, for people who watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A run begins or goes on.
    RunStarted {
        /// Which run.
        run: RunId,
        /// Of which sequence.
        sequence: String,
        /// The chosen steps, in order.
        steps: Vec<StepId>,
        /// Whether it goes on with an earlier run.
        resumed: bool,
    },
    /// A step begins.
    StepStarted {
        /// Which.
        step: StepId,
        /// Its title.
        title: String,
    },
    /// A step knows what it will do.
    StepPlanned {
        /// Which.
        step: StepId,
        /// How many effects are still missing.
        effects: u64,
    },
    /// Some of a step's effects are done.
    StepAdvanced {
        /// Which.
        step: StepId,
        /// How many effects are done.
        done: u64,
        /// How many there are.
        of: u64,
        /// The latest one.
        latest: String,
    },
    /// A step waits for something.
    StepWaiting {
        /// Which.
        step: StepId,
        /// For what.
        what: String,
        /// Until when.
        #[schemars(with = "String")]
        until: jiff::Timestamp,
    },
    /// A step is verified.
    StepDone {
        /// Which.
        step: StepId,
        /// How long it took, in milliseconds.
        millis: u64,
        /// What proves it.
        evidence: Vec<String>,
        /// What it leaves undone on purpose, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A step has nothing to do, for a reason.
    StepSkipped {
        /// Which.
        step: StepId,
        /// Why.
        reason: String,
    },
    /// A step was done by an earlier part of this run.
    StepKept {
        /// Which.
        step: StepId,
    },
    /// A step failed.
    StepFailed {
        /// Which.
        step: StepId,
        /// Why.
        fault: Fault,
    },
    /// An effect of a step is taken back.
    StepUndone {
        /// Which.
        step: StepId,
        /// How many effects were taken back.
        effects: u64,
    },
    /// Something that should be known but stops nothing.
    Note {
        /// In words.
        text: String,
    },
    /// The run ends here.
    RunFinished {
        /// Which run.
        run: RunId,
        /// How: `succeeded`, `failed`, `interrupted` or `undone`.
        outcome: String,
        /// How long it took, in milliseconds.
        millis: u64,
    },
}
