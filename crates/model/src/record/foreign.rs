//! A record of another version: what can be said of it without understanding it.

use serde_json::Value;

use crate::fault::{Fault, FaultKind};
use crate::ids::{RunId, StepId};

/// A record that this version does not understand.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// What it says, as far as that can be told.
    pub kind: ForeignKind,
    /// What is not understood, in a few words.
    pub what: String,
}

/// What a foreign record is known to say. The names of kinds and of these fields are for ever.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignKind {
    /// A run begins.
    RunOpened {
        /// Its id.
        run: RunId,
        /// The sequence's name.
        sequence: String,
        /// The version of the tool.
        tool: String,
    },
    /// A run goes on.
    RunResumed {
        /// The version of the tool.
        tool: String,
    },
    /// A step begins.
    StepStarted {
        /// Which.
        step: StepId,
    },
    /// An effect is about to be performed.
    Intent {
        /// Its number.
        n: u64,
        /// Of which step.
        step: StepId,
    },
    /// A step ended well.
    Verified {
        /// Which.
        step: StepId,
    },
    /// A step has nothing to do.
    Skipped {
        /// Which.
        step: StepId,
    },
    /// A step failed.
    Failed {
        /// Which.
        step: StepId,
        /// Why.
        fault: Box<Fault>,
    },
    /// The run ends, in a way that this version does not know.
    RunClosed,
    /// Anything else.
    Other,
}

impl Foreign {
    /// Takes from a record what can be told without understanding it. `what` is why it is foreign.
    pub fn new(record: &Value, what: &str) -> Self {
        let name = record["kind"].as_str().unwrap_or("record");
        Self {
            kind: ForeignKind::of(name, record).unwrap_or(ForeignKind::Other),
            what: format!("{name}: {what}"),
        }
    }
}

impl ForeignKind {
    /// Returns the step that it is about, if it is about one.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::StepStarted { step }
            | Self::Intent { step, .. }
            | Self::Verified { step }
            | Self::Skipped { step }
            | Self::Failed { step, .. } => Some(step),
            Self::RunOpened { .. } | Self::RunResumed { .. } | Self::RunClosed | Self::Other => {
                None
            }
        }
    }

    fn of(name: &str, record: &Value) -> Option<Self> {
        let text = |key: &str| record[key].as_str().map(ToOwned::to_owned);
        let step = || serde_json::from_value(record["step"].clone()).ok();
        Some(match name {
            "run-opened" => Self::RunOpened {
                run: serde_json::from_value(record["run"].clone()).ok()?,
                sequence: text("sequence")?,
                tool: text("tool")?,
            },
            "run-resumed" => Self::RunResumed {
                tool: text("tool")?,
            },
            "step-started" => Self::StepStarted { step: step()? },
            "intent" => Self::Intent {
                n: record["n"].as_u64()?,
                step: step()?,
            },
            "verified" => Self::Verified { step: step()? },
            "skipped" => Self::Skipped { step: step()? },
            "failed" => Self::Failed {
                step: step()?,
                fault: Box::new(fault(&record["fault"])),
            },
            "run-closed" => Self::RunClosed,
            _ => Self::Other,
        })
    }
}

/// Keeps the message of a fault whose kind is unknown.
fn fault(value: &Value) -> Fault {
    serde_json::from_value(value.clone()).unwrap_or_else(|_| {
        let message = value["message"].as_str().unwrap_or("no message");
        Fault::new(FaultKind::Internal, message)
    })
}
