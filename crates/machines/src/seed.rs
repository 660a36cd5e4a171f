//! Files that are put into a machine's root before it boots.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::machines::SeedFile;
use crate::{MachineError, Result};

/// Writes a file into a root; no link of the root may lead out of it.
pub(crate) fn write(root: &Path, file: &SeedFile) -> Result<()> {
    let path = place(root, &file.path)?;
    let mut open = OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(file.mode);
    let mut handle = open
        .open(&path)
        .map_err(MachineError::file("write", &path))?;
    handle
        .write_all(&file.content)
        .map_err(MachineError::file("write", &path))?;
    // The mode above holds for new files only, and less what the caller masks.
    let permissions = Permissions::from_mode(file.mode);
    handle
        .set_permissions(permissions)
        .map_err(MachineError::file("write", &path))
}

/// Finds where a path of the machine lies, and makes the folders above it.
fn place(root: &Path, path: &Path) -> Result<PathBuf> {
    let refuse =
        |reason: &str| MachineError::file("write", path)(std::io::Error::other(reason.to_owned()));
    let mut place = root.to_owned();
    let mut components = path.components().peekable();
    if components.next() != Some(Component::RootDir) {
        return Err(refuse("it is not an absolute path in the machine"));
    }
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(refuse("it has . or .. in it"));
        };
        place.push(name);
        let is_last = components.peek().is_none();
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                return Err(refuse(
                    "a link is on the way, which may lead out of the machine",
                ));
            }
            Ok(found) if found.is_dir() == is_last => {
                return Err(refuse("a folder is where a file should be, or the reverse"));
            }
            Ok(_) => {}
            Err(_) if is_last => {}
            Err(_) => {
                fs::create_dir(&place).map_err(MachineError::file("make the folder", &place))?;
            }
        }
    }
    if place == root {
        return Err(refuse("it is the root"));
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> SeedFile {
        SeedFile {
            path: path.into(),
            mode: 0o640,
            content: b"x".into(),
        }
    }

    #[test]
    fn files_come_with_their_folders_and_modes() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &file("/etc/a/b")).unwrap();
        write(root.path(), &file("/etc/a/b")).unwrap();
        let written = root.path().join("etc/a/b");
        assert_eq!(fs::read(&written).unwrap(), b"x");
        assert_eq!(
            fs::metadata(&written).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }

    #[test]
    fn no_file_leaves_the_root() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("run")).unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        for bad in ["/run/x", "/run", "/etc/../../x", "relative", "/", "/etc"] {
            assert!(write(root.path(), &file(bad)).is_err(), "{bad}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
