//! The journal's records, as they stand on disk for ever.
//!
//! A line is `{"v":1,"seq":N,"prev":"sha256:…","at":"…","rec":{…},"hash":"sha256:…"}`. Its `hash`
//! covers everything before it on the line, `prev` is the `hash` of the line before, so a changed,
//! lost or reordered line shows.
//!
//! A journal outlives versions of this tool: after an OS rollback, an older one reads what a newer
//! one wrote. What it does not know, in any place, makes the record [`Record::Foreign`]: kept, shown,
//! and never written past. A field may be added only if a version that ignores it does no harm;
//! otherwise [`LINE_VERSION`] is raised.

mod foreign;
mod policy;

pub use foreign::{Foreign, ForeignKind};
pub use policy::{PolicyKind, RecordedPolicy};
use serde::{Deserialize, Serialize};

use crate::effect::{CommandUndo, Effect, EffectKind, Given, Origin, Product};
use crate::fault::Fault;
use crate::ids::{BootId, Digest, RunId, StepId};
use crate::node::Node;
use crate::path::TargetPath;
use crate::step::Choice;

/// The version of the line's shape.
pub const LINE_VERSION: u32 = 1;

/// A line of the journal, without its own hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Line {
    /// The version of this shape.
    pub v: u32,
    /// Counts lines from 0.
    pub seq: u64,
    /// The hash of the line before; of nothing for the first.
    pub prev: Digest,
    /// When it was written.
    #[schemars(with = "String")]
    pub at: jiff::Timestamp,
    /// What happened.
    pub rec: Record,
}

/// A line as it stands on disk, and as `log -o json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClosedLine {
    /// The line.
    #[serde(flatten)]
    pub line: Line,
    /// The hash of all that stands before it on the line.
    pub hash: Digest,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Record {
    /// A run begins.
    RunOpened {
        /// Its id.
        run: RunId,
        /// The sequence's name.
        sequence: String,
        /// Which steps were asked for; `resume` goes on towards them.
        #[serde(default)]
        goal: Choice,
        /// The settings in force, so that a later change can be shown.
        config: serde_json::Value,
        /// This tool's version.
        tool: String,
        /// The machine's boot.
        boot: BootId,
        /// What was switched off that protects.
        insecure: Vec<String>,
    },
    /// A run goes on, in another process or later in the same one.
    RunResumed {
        /// Which steps were asked for, if steps were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<Choice>,
        /// The settings in force, if every step is to be planned again by them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<serde_json::Value>,
        /// This tool's version.
        tool: String,
        /// The machine's boot.
        boot: BootId,
        /// What was switched off that protects.
        insecure: Vec<String>,
    },
    /// A step begins.
    StepStarted {
        /// Which.
        step: StepId,
        /// How it is taken back, also by a version that has no such step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<RecordedPolicy>,
    },
    /// A step knows what it will do.
    StepPlanned {
        /// Which.
        step: StepId,
        /// Of everything that it wants, whether missing or not.
        plan: Digest,
        /// How many effects are missing.
        effects: u64,
    },
    /// An effect is about to be performed; what was there before is kept.
    Intent {
        /// Counts effects over the whole run.
        n: u64,
        /// Of which step.
        step: StepId,
        /// Which effect.
        effect: EffectRecord,
        /// What was there.
        before: Before,
    },
    /// An effect was performed, or was found to be so after a crash.
    Done {
        /// Which.
        n: u64,
        /// What is there now.
        after: Vec<Node>,
        /// Whether it was found rather than performed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        found: bool,
    },
    /// A step yielded a fact.
    FactLearned {
        /// Which step.
        step: StepId,
        /// Which fact.
        fact: String,
        /// Its value.
        value: serde_json::Value,
    },
    /// A step's expectations hold.
    Verified {
        /// Which.
        step: StepId,
        /// What proves it.
        evidence: Vec<String>,
        /// What it leaves undone on purpose, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A step has nothing to do.
    Skipped {
        /// Which.
        step: StepId,
        /// Why.
        reason: String,
    },
    /// A step failed.
    Failed {
        /// Which.
        step: StepId,
        /// Why.
        fault: Fault,
    },
    /// An effect is about to be taken back.
    UndoIntent {
        /// Which.
        n: u64,
    },
    /// An effect was taken back.
    UndoDone {
        /// Which.
        n: u64,
        /// Whether something that someone edited was overwritten on purpose.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forced: bool,
    },
    /// An effect was not taken back.
    UndoRefused {
        /// Which.
        n: u64,
        /// What it was about.
        target: String,
        /// Why.
        why: String,
    },
    /// All of a step's effects were taken back.
    StepUndone {
        /// Which.
        step: StepId,
    },
    /// The last lines were torn by a crash and cut off.
    TailCut {
        /// How many bytes were cut.
        bytes: u64,
    },
    /// The run ends here; a later `RunResumed` may open it again.
    RunClosed {
        /// How.
        outcome: Outcome,
    },
    /// What another version wrote and this one does not understand. It is read, never written.
    #[serde(skip)]
    Foreign(Foreign),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All that was chosen is done and verified.
    Succeeded,
    /// A step failed.
    Failed,
    /// It was stopped and can be resumed.
    Interrupted,
    /// It was taken back.
    Undone,
}

/// What was there before an effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Before {
    /// The paths that the effect touches, and what was there; contents of files are in blobs.
    pub nodes: Vec<Node>,
    /// Folders that have to be made on the way, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<TargetPath>,
    /// Products other than paths that were there already, and stay when the effect is taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<Product>,
}

/// An effect as the journal keeps it: enough to find out whether it happened and to take it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EffectRecord {
    /// Which kind.
    pub kind: EffectKind,
    /// What it is about.
    pub target: String,
    /// The content's digest, where it is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Where the changed thing comes from.
    pub origin: Origin,
    /// How a command is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<CommandUndo>,
    /// What a command leaves behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// What an API was given and shall keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// Why it cannot be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_inverse: Option<String>,
}

impl From<&Effect> for EffectRecord {
    fn from(effect: &Effect) -> Self {
        Self {
            kind: effect.kind(),
            target: effect.target(),
            digest: effect.digest(),
            origin: effect.origin().clone(),
            undo: effect.counterpart(),
            products: effect.products(),
            given: effect.given().cloned(),
            no_inverse: effect.no_inverse().map(ToOwned::to_owned),
        }
    }
}
