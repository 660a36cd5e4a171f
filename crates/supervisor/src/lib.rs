//! Runs the control plane's static pods as plain processes, where there is no kubelet.
//!
//! It does the little of a kubelet's work that a bootstrap needs: it starts what the manifests in a
//! folder name, with every mounted path moved below a root, starts it again when it ends, and stops
//! it when its manifest is gone. It needs no rights but those of whoever starts it.
//!
//! | module | concern |
//! |---|---|
//! | `pod` | a manifest → programs, arguments and paths; pure |
//! | `manifests` | the folder of manifests, and what changed in it |
//! | `process`, `words` | one process: started, watched, started again, stopped; its last words |
//! | `serve` | all of them, until somebody asks to stop |
//! | `notes` | what is written down for others |
//! | `control` | starting, finding and stopping a supervisor from outside |
//! | `instance`, `leftovers` | one at a time; processes of one that was killed |

#![expect(
    clippy::disallowed_methods,
    reason = "this crate starts and watches processes that outlive their caller, which the port does not offer"
)]

mod control;
mod error;
mod instance;
mod leftovers;
mod manifests;
mod notes;
mod pod;
mod process;
mod serve;
mod words;

use std::path::{Path, PathBuf};

pub use control::{Started, is_running, start, stop};
pub use error::SupervisorError;
pub use serve::serve;

/// What the functions of this crate give.
pub type Result<T> = std::result::Result<T, SupervisorError>;

/// Where a supervisor works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The root below which all paths of the pods lie; an absolute path without links.
    pub root: PathBuf,
    /// The folders of programs, searched in this order before those of `PATH`.
    pub programs: Vec<PathBuf>,
}

impl Place {
    /// Returns a path below the root.
    fn below(&self, relative: &str) -> PathBuf {
        below(&self.root, relative)
    }
}

/// Returns where a path of the target lies below a root.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}
