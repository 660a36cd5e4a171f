//! Control groups at the top of every hierarchy that this process sees.

use std::io;
use std::path::{Path, PathBuf};

use bootlace_engine::port::HostResult;
use rustix::io::Errno;

use super::mounts;
use crate::error::{refused, senseless};

/// Finds the groups of a name, one in each hierarchy at most.
pub(super) fn find(name: &str) -> HostResult<Vec<PathBuf>> {
    if matches!(name, "" | "." | "..") || name.contains('/') {
        return Err(senseless(
            "look for",
            format!("control group {name:?}"),
            "it is not a name",
        ));
    }
    let hierarchies = mounts::all()?.into_iter();
    let hierarchies = hierarchies.filter(|it| matches!(it.kind.as_str(), "cgroup" | "cgroup2"));
    let mut groups: Vec<PathBuf> = hierarchies
        .map(|hierarchy| hierarchy.at.join(name))
        .filter(|group| group.is_dir())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    Ok(groups)
}

/// Removes the groups of a name as far as nobody is in them; ends nobody.
pub(super) fn remove(name: &str) -> HostResult<()> {
    for group in find(name)? {
        match remove_tree(&group) {
            Ok(()) => {}
            // Somebody is still in it, who may go; the caller looks again.
            Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {}
            Err(error) => return Err(refused("remove", group.to_string_lossy(), error)),
        }
    }
    Ok(())
}

/// Removes a folder of folders; the files in it go with it.
fn remove_tree(folder: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    match rustix::fs::rmdir(folder) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lead_elsewhere() {
        for name in ["", ".", "..", "a/b", "/"] {
            find(name).unwrap_err();
        }
        assert_eq!(
            find("no-such-group-anywhere").unwrap(),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn folders_go_deepest_first() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        for part in ["group", "group/a", "group/a/b", "group/c"] {
            rustix::fs::mkdir(folder.path().join(part), rustix::fs::Mode::RWXU).unwrap();
        }
        remove_tree(&group).unwrap();
        assert!(!group.exists());
        remove_tree(&group).unwrap();
    }
}
