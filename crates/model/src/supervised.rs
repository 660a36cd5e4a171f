//! What a supervisor of plain processes writes down, for those who wait for them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The folder of the supervisor's own files, below the root.
pub const FOLDER: &str = "run/bootlace";
/// What it writes down, below the root.
pub const STATE: &str = "run/bootlace/supervisor.json";
/// The folder of its logs and those of its processes, below the root.
pub const LOGS: &str = "var/log/bootlace";

/// All processes of a supervisor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervised {
    /// The supervisor itself.
    pub pid: u32,
    /// Its processes, in the order in which they were started.
    pub processes: Vec<SupervisedProcess>,
}

/// One process that is started again when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisedProcess {
    /// Its name.
    pub name: String,
    /// Its number while it runs.
    pub pid: Option<u32>,
    /// How often it ended since the supervisor began.
    pub ends: u32,
    /// How it ended last, if it did.
    pub ended: Option<ProcessEnd>,
    /// Where its log lies, below the root.
    pub log: String,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// Its exit code; none if a signal ended it, or if it was never started.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// When.
    pub at: jiff::Timestamp,
    /// The last lines of its log, or why it was not started; oldest first.
    pub last_words: Vec<String>,
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => write!(f, "could not be started"),
        }
    }
}
