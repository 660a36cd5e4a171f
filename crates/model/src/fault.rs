//! What went wrong: one shape from the depth of the host up to the exit code.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::StepId;

/// Sorts faults by what a caller can do about them; each kind has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A defect of this tool, or something on the machine that it has no better word for.
    Internal,
    /// The command line makes no sense.
    Usage,
    /// A config or an input file is wrong.
    BadInput,
    /// The machine or the order of steps does not allow to begin.
    Preflight,
    /// A step could not do what it planned.
    StepFailed,
    /// An expectation does not hold, or something drifted.
    VerifyFailed,
    /// Stopped on request; the run can be resumed.
    Stopped,
    /// A deadline passed.
    Deadline,
    /// Refused for safety: a signature, an edited file, a point of no return, a damaged journal.
    Refused,
}

impl FaultKind {
    /// Every kind, in the order of the exit codes.
    pub const ALL: [Self; 9] = [
        Self::Internal,
        Self::Usage,
        Self::BadInput,
        Self::Preflight,
        Self::StepFailed,
        Self::VerifyFailed,
        Self::Stopped,
        Self::Deadline,
        Self::Refused,
    ];

    /// Returns the process's exit code for this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::BadInput => 3,
            Self::Preflight => 4,
            Self::StepFailed => 5,
            Self::VerifyFailed => 6,
            Self::Stopped => 7,
            Self::Deadline => 8,
            Self::Refused => 9,
        }
    }
}

/// A place in a text that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Place {
    /// The file as the person named it.
    pub file: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// One thing that went wrong: what, where, why it matters, and what to type next.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, thiserror::Error,
)]
#[error("{message}")]
pub struct Fault {
    /// What a caller can do about it.
    pub kind: FaultKind,
    /// What happened, as one sentence.
    pub message: String,
    /// The step during which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The file, line and column at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Further findings of the same kind, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What to type or do next, most helpful first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Fault {
    /// Begins a fault of a kind; the other parts are added by the methods below.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            step: None,
            place: None,
            because: None,
            details: vec![],
            hints: vec![],
        }
    }

    /// Begins a fault that is a defect of this tool or has no better name.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Internal, message)
    }

    /// Begins a fault of a config or an input file.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(FaultKind::BadInput, message)
    }

    /// Begins a fault that protects something.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Refused, message)
    }

    /// Names the step, unless one is named already: the innermost knows best.
    #[must_use]
    pub fn in_step(mut self, step: &StepId) -> Self {
        self.step.get_or_insert_with(|| step.clone());
        self
    }

    /// Names the file, line and column at fault.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Names the file at fault.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> Self {
        self.at(Place {
            file: file.into(),
            line: None,
            column: None,
        })
    }

    /// Says why it matters.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.because = Some(why.into());
        self
    }

    /// Adds a further finding.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }

    /// Adds what to type or do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_an_exit_code_of_its_own() {
        let codes: Vec<u8> = FaultKind::ALL.iter().map(|kind| kind.exit_code()).collect();
        assert_eq!(codes, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn places_read_like_a_compiler_s() {
        let place = Place {
            file: "a.yaml".into(),
            line: Some(3),
            column: Some(9),
        };
        assert_eq!(place.to_string(), "a.yaml:3:9");
    }
}
