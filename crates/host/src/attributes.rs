//! Modes, owners and extended attributes, changed so that nothing is ever more open than it ends.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use bootlace_model::node::{Attributes, Owner, Xattrs};
use rustix::fs::{AtFlags, Gid, Mode, Uid, XattrFlags};
use rustix::io::Errno;

/// Names that can be read and written back; others belong to the filesystem or to the kernel.
const RESTORABLE: [&str; 4] = [
    "security.capability",
    "security.selinux",
    "system.posix_acl_access",
    "system.posix_acl_default",
];
/// The beginning of the names that are free for everyone.
const OF_USERS: &str = "user.";

/// Returns who owns what this process creates.
pub(crate) fn identity() -> Owner {
    Owner {
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
    }
}

/// Splits an owner into what the system calls take.
pub(crate) fn ids(owner: Owner) -> (Option<Uid>, Option<Gid>) {
    (
        Some(Uid::from_raw(owner.uid)),
        Some(Gid::from_raw(owner.gid)),
    )
}

/// Gives a file that was just created, for its owner only, the attributes that it shall have.
///
/// The mode comes last: changing the owner takes set-id bits away, and labels and access lists must
/// stand before anyone else may read.
pub(crate) fn settle(
    file: &OwnedFd,
    attributes: &Attributes,
    inherits_group: bool,
) -> Result<(), Errno> {
    let inherited = inherits_group.then(identity);
    if let Some(owner) = attributes.owner.or(inherited)
        && (inherits_group || owner != identity())
    {
        let (uid, gid) = ids(owner);
        rustix::fs::fchown(file, uid, gid)?;
    }
    for (name, value) in &attributes.xattrs.0 {
        rustix::fs::fsetxattr(file, name.as_str(), value, XattrFlags::empty())?;
    }
    // A narrow mode is likely what the file has already, unless the umask took bits away.
    let narrow = attributes.mode & !0o600 == 0;
    if narrow && mode_of(file)? == attributes.mode {
        return Ok(());
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(attributes.mode))
}

/// Gives something that was there before other attributes, through a handle that is only a place.
pub(crate) fn replace(place: &OwnedFd, attributes: &Attributes) -> Result<(), Errno> {
    let path = path_of(place);
    if let Some(owner) = attributes.owner {
        let stat = rustix::fs::fstat(place)?;
        if (stat.st_uid, stat.st_gid) != (owner.uid, owner.gid) {
            // The new owner must not read what only the old one's group was allowed to.
            let both = stat.st_mode & attributes.mode & 0o777;
            if both != stat.st_mode & 0o777 {
                rustix::fs::chmod(&path, Mode::from_raw_mode(both))?;
            }
            let (uid, gid) = ids(owner);
            rustix::fs::chownat(place, c"", uid, gid, AtFlags::EMPTY_PATH)?;
        }
    }
    for (name, value) in &attributes.xattrs.0 {
        rustix::fs::setxattr(&path, name.as_str(), value, XattrFlags::empty())?;
    }
    if mode_of(place)? == attributes.mode {
        return Ok(());
    }
    rustix::fs::chmod(&path, Mode::from_raw_mode(attributes.mode))
}

fn mode_of(handle: &OwnedFd) -> Result<u32, Errno> {
    Ok(rustix::fs::fstat(handle)?.st_mode & 0o7777)
}

/// Returns a path by which the kernel finds exactly what a handle stands for.
///
/// A handle that is only a place can neither be changed nor asked for extended attributes directly.
fn path_of(place: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", place.as_raw_fd())
}

/// Reads the extended attributes of a name in a folder that can be written back.
pub(crate) fn read_xattrs(folder: &OwnedFd, name: &str) -> io::Result<Xattrs> {
    let path = format!("{}/{name}", path_of(folder));
    let names = match grow(|buffer| rustix::fs::llistxattr(&path, buffer)) {
        // The filesystem has none.
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Xattrs::default()),
        names => names?,
    };
    let mut found = BTreeMap::new();
    for name in names.split(|byte| *byte == 0) {
        if !is_restorable(name) {
            continue;
        }
        let name = String::from_utf8(name.to_vec()).map_err(|_| {
            let shown = String::from_utf8_lossy(name);
            io::Error::other(format!("the attribute's name {shown:?} is not UTF-8"))
        })?;
        match grow(|buffer| rustix::fs::lgetxattr(&path, name.as_str(), buffer)) {
            // It was removed between the two calls.
            Err(Errno::NODATA) => {}
            value => {
                found.insert(name, value?);
            }
        }
    }
    Ok(Xattrs(found))
}

fn is_restorable(name: &[u8]) -> bool {
    name.starts_with(OF_USERS.as_bytes()) || RESTORABLE.iter().any(|known| name == known.as_bytes())
}

/// Calls with ever larger buffers until the answer fits.
fn grow(mut call: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match call(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            // The kernel itself allows at most 64 KiB, so this ends.
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
}
