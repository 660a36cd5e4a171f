//! Follows a path part by part, where the kernel cannot do it in one go.
//!
//! A link is a claim by whoever made it, and whoever owns its folder can put another in its place at
//! any moment. Root that follows a stranger's link would write, or remove, wherever that stranger wants.
//! So such a link leads only to what belongs to the same stranger.
//!
//! Each part is opened without following it. What was opened is looked at through its handle, so
//! that it cannot be exchanged between the look and the next part. Only one handle is kept: a step
//! back up walks down from the root again, which is rare and costs nothing in open files.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, PROC_SUPER_MAGIC};
use rustix::io::Errno;

use super::LostWay;

/// How many links Linux follows on one path.
const MOST_LINKS: u32 = 40;

/// Opens the folder at a path, with links resolved inside the root.
pub(super) fn open(
    root: BorrowedFd<'_>,
    relative: &str,
    flags: OFlags,
) -> Result<OwnedFd, LostWay> {
    let mut place = Place {
        root,
        below: Vec::new(),
        handle: None,
        strangers: BTreeSet::new(),
    };
    // The parts still to go, the next one last.
    let mut parts = reversed(relative.as_bytes())?;
    let mut links = 0;
    while let Some(part) = parts.pop() {
        match part.as_bytes() {
            b"." => {}
            b".." => place.up()?,
            _ => {
                if let Some(target) = place.down(part)? {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(LostWay::Escape);
                    }
                    if target.as_bytes().first() == Some(&b'/') {
                        place.restart();
                    }
                    parts.extend(reversed(target.as_bytes())?);
                }
            }
        }
    }
    // The handles on the way are only places; the caller's flags make one that can be read.
    let opened = rustix::fs::openat(place.here(), c".", flags, Mode::empty())?;
    let owner = rustix::fs::fstat(&opened)?.st_uid;
    match place.strangers.iter().find(|stranger| **stranger != owner) {
        Some(stranger) => Err(LostWay::Foreign(*stranger)),
        None => Ok(opened),
    }
}

/// Tells whether a user is neither root nor the one who runs this.
fn is_stranger(user: u32) -> bool {
    user != 0 && user != rustix::process::geteuid().as_raw()
}

/// A folder at or below the root.
struct Place<'a> {
    root: BorrowedFd<'a>,
    /// The folders that lead from the root to here, none of them a link.
    below: Vec<CString>,
    /// The folder here; none if this is the root.
    handle: Option<OwnedFd>,
    /// Whose links were followed: those of others, or in folders of others.
    strangers: BTreeSet<u32>,
}

impl Place<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        self.handle.as_ref().map_or(self.root, AsFd::as_fd)
    }

    fn restart(&mut self) {
        self.below.clear();
        self.handle = None;
    }

    /// Goes to a folder in this one; if it is a link, stays and returns where that points to.
    fn down(&mut self, part: CString) -> Result<Option<CString>, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let next = rustix::fs::openat(self.here(), part.as_c_str(), flags, Mode::empty())?;
        let found = rustix::fs::fstat(&next)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                self.below.push(part);
                self.handle = Some(next);
                Ok(None)
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&next, c"", Vec::new())?;
                if jumps(&next, target.as_bytes())? {
                    return Err(Errno::LOOP);
                }
                let owners = [found.st_uid, rustix::fs::fstat(self.here())?.st_uid];
                let strangers = owners.into_iter().filter(|owner| is_stranger(*owner));
                self.strangers.extend(strangers);
                Ok(Some(target))
            }
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Goes to the folder above, but not above the root.
    fn up(&mut self) -> Result<(), Errno> {
        let mut below = std::mem::take(&mut self.below);
        below.pop();
        self.handle = None;
        for part in below {
            if self.down(part)?.is_some() {
                // It was a folder when we came down; somebody has put a link in its place.
                return Err(Errno::LOOP);
            }
        }
        Ok(())
    }
}

/// Tells whether a link jumps to an open file or another root instead of standing for a path.
///
/// Only the kernel makes such links, in `/proc`. They can be told by what they claim to point to:
/// all plain links there are relative.
fn jumps(link: &OwnedFd, target: &[u8]) -> Result<bool, Errno> {
    if rustix::fs::fstatfs(link)?.f_type != PROC_SUPER_MAGIC {
        return Ok(false);
    }
    Ok(target.starts_with(b"/") || target.windows(2).any(|window| window == b":["))
}

fn reversed(path: &[u8]) -> Result<Vec<CString>, Errno> {
    path.rsplit(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .map(|part| CString::new(part).map_err(|_| Errno::INVAL))
        .collect()
}
