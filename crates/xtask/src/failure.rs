//! Why a chore did not succeed.

use std::path::{Path, PathBuf};

/// Why a chore did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The check found something; the texts say what, one a line.
    #[error("{summary}{}\n{hint}", lines(findings))]
    Found {
        summary: String,
        findings: Vec<String>,
        hint: &'static str,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A program cannot be run, or failed.
    #[error("`{command}` failed: {reason}")]
    Program { command: String, reason: String },
    /// A program answered something that cannot be understood.
    #[error("cannot understand JSON: {0}")]
    Metadata(#[from] serde_json::Error),
    /// The arguments make no sense.
    #[error("unexpected argument {0:?}")]
    Usage(String),
    /// The repository was not found.
    #[error("no Cargo.lock in {} or above; run it inside the repository", .0.display())]
    NoRepository(PathBuf),
}

impl Failure {
    /// Names the file of an I/O error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

fn lines(findings: &[String]) -> String {
    findings
        .iter()
        .fold(String::new(), |text, finding| text + "\n  " + finding)
}

/// Accepts no arguments.
pub(crate) fn no_arguments(arguments: &[String]) -> Result<(), Failure> {
    arguments
        .first()
        .map_or(Ok(()), |argument| Err(Failure::Usage(argument.clone())))
}
