//! What can go wrong with machines, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why something could not be done with a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The caller is not root.
    #[error("machines need root, and this runs as user {user}")]
    NotRoot {
        /// The user's number.
        user: u32,
    },
    /// A program of the host is missing.
    #[error("{program} is not installed")]
    Missing {
        /// The program.
        program: &'static str,
        /// The Debian package that brings it.
        package: &'static str,
    },
    /// The kernel refuses what machines are made of.
    #[error("this computer cannot run machines: {reason}")]
    Unable {
        /// What is refused.
        reason: String,
    },
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
    /// A program of the host failed.
    #[error("`{command}` failed: {output}")]
    Tool {
        /// The command line.
        command: String,
        /// What it printed, or why it could not be started.
        output: String,
    },
    /// A file of record cannot be understood.
    #[error("{} is not a record of machines: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A name cannot be a machine's name.
    #[error("{name:?} cannot be the name of a machine: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A machine of that name is there.
    #[error("there is a machine {name} in {} already", lab.display())]
    Exists {
        /// Its name.
        name: String,
        /// The folder of machines.
        lab: PathBuf,
    },
    /// No machine of that name is there.
    #[error("there is no machine {name} in {}", lab.display())]
    Unknown {
        /// The name.
        name: String,
        /// The folder of machines.
        lab: PathBuf,
    },
    /// The machine runs, and must not.
    #[error("machine {name} is running")]
    Running {
        /// Its name.
        name: String,
    },
    /// The machine does not run, and must.
    #[error("machine {name} is not running")]
    NotRunning {
        /// Its name.
        name: String,
    },
    /// The machine ended while it was waited for.
    #[error("machine {name} ended while it was booting, {how}; its console ends with:\n{console}")]
    BootFailed {
        /// Its name.
        name: String,
        /// How it ended.
        how: String,
        /// The last lines of its console.
        console: String,
    },
    /// A deadline passed.
    #[error("{what} within {} s{evidence}", within.as_secs_f32())]
    Deadline {
        /// What did not happen, as a sentence without its end.
        what: String,
        /// How long was waited.
        within: Duration,
        /// What was seen last; empty or a continuation of the sentence.
        evidence: String,
    },
    /// Something of ours could not be removed.
    #[error("these could not be removed: {}", what.join(", "))]
    LeftOver {
        /// What is left, each with its reason.
        what: Vec<String>,
    },
}

impl MachineError {
    /// Returns what a person can do about it, most useful first.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::NotRoot { .. } => vec!["run it again as root, for example with `sudo`".into()],
            Self::Missing { package, .. } => vec![format!("`apt-get install {package}` brings it")],
            Self::Unable { .. } => {
                vec!["`bootlace up --in process` needs no machine".into()]
            }
            Self::Record { path, .. } => vec![format!(
                "if nothing of it is needed any more, remove {} and clean again",
                path.display()
            )],
            Self::Exists { name, .. } => {
                vec![format!("remove machine {name} first, or use another name")]
            }
            Self::Running { .. } => vec!["power it off or kill it first".into()],
            Self::NotRunning { .. } => vec!["boot it first".into()],
            Self::LeftOver { .. } => {
                vec!["end what still uses them, then clean again".into()]
            }
            Self::File { .. }
            | Self::Tool { .. }
            | Self::BadName { .. }
            | Self::Unknown { .. }
            | Self::BootFailed { .. }
            | Self::Deadline { .. } => Vec::new(),
        }
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
}
