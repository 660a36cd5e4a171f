//! What can go wrong with a supervisor.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a supervisor could not be started, found or stopped.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// The operating system refused something about a file.
    #[error("cannot {act} {}: {error}", path.display())]
    File {
        /// What was tried, as a verb.
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// The operating system refused something about a process.
    #[error("cannot {act} the process {pid}: {error}")]
    Process {
        /// What was tried, as a verb.
        act: &'static str,
        /// Its number.
        pid: u32,
        /// What the operating system said.
        error: io::Error,
    },
    /// Another supervisor works below the same root.
    #[error("a supervisor runs already below {}", root.display())]
    Busy {
        /// The root.
        root: PathBuf,
    },
    /// A new supervisor ended before it began to work.
    #[error("the supervisor ended at once: {last_words}")]
    NoStart {
        /// What it said last.
        last_words: String,
    },
    /// Something took too long.
    #[error("{what} within {} s", within.as_secs())]
    Late {
        /// What did not happen.
        what: &'static str,
        /// How long it had.
        within: Duration,
    },
}

impl SupervisorError {
    /// Names the file that an error is about.
    pub(crate) fn file(act: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File {
            act,
            path: path.clone(),
            error,
        }
    }
}
