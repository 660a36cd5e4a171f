//! Finds programs.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// Where programs are looked for, whatever the caller's environment says.
pub(super) const SAFE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Finds a program by its name; an absolute path is taken as it is.
pub(super) fn find(name: &str) -> io::Result<PathBuf> {
    if name.starts_with('/') {
        return Ok(name.into());
    }
    // Whoever runs its own name means itself, and not another version that is installed.
    if let Some(own) = own(name) {
        return Ok(own);
    }
    if name.is_empty() || name.contains('/') {
        let why = "a program is named by a plain name or an absolute path";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    SAFE_PATH
        .split(':')
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok())
        .ok_or_else(|| {
            let why = format!("it is not installed; looked in {SAFE_PATH}");
            io::Error::new(io::ErrorKind::NotFound, why)
        })
}

/// Returns the program that is running, if it has this name and is still there.
fn own(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    (own.file_name()? == name && own.is_file()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_plain_names_only() {
        assert!(find("sh").unwrap().is_absolute());
        assert_eq!(find("/no/such").unwrap(), Path::new("/no/such"));
        for relative in ["", "./sh", "bin/sh", "../sh"] {
            let error = find(relative).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{relative}");
        }
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        assert_eq!(find(name).unwrap(), own);
        let error = find("no-such-program-anywhere").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
