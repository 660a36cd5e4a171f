//! Why specs could not be run, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use bootlace_lab::LabError;
use bootlace_machines::MachineError;

/// Why the conformance specs could not be run or recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformanceError {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The specs or their images are not built.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A machine failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A program failed.
    #[error("{what} failed: {how}")]
    Program {
        /// What it was for.
        what: String,
        /// Its exit status and last output.
        how: String,
    },
    /// A run ended without a result for some specs.
    #[error("{count} specs have no result, the first is: {first}")]
    NoResult {
        /// How many.
        count: usize,
        /// The first of them.
        first: String,
    },
}

impl ConformanceError {
    /// Returns what a user can do, most useful first.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Usage(_) => {
                vec!["usage: conformance [--procs N] [--keep] | conformance page".into()]
            }
            Self::Lab(LabError::NotReady { .. }) => {
                vec!["`make conformance` builds the specs and their images".into()]
            }
            Self::Lab(error) => error.hints(),
            Self::Machine(error) => error.hints(),
            Self::NoResult { .. } => {
                vec!["target/conformance/ginkgo.log has the output of the run".into()]
            }
            Self::File { .. } | Self::Content { .. } | Self::Program { .. } => Vec::new(),
        }
    }

    pub(crate) fn file(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }

    pub(crate) fn content(path: &Path, reason: &impl ToString) -> Self {
        Self::Content {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn program(what: &str, how: &impl ToString) -> Self {
        Self::Program {
            what: what.to_owned(),
            how: how.to_string(),
        }
    }
}
