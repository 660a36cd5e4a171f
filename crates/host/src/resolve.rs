//! Opens folders so that no link leads out of the root.
//!
//! The kernel can do that itself since Linux 5.6, and does for paths without links. A path with links
//! is walked here, part by part, because the kernel does not look at whose links they are; so is every
//! path where the kernel cannot, or where a sandbox forbids it. An absolute link begins at the root,
//! `..` ends at the root, forty links are followed and not one more, and the links in `/proc` that jump
//! to an open file are not followed at all.

mod walk;

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// How a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Resolver {
    /// By the kernel if it can, else by hand.
    #[default]
    Best,
    /// By hand.
    ByHand,
}

/// Why a path leads to no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostWay {
    /// Nothing is there.
    Absent,
    /// It would leave the root, goes through too many links, or through one that jumps.
    Escape,
    /// It goes through a link of this user to what is not this user's.
    Foreign(u32),
    /// The operating system refused.
    Refused(Errno),
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    /// Its handle.
    pub(crate) handle: OwnedFd,
    /// Whether the handle can be listed and synced; else it is only a place to start from.
    pub(crate) readable: bool,
}

/// A path as long as this or longer does not fit into one system call.
const PATH_MAX: usize = 4096;

/// How often the kernel is asked again when folders are renamed while it looks.
const TRIES: u32 = 64;

/// Set once the kernel said that it knows nothing of opening inside a root.
static KERNEL_CANNOT: AtomicBool = AtomicBool::new(false);

impl Resolver {
    /// Opens the folder at a path below a root, which is a folder of this computer.
    pub(crate) fn open(self, root: &Path, relative: &str) -> Result<OpenFolder, LostWay> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, root, flags, Mode::empty()).map_err(LostWay::from)?;
        let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match self.open_below(&root, relative, readable) {
            // One may pass through a folder and write in it without being allowed to list it.
            Err(LostWay::Refused(Errno::ACCESS)) => Ok(OpenFolder {
                handle: self.open_below(&root, relative, flags)?,
                readable: false,
            }),
            handle => Ok(OpenFolder {
                handle: handle?,
                readable: true,
            }),
        }
    }

    fn open_below(
        self,
        root: impl AsFd,
        relative: &str,
        flags: OFlags,
    ) -> Result<OwnedFd, LostWay> {
        let by_hand = self == Self::ByHand
            || relative.len() >= PATH_MAX
            || KERNEL_CANNOT.load(Ordering::Relaxed);
        if by_hand {
            return walk::open(root.as_fd(), relative, flags);
        }
        let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        match open_by_kernel(&root, relative, flags, inside) {
            Err(Errno::NOSYS | Errno::PERM) => {
                KERNEL_CANNOT.store(true, Ordering::Relaxed);
                self.open_below(root, relative, flags)
            }
            // A symbolic link on the path, or constant renames; the walk handles both.
            Err(Errno::LOOP | Errno::AGAIN) => walk::open(root.as_fd(), relative, flags),
            opened => opened.map_err(LostWay::from),
        }
    }
}

fn open_by_kernel(
    root: impl AsFd,
    relative: &str,
    flags: OFlags,
    inside: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let path = if relative.is_empty() { "." } else { relative };
    for _ in 0..TRIES {
        match rustix::fs::openat2(&root, path, flags, Mode::empty(), inside) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

impl From<Errno> for LostWay {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Absent,
            Errno::LOOP | Errno::XDEV => Self::Escape,
            errno => Self::Refused(errno),
        }
    }
}

#[cfg(test)]
mod tests;
