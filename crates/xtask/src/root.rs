//! Where the repository lies.

use std::path::PathBuf;

use crate::failure::Failure;

/// Returns the top folder of the repository around the current folder.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(Failure::file(".".as_ref()))?;
    let top = here
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    top.map(PathBuf::from).ok_or(Failure::NoRepository(here))
}
