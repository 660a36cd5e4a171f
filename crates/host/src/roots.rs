//! Where paths on the target lie on this computer.
//!
//! All of them lie under one root, `/` in the normal case. A folder that the user named explicitly
//! can lie elsewhere: it is mounted over a path on the target, for writing if it is ours (`--state`,
//! `--assets`), only for reading if it is an input. The longest mount that covers a path decides.
//!
//! A mount is not seen in the folder above it, and links inside a mount stay inside it: an absolute
//! link there begins at the mounted folder, not at the root.

use std::io;
use std::path::{Path, PathBuf};

use bootlace_engine::port::HostResult;
use bootlace_model::path::TargetPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::refused;

/// The mode of folders that are made to hold a root or a mount.
const FOLDER_MODE: u32 = 0o755;

/// A folder of this computer that stands for a path on the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Which path.
    at: TargetPath,
    /// Which folder.
    real: PathBuf,
    /// Whether it may be changed.
    writable: bool,
}

impl Mount {
    /// Returns the folder of this computer.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Tells whether it may be changed.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }
}

/// The root and what is mounted over it.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    root: Mount,
    mounts: Vec<Mount>,
}

impl Roots {
    /// Begins with a root and nothing mounted.
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: Mount {
                at: TargetPath::root(),
                real: absolute(root),
                writable: true,
            },
            mounts: Vec::new(),
        }
    }

    /// Puts another folder at the root.
    pub(crate) fn set_root(&mut self, root: &Path) {
        self.root.real = absolute(root);
    }

    /// Tells whether the root is that of this computer, and not a folder.
    pub(crate) fn is_live(&self) -> bool {
        self.root.real == Path::new("/")
    }

    /// Returns the folder of this computer that is the root.
    pub(crate) fn root(&self) -> &Path {
        &self.root.real
    }

    /// Mounts a folder over a path, in place of what was mounted there.
    pub(crate) fn mount(&mut self, at: TargetPath, real: &Path, writable: bool) {
        self.mounts.retain(|mount| mount.at != at);
        self.mounts.push(Mount {
            at,
            real: absolute(real),
            writable,
        });
    }

    /// Finds the mount that covers a path, and what is left of the path below it.
    pub(crate) fn locate<'a>(&self, path: &'a TargetPath) -> (&Mount, &'a str) {
        let longest = self
            .mounts
            .iter()
            .filter_map(|mount| path.below(&mount.at).map(|rest| (mount, rest)))
            .min_by_key(|(_, rest)| rest.len());
        longest.unwrap_or_else(|| (&self.root, path.below(&self.root.at).unwrap_or_default()))
    }

    /// Returns where a path lies on this computer if no link is on its way; for messages.
    pub(crate) fn real_path(&self, path: &TargetPath) -> PathBuf {
        let (mount, rest) = self.locate(path);
        if rest.is_empty() {
            mount.real.clone()
        } else {
            mount.real.join(rest)
        }
    }

    /// Makes the root and the writable mounts, as far as they are missing.
    pub(crate) fn ensure(&self) -> HostResult<()> {
        let writable = self.mounts.iter().filter(|mount| mount.writable);
        for mount in std::iter::once(&self.root).chain(writable) {
            make_folders(&mount.real)
                .map_err(|error| refused("make", mount.real.to_string_lossy(), error))?;
        }
        Ok(())
    }
}

/// Makes a path independent of the working folder, which programs that are run may not share.
fn absolute(path: &Path) -> PathBuf {
    // It fails only for an empty path, or if the working folder is gone; opening it then says so.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Makes a folder and those above it, each durable before the next.
fn make_folders(folder: &Path) -> io::Result<()> {
    if is_folder(folder)? {
        return Ok(());
    }
    let above = folder.parent().ok_or(io::ErrorKind::NotFound)?;
    make_folders(above)?;
    match rustix::fs::mkdir(folder, Mode::from_raw_mode(FOLDER_MODE)) {
        // Somebody else was faster, and chose its mode; else it is a link that leads nowhere.
        Err(Errno::EXIST) if is_folder(folder)? => return Ok(()),
        made => made?,
    }
    // The umask may have taken bits away.
    rustix::fs::chmod(folder, Mode::from_raw_mode(FOLDER_MODE))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = rustix::fs::open(above, flags, Mode::empty())?;
    Ok(rustix::fs::fsync(above)?)
}

/// Tells whether a folder is there; anything else in its place is an error.
fn is_folder(path: &Path) -> io::Result<bool> {
    match rustix::fs::stat(path) {
        Ok(found) if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() => Ok(true),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn path(text: &str) -> TargetPath {
        TargetPath::new(text).unwrap()
    }

    fn roots(folder: &Path) -> Roots {
        let mut roots = Roots::new(&folder.join("root/of/all"));
        roots.mount(path("/opt/assets"), &folder.join("assets"), true);
        roots.mount(path("/opt/assets/in"), &folder.join("input"), false);
        roots
    }

    #[test]
    fn the_longest_mount_decides() {
        let roots = roots(Path::new("/real"));
        for (target, real, writable) in [
            ("/", "/real/root/of/all", true),
            ("/opt", "/real/root/of/all/opt", true),
            ("/opt/assets", "/real/assets", true),
            ("/opt/assets/tls", "/real/assets/tls", true),
            ("/opt/assets/in/x", "/real/input/x", false),
            ("/opt/assets2", "/real/root/of/all/opt/assets2", true),
        ] {
            let target = path(target);
            assert_eq!(roots.real_path(&target), Path::new(real));
            assert_eq!(roots.locate(&target).0.is_writable(), writable, "{target}");
        }
    }

    #[test]
    fn a_mount_replaces_the_one_at_the_same_place() {
        let mut roots = roots(Path::new("/real"));
        roots.mount(path("/opt/assets"), Path::new("/other"), false);
        assert_eq!(
            roots.real_path(&path("/opt/assets/x")),
            Path::new("/other/x")
        );
    }

    #[test]
    fn what_is_written_is_made_and_inputs_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let roots = roots(folder.path());
        roots.ensure().unwrap();
        roots.ensure().unwrap();
        for made in ["root", "root/of", "root/of/all", "assets"] {
            let mode = folder
                .path()
                .join(made)
                .metadata()
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o7777, 0o755, "{made}");
        }
        assert!(!folder.path().join("input").exists());
    }

    #[test]
    fn a_file_in_place_of_a_root_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let roots = Roots::new(&file.path().join("root"));
        assert!(roots.ensure().is_err());
        assert!(Roots::new(file.path()).ensure().is_err());
    }

    #[test]
    fn a_link_to_a_folder_will_do_and_one_to_nowhere_will_not() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("target", &link).unwrap();
        assert!(Roots::new(&link).ensure().is_err());
        Roots::new(&folder.path().join("target")).ensure().unwrap();
        Roots::new(&link).ensure().unwrap();
    }

    #[test]
    fn relative_folders_do_not_depend_on_the_working_folder_later() {
        let here = std::env::current_dir().unwrap();
        let roots = Roots::new(Path::new("x/y"));
        assert_eq!(roots.real_path(&TargetPath::root()), here.join("x/y"));
    }
}
