//! Mounts: a machine's root, and finding all mounts of ours.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::wait::until;
use crate::{MachineError, Result};

/// How long an unmount is tried again while something still uses the mount.
const BUSY: Duration = Duration::from_secs(5);

/// A mount as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Which part of the filesystem is mounted.
    pub(crate) root: PathBuf,
    /// Where.
    pub(crate) at: PathBuf,
    /// The filesystem's type.
    pub(crate) kind: String,
    /// The filesystem's own options, with commas.
    pub(crate) options: String,
}

/// Lists all mounts that this process sees, in the order in which they were made.
pub(crate) fn table() -> Result<Vec<Mount>> {
    let path = Path::new("/proc/self/mountinfo");
    let text = fs::read(path).map_err(MachineError::file("read", path))?;
    Ok(text
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .collect())
}

fn parse(line: &[u8]) -> Option<Mount> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    // Optional fields stand between the sixth word and a single dash.
    let dash = words.iter().position(|word| *word == b"-")?;
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    Some(Mount {
        root: unescape(words.get(3)?),
        at: unescape(words.get(4)?),
        kind: text(words.get(dash + 1)?),
        options: text(words.get(dash + 3)?),
    })
}

/// Undoes the kernel's way to write blanks, such as `\040`.
fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, more)) = rest.split_first() {
        let octal = more.get(..3).filter(|_| first == b'\\');
        let value = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(value) = value {
            bytes.push(value);
            rest = more.get(3..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = more;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Tells whether something is mounted at a path.
pub(crate) fn is_mounted(at: &Path) -> Result<bool> {
    Ok(table()?.iter().any(|mount| mount.at == at))
}

/// Mounts an overlay: changes go to `upper`, the rest is read from the layers, the first on top.
pub(crate) fn overlay(at: &Path, layers: &[PathBuf], upper: &Path, work: &Path) -> Result<()> {
    let escape = |path: &Path| {
        let text = path.to_string_lossy();
        text.replace('\\', "\\\\")
            .replace(':', "\\:")
            .replace(',', "\\,")
    };
    let layers: Vec<String> = layers.iter().map(|layer| escape(layer)).collect();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        layers.join(":"),
        escape(upper),
        escape(work)
    );
    let options = std::ffi::CString::new(options).map_err(|error| MachineError::File {
        action: "mount the root at",
        path: at.to_owned(),
        source: error.into(),
    })?;
    rustix::mount::mount(
        "overlay",
        at,
        "overlay",
        MountFlags::empty(),
        options.as_c_str(),
    )
    .map_err(|errno| MachineError::file("mount the root at", at)(errno.into()))
}

/// Unmounts all that is mounted at a folder or below it, the newest first.
pub(crate) fn unmount_below(folder: &Path) -> Result<()> {
    let table = table()?;
    let ours = table
        .iter()
        .rev()
        .filter(|mount| mount.at.starts_with(folder));
    for mount in ours {
        unmount(&mount.at)?;
    }
    Ok(())
}

fn unmount(at: &Path) -> Result<()> {
    let done = until(BUSY, || {
        match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
            // Not mounted any more is what was wanted.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(Some(())),
            Err(Errno::BUSY) => Ok(None),
            Err(errno) => Err(MachineError::file("unmount", at)(errno.into())),
        }
    })?;
    done.ok_or_else(|| MachineError::LeftOver {
        what: vec![format!("the mount {}, which is in use", at.display())],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_table_is_understood() {
        let line = b"36 25 0:30 /part /mnt/a\\040b\\134c rw,noatime shared:1 master:2 - cgroup none rw,pids";
        let mount = parse(line).unwrap();
        assert_eq!(mount.root, Path::new("/part"));
        assert_eq!(mount.at, Path::new("/mnt/a b\\c"));
        assert_eq!(
            (mount.kind.as_str(), mount.options.as_str()),
            ("cgroup", "rw,pids")
        );
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn the_root_of_this_computer_is_mounted() {
        assert!(is_mounted(Path::new("/")).unwrap());
        assert!(!is_mounted(Path::new("/no such place")).unwrap());
    }
}
