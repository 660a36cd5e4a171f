//! Makes files and names in folders durable, at the lowest price.
//!
//! Few things are synced one by one. Many are synced with their whole filesystem, once: five
//! thousand single syncs take minutes where one takes a second.

use std::collections::BTreeMap;

use bootlace_engine::port::{Dir, HostResult};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::dir::RealDir;
use crate::error::refused;

/// By what the kernel knows btrfs.
const BTRFS: rustix::fs::FsWord = 0x9123_683e;
/// Up to this many things are synced one by one.
const FEW: usize = 8;

/// Makes written files durable.
pub(crate) fn files(files: &[(&dyn Dir, &str)]) -> HostResult<()> {
    let own = files
        .iter()
        .map(|(dir, name)| Ok((RealDir::of(*dir, "sync")?, *name)))
        .collect::<HostResult<Vec<_>>>()?;
    if own.len() > FEW {
        return filesystems(own.iter().map(|(dir, _)| *dir));
    }
    for (dir, name) in own {
        file(dir, name)?;
    }
    Ok(())
}

/// Makes names in folders durable.
pub(crate) fn dirs(dirs: &[&dyn Dir]) -> HostResult<()> {
    let own = dirs
        .iter()
        .map(|dir| RealDir::of(*dir, "sync"))
        .collect::<HostResult<Vec<_>>>()?;
    folders(&own)
}

/// Makes names in one folder durable.
pub(crate) fn folder(dir: &RealDir) -> HostResult<()> {
    folders(&[dir])
}

/// Makes names in folders durable.
///
/// On btrfs that takes the whole filesystem: where several steps write to one folder at the same time,
/// a power cut has lost names in folders that had been synced. Whether btrfs or the order of the calls
/// is at fault is not known.
fn folders(dirs: &[&RealDir]) -> HostResult<()> {
    let mut with_all = Vec::new();
    for dir in dirs {
        let failed = |errno| refused("sync", dir.path().as_str(), errno);
        if dirs.len() > FEW || is_btrfs(dir).map_err(failed)? {
            with_all.push(*dir);
        } else {
            readable(dir).and_then(rustix::fs::fsync).map_err(failed)?;
        }
    }
    filesystems(with_all.into_iter())
}

fn is_btrfs(dir: &RealDir) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(dir.handle())?.f_type == BTRFS)
}

fn file(dir: &RealDir, name: &str) -> HostResult<()> {
    dir.check("sync", name)?;
    dir.check_regular("sync", name)?;
    let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::openat(dir.handle(), name, flags | common, Mode::empty());
    let opened = match open(OFlags::RDONLY) {
        // A file may be there to be written only.
        Err(Errno::ACCESS) => open(OFlags::WRONLY),
        opened => opened,
    };
    opened
        .and_then(rustix::fs::fsync)
        .map_err(|errno| dir.refused("sync", name, errno))
}

/// Syncs every filesystem on which one of the folders lies.
fn filesystems<'a>(dirs: impl Iterator<Item = &'a RealDir>) -> HostResult<()> {
    let mut one_each = BTreeMap::new();
    for dir in dirs {
        one_each.entry(dir.device()).or_insert(dir);
    }
    for dir in one_each.into_values() {
        readable(dir)
            .and_then(rustix::fs::syncfs)
            .map_err(|errno| refused("sync the filesystem of", dir.path().as_str(), errno))?;
    }
    Ok(())
}

/// Returns a handle that can be synced, if there is one.
fn readable(dir: &RealDir) -> Result<&std::os::fd::OwnedFd, Errno> {
    if dir.is_readable() {
        Ok(dir.handle())
    } else {
        Err(Errno::ACCESS)
    }
}
