//! What the machine says about itself.

use std::hash::{BuildHasher as _, Hasher as _};

use bootlace_engine::port::HostResult;
use bootlace_model::ids::BootId;
use rustix::rand::GetRandomFlags;

use crate::error::{refused, senseless};

/// Where the kernel tells which boot this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Identifies this boot.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel that runs now is asked, whatever root is worked on"
)]
pub(crate) fn boot_id() -> HostResult<BootId> {
    let text = std::fs::read_to_string(BOOT_ID).map_err(|error| refused("read", BOOT_ID, error))?;
    Ok(BootId::new(text.trim()))
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
