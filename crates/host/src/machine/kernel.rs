//! What the kernel says about the machine.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io;

use bootlace_engine::port::HostResult;
use bootlace_model::ids::BootId;
use rustix::rand::GetRandomFlags;

use crate::error::{refused, senseless};

/// Where the kernel tells which boot this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Reads a file in which the kernel tells something.
pub(crate) fn read(path: &str) -> HostResult<String> {
    match read_if_there(path)? {
        Some(text) => Ok(text),
        None => Err(refused("read", path, io::ErrorKind::NotFound)),
    }
}

/// Reads a file in which the kernel tells something; none if this kernel, or its mode, has none.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel that runs now is asked, whatever root is worked on"
)]
pub(crate) fn read_if_there(path: &str) -> HostResult<Option<String>> {
    match std::fs::read(path) {
        // Names of processes and mounts are bytes; what is no text can still be shown.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused("read", path, error)),
    }
}

/// Identifies this boot.
pub(crate) fn boot_id() -> HostResult<BootId> {
    Ok(BootId::new(read(BOOT_ID)?.trim()))
}

/// Returns what the machine calls itself.
pub(crate) fn host_name() -> HostResult<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_str();
    name.map(str::to_owned)
        .map_err(|_| senseless("read", "the machine's name", "it is not UTF-8"))
}

/// Returns random bits, for names only.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    match rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => u64::from_le_bytes(bytes),
        // A kernel without that call; the standard library has other ways to seed its hash maps.
        _ => std::hash::RandomState::new().build_hasher().finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_has_one_id_of_five_groups() {
        let id = boot_id().unwrap();
        let lengths: Vec<usize> = id.as_str().split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(id, boot_id().unwrap());
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the kernel is asked in another way than by the code under test"
    )]
    fn the_name_is_that_of_the_kernel() {
        let theirs = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host_name().unwrap(), theirs.trim_end());
    }

    #[test]
    fn random_bits_differ() {
        assert_ne!(random(), random());
    }
}
