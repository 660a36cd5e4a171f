//! One supervisor at a time below a root, by a lock that ends with its process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bootlace_model::supervised::FOLDER;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::{Result, SupervisorError, below};

/// Others may look for a moment whether the lock is taken; so it is tried a few times.
const TRIES: u32 = 10;
/// How long is waited between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The lock of the one supervisor that works; held until it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    _file: File,
}

impl Instance {
    /// Becomes the one that works.
    pub(crate) fn take(root: &Path) -> Result<Self> {
        let path = path(root);
        let refused = SupervisorError::file("lock", &path);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).read(true).write(true);
        let mut file = options.mode(0o600).open(&path).map_err(&refused)?;
        for attempt in 1..=TRIES {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK) if attempt < TRIES => std::thread::sleep(BETWEEN_TRIES),
                Err(Errno::WOULDBLOCK) => {
                    let root = root.to_owned();
                    return Err(SupervisorError::Busy { root });
                }
                Err(errno) => return Err(refused(errno.into())),
            }
        }
        let sign = |file: &mut File| {
            file.set_len(0)?;
            file.write_all(std::process::id().to_string().as_bytes())
        };
        sign(&mut file).map_err(refused)?;
        Ok(Self { _file: file })
    }
}

/// Tells whether a supervisor works below a root.
pub(crate) fn is_taken(root: &Path) -> Result<bool> {
    let path = path(root);
    let refused = SupervisorError::file("look at", &path);
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(&refused)?,
    };
    // Shared, so that two who look do not take each other for the holder. It ends with the handle.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(errno) => Err(refused(errno.into())),
    }
}

/// Reads which process signed the lock; none if it has not signed yet.
pub(crate) fn holder(root: &Path) -> Result<Option<u32>> {
    let path = path(root);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => {
            let text = read.map_err(SupervisorError::file("read", &path))?;
            Ok(text.trim().parse().ok())
        }
    }
}

fn path(root: &Path) -> PathBuf {
    below(root, FOLDER).join("supervisor.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(!is_taken(root).unwrap());
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        let instance = Instance::take(root).unwrap();
        assert!(is_taken(root).unwrap());
        assert_eq!(holder(root).unwrap(), Some(std::process::id()));
        assert!(matches!(
            Instance::take(root),
            Err(SupervisorError::Busy { .. })
        ));
        drop(instance);
        assert!(!is_taken(root).unwrap());
        Instance::take(root).unwrap();
    }
}
