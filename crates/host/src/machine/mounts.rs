//! Mounts below a folder.

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use bootlace_engine::port::HostResult;
use bootlace_model::path::TargetPath;
use rustix::mount::UnmountFlags;

use super::kernel;
use crate::RealHost;
use crate::error::refused;

/// Where the kernel tells what is mounted, as this process sees it.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Something that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where.
    pub(super) at: PathBuf,
    /// The kind of file system.
    pub(super) kind: String,
}

/// Lists everything that is mounted, in the order in which it was.
pub(super) fn all() -> HostResult<Vec<Mount>> {
    Ok(kernel::read(MOUNTS)?.lines().filter_map(parse).collect())
}

/// Lists what is mounted below a folder, but not on it, in the order in which it was.
pub(super) fn below(host: &RealHost, folder: &TargetPath) -> HostResult<Vec<PathBuf>> {
    let Some((opened, _)) = host.open(folder)? else {
        return Ok(vec![]);
    };
    // The kernel names mounts without the links that lead there.
    let link = format!("/proc/self/fd/{}", opened.handle.as_raw_fd());
    let real = std::fs::read_link(link).map_err(|error| refused("find", folder.as_str(), error))?;
    let places = all()?.into_iter().map(|mount| mount.at);
    Ok(places.filter(|at| is_below(at, &real)).collect())
}

/// Detaches what is mounted below a folder: at once from the tree, for good when nobody uses it.
pub(super) fn detach(host: &RealHost, folder: &TargetPath) -> HostResult<()> {
    let mut places = below(host, folder)?;
    // What was mounted last lies deepest, or on top.
    places.reverse();
    for place in places {
        let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
        match rustix::mount::unmount(&place, flags) {
            // It went with the one above it, or somebody else was faster.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => {}
            Err(errno) => return Err(refused("unmount", place.to_string_lossy(), errno)),
        }
    }
    Ok(())
}

fn is_below(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}

/// Reads a line of the kernel's list.
fn parse(line: &str) -> Option<Mount> {
    let (places, kinds) = line.split_once(" - ")?;
    Some(Mount {
        at: unescape(places.split(' ').nth(4)?).into(),
        kind: kinds.split(' ').next()?.to_owned(),
    })
}

/// Takes back how the kernel writes blanks and such: as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let digits = after.get(..3).and_then(|it| u8::from_str_radix(it, 8).ok());
        if let Some(code) = digits {
            plain.push(char::from(code));
            rest = &after[3..];
        } else {
            plain.push('\\');
            rest = after;
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_place_and_kind() {
        let line =
            "36 35 98:0 /mnt1 /mnt/my\\040disk\\134x rw,noatime master:1 - ext3 /dev/root rw";
        let expected = Mount {
            at: "/mnt/my disk\\x".into(),
            kind: "ext3".into(),
        };
        assert_eq!(parse(line), Some(expected));
        let plain = "36 35 98:0 / /mnt rw - cgroup2 none rw";
        assert_eq!(parse(plain).unwrap().kind, "cgroup2");
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn only_what_lies_below_counts() {
        let folder = Path::new("/var/lib/kubelet");
        assert!(is_below(Path::new("/var/lib/kubelet/pods/x"), folder));
        for other in ["/var/lib/kubelet", "/var/lib/kubelet2/x", "/var/lib", "/"] {
            assert!(!is_below(Path::new(other), folder), "{other}");
        }
    }
}
