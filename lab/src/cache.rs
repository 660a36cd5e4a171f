//! The cache: products that are whole or not there, each in a folder named by what it is made from.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::error::LabError;
use crate::files;
use crate::progress::Progress;

/// How often is looked whether another process is done.
const LOOKS_EVERY: Duration = Duration::from_millis(200);

/// A folder that outlives builds, with everything that the lab makes.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Finds the cache: `$BOOTLACE_CACHE`, else `$XDG_CACHE_HOME/bootlace`, else `~/.cache/bootlace`.
    pub(crate) fn find(variable: impl Fn(&str) -> Option<String>) -> Result<Self, LabError> {
        let given = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let root = given("BOOTLACE_CACHE")
            .or_else(|| given("XDG_CACHE_HOME").map(|folder| folder.join("bootlace")))
            .or_else(|| given("HOME").map(|folder| folder.join(".cache/bootlace")))
            .ok_or(LabError::NoCache)?;
        let root = std::path::absolute(&root).map_err(LabError::file("find", &root))?;
        Ok(Self { root })
    }

    /// Returns the folder of the cache.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns where a product is, or will be.
    pub(crate) fn product(&self, name: &str, key: &str) -> Product {
        Product {
            path: self.root.join(name).join(key),
            partial: self
                .partial()
                .join(format!("{}-{key}", name.replace('/', "-"))),
        }
    }

    /// Waits until no other process prepares, keeps others out, and removes what a killed one left.
    pub(crate) fn lock(&self, progress: &Progress) -> Result<Lock, LabError> {
        files::folder(&self.root)?;
        let path = self.root.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .read(true)
            .open(&path)
            .map_err(LabError::file("open", &path))?;
        let mut waits = None;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    waits.get_or_insert_with(|| progress.task("waits for another `lab prepare`"));
                    thread::sleep(LOOKS_EVERY);
                }
                Err(TryLockError::Error(error)) => {
                    return Err(LabError::file("lock", &path)(error));
                }
            }
        }
        files::remove_folder(&self.partial())?;
        Ok(Lock { _file: file })
    }

    /// Removes versions of a product that no checkout uses any more; returns how many.
    pub(crate) fn prune(
        &self,
        _lock: &Lock,
        name: &str,
        used: &[PathBuf],
    ) -> Result<usize, LabError> {
        let folder = self.root.join(name);
        let Ok(entries) = fs::read_dir(&folder) else {
            return Ok(0);
        };
        let mut removed = 0;
        for entry in entries {
            let path = entry.map_err(LabError::file("list", &folder))?.path();
            if !used.contains(&path) {
                files::remove_folder(&path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn partial(&self) -> PathBuf {
        self.root.join("partial")
    }
}

/// Keeps other preparing processes out; the kernel frees it when this one dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Something that the lab makes.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    path: PathBuf,
    partial: PathBuf,
}

impl Product {
    /// Returns the folder in which it is, or will be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether it is there; what is there is whole.
    pub(crate) fn is_ready(&self) -> bool {
        self.path.is_dir()
    }

    /// Makes it, unless it is there: in a folder aside, which takes its place when all of it succeeded.
    pub(crate) fn make(
        &self,
        _lock: &Lock,
        make: impl FnOnce(&Path) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        if self.is_ready() {
            return Ok(());
        }
        files::remove_folder(&self.partial)?;
        files::folder(&self.partial)?;
        make(&self.partial)?;
        if let Some(parent) = self.path.parent() {
            files::folder(parent)?;
        }
        fs::rename(&self.partial, &self.path).map_err(LabError::file("publish", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> Cache {
        let folder = folder.to_string_lossy().into_owned();
        Cache::find(|name| (name == "BOOTLACE_CACHE").then(|| folder.clone())).unwrap()
    }

    #[test]
    fn the_environment_says_where_the_cache_is() {
        let find = |known: &[(&str, &str)]| {
            let known: Vec<(String, String)> = known
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect();
            Cache::find(|name| {
                known
                    .iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value.clone())
            })
            .map(|cache| cache.root().to_string_lossy().into_owned())
        };
        let all = [
            ("BOOTLACE_CACHE", "/b"),
            ("XDG_CACHE_HOME", "/x"),
            ("HOME", "/h"),
        ];
        assert_eq!(find(&all).unwrap(), "/b");
        assert_eq!(find(&all[1..]).unwrap(), "/x/bootlace");
        assert_eq!(
            find(&[("XDG_CACHE_HOME", ""), ("HOME", "/h")]).unwrap(),
            "/h/.cache/bootlace"
        );
        assert!(matches!(find(&[]), Err(LabError::NoCache)));
    }

    #[test]
    fn a_product_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let lock = cache.lock(&Progress::quiet()).unwrap();
        let product = cache.product("thing", "key");
        let failed = product.make(&lock, |partial| {
            files::write(&partial.join("half"), b"1")?;
            Err(LabError::NoCache)
        });
        assert!(failed.is_err() && !product.is_ready());
        product
            .make(&lock, |partial| files::write(&partial.join("whole"), b"1"))
            .unwrap();
        assert!(product.is_ready());
        assert_eq!(files::below(product.path()).unwrap(), ["whole"]);
        product.make(&lock, |_| Err(LabError::NoCache)).unwrap();
        assert_eq!(cache.prune(&lock, "thing", &[]).unwrap(), 1);
        assert!(!product.is_ready());
    }

    #[test]
    fn a_second_one_waits_and_removes_what_the_first_left() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let first = cache.lock(&Progress::quiet()).unwrap();
        let left = cache.partial().join("thing");
        files::write(&left, b"1").unwrap();
        let second = thread::spawn({
            let cache = cache.clone();
            move || cache.lock(&Progress::quiet()).map(|_| ())
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished() && left.exists());
        drop(first);
        second.join().unwrap().unwrap();
        assert!(!left.exists());
    }
}
