//! What can go wrong while the lab is prepared, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why the lab could not be prepared or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The command line cannot be understood.
    #[error("{0}")]
    Usage(String),
    /// Something that must be installed is missing, and cannot be installed here.
    #[error("{what} must be installed first")]
    Missing {
        /// What is missing.
        what: String,
        /// How it can be had.
        hint: String,
    },
    /// A base root can be made by root alone.
    #[error("making a machine's root needs root, and this runs as user {user}")]
    NotRoot {
        /// The user's number.
        user: u32,
    },
    /// There is no place for what is made.
    #[error("nobody says where to keep what the lab makes")]
    NoCache,
    /// A file or folder could not be worked with.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// A program failed.
    #[error("{what} failed: `{command}` {how}\n{output}")]
    Program {
        /// What it was for.
        what: String,
        /// The command line.
        command: String,
        /// How it ended.
        how: String,
        /// The last lines that it printed.
        output: String,
    },
    /// A machine could not be used.
    #[error(transparent)]
    Machine(#[from] bootlace_machines::MachineError),
    /// A file of the lab is not as it must be.
    #[error("{}: {reason}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The lab was not prepared, or its sources changed since.
    #[error("the lab is not ready: {reason}")]
    NotReady {
        /// What is missing.
        reason: String,
    },
}

impl LabError {
    /// Returns what a person can do about it, most useful first.
    pub fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Usage(_) => {
                "usage: lab prepare [--bootlace FILE] [--programs-only] [--with-ignition] [--with-conformance] | lab show"
                    .into()
            }
            Self::Missing { hint, .. } => hint.clone(),
            Self::NotRoot { .. } => {
                "run it again as root; `lab prepare --programs-only` needs no root".into()
            }
            Self::NoCache => "set HOME, XDG_CACHE_HOME or BOOTLACE_CACHE".into(),
            Self::NotReady { .. } => {
                "`cargo run -p bootlace-lab -- prepare` makes what is missing".into()
            }
            Self::Machine(error) => return error.hints(),
            Self::File { .. } | Self::Program { .. } | Self::Source { .. } => return Vec::new(),
        };
        vec![hint]
    }

    /// Wraps what the kernel said about a file.
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

    /// Says what is wrong with a file of the lab.
    pub(crate) fn source(path: &Path, reason: impl Into<String>) -> Self {
        Self::Source {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}
