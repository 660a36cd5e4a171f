//! What is put into a machine before it boots: files, and the images of its containers.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
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

/// Fills a machine's disk for containers from that of another machine, without a second copy.
///
/// containerd never changes a blob or a layer once it has it: it makes new ones and removes old ones. So
/// these are shared as hard links, which takes milliseconds for gigabytes. Only its databases are copied.
pub(crate) fn disk(from: &Path, to: &Path) -> Result<()> {
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let (source, target) = (from.join(&relative), to.join(&relative));
        folder_like(&source, &target)?;
        let entries = fs::read_dir(&source).map_err(MachineError::file("list", &source))?;
        for entry in entries {
            let entry = entry.map_err(MachineError::file("list", &source))?;
            let kind = entry
                .file_type()
                .map_err(MachineError::file("look at", &source))?;
            let inner = relative.join(entry.file_name());
            if kind.is_dir() {
                open.push(inner);
            } else {
                share(&from.join(&inner), &to.join(&inner))?;
            }
        }
    }
    Ok(())
}

/// Makes a folder with the mode and the owner of another.
fn folder_like(source: &Path, target: &Path) -> Result<()> {
    let failed = || MachineError::file("make the folder", target);
    let found = fs::metadata(source).map_err(MachineError::file("look at", source))?;
    if !target.is_dir() {
        fs::create_dir(target).map_err(failed())?;
    }
    std::os::unix::fs::chown(target, Some(found.uid()), Some(found.gid())).map_err(failed())?;
    fs::set_permissions(target, found.permissions()).map_err(failed())
}

fn share(source: &Path, target: &Path) -> Result<()> {
    let is_database = source
        .extension()
        .is_some_and(|extension| extension == "db");
    if !is_database {
        match fs::hard_link(source, target) {
            Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {}
            linked => return linked.map_err(MachineError::file("link", target)),
        }
    }
    fs::copy(source, target).map_err(MachineError::file("copy", source))?;
    Ok(())
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

    #[test]
    fn images_are_shared_and_databases_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("blobs/sha256")).unwrap();
        fs::write(from.join("blobs/sha256/1"), "blob").unwrap();
        fs::write(from.join("meta.db"), "old").unwrap();
        std::os::unix::fs::symlink("nowhere", from.join("link")).unwrap();
        fs::set_permissions(from.join("blobs"), Permissions::from_mode(0o710)).unwrap();
        fs::create_dir(&to).unwrap();
        disk(&from, &to).unwrap();
        let inode = |path: PathBuf| fs::symlink_metadata(path).unwrap().ino();
        for shared in ["blobs/sha256/1", "link"] {
            assert_eq!(inode(from.join(shared)), inode(to.join(shared)), "{shared}");
        }
        fs::write(to.join("meta.db"), "new").unwrap();
        assert_eq!(fs::read(from.join("meta.db")).unwrap(), b"old");
        assert_eq!(
            fs::metadata(to.join("blobs")).unwrap().permissions().mode() & 0o777,
            0o710
        );
    }
}
