//! Room on disks, swap, and what control groups can control.

use std::io;
use std::path::Path;

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::path::TargetPath;

use super::kernel;
use crate::RealHost;
use crate::error::refused;

/// Where the controllers are listed if there is one hierarchy for all, and where if it is beside others.
const UNIFIED: [&str; 2] = [
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/fs/cgroup/unified/cgroup.controllers",
];

/// Returns how many bytes an ordinary process may still write below a path.
pub(super) fn free_bytes(host: &RealHost, path: &TargetPath) -> HostResult<u64> {
    let mut here = Some(path.clone());
    while let Some(path) = here {
        match host.open(&path) {
            Ok(Some((folder, _))) => {
                let free = rustix::fs::fstatvfs(&folder.handle);
                let free = free.map_err(|errno| refused("measure", path.as_str(), errno))?;
                return Ok(free.f_bavail.saturating_mul(free.f_frsize));
            }
            Ok(None) => {}
            // A file counts as what lies in its folder.
            Err(HostError::Io { error, .. }) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(error),
        }
        here = path.parent();
    }
    // There is no root yet: it will be made below the nearest folder that is there.
    let root = host.roots.root();
    let above = root.ancestors().find(|folder| folder.is_dir());
    let free = rustix::fs::statvfs(above.unwrap_or_else(|| Path::new("/")));
    let free = free.map_err(|errno| refused("measure", root.to_string_lossy(), errno))?;
    Ok(free.f_bavail.saturating_mul(free.f_frsize))
}

/// Lists the swap areas in use.
pub(super) fn swap_areas() -> HostResult<Vec<String>> {
    // A kernel without swap does not even have the list.
    Ok(swaps(
        &kernel::read_if_there("/proc/swaps")?.unwrap_or_default(),
    ))
}

fn swaps(table: &str) -> Vec<String> {
    let names = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// Lists the controllers that can be used, of the unified hierarchy and of the older ones.
pub(super) fn cgroup_controllers() -> HostResult<Vec<String>> {
    let mut found = Vec::new();
    for list in UNIFIED {
        let text = kernel::read_if_there(list)?.unwrap_or_default();
        found.extend(text.split_whitespace().map(str::to_owned));
    }
    let table = kernel::read_if_there("/proc/cgroups")?.unwrap_or_default();
    found.extend(enabled(&table));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Lists the controllers that are in a hierarchy of the older kind, and not switched off.
fn enabled(table: &str) -> Vec<String> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let names = rows.filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.as_slice() {
            // The number of a hierarchy is 0 for those of the unified one, or of none at all.
            [name, hierarchy, _, "1"] if *hierarchy != "0" => Some((*name).to_owned()),
            _ => None,
        }
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_areas_are_named_as_the_kernel_does() {
        let table = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                     /dev/dm-1                               partition\t8388604\t0\t-2\n\
                     /swapfile                               file\t\t1024\t0\t-3\n";
        assert_eq!(swaps(table), ["/dev/dm-1", "/swapfile"]);
        assert_eq!(swaps("Filename Type\n"), Vec::<String>::new());
        assert_eq!(swaps(""), Vec::<String>::new());
    }

    #[test]
    fn controllers_that_are_switched_off_or_elsewhere_do_not_count() {
        let table = "#subsys_name\thierarchy\tnum_cgroups\tenabled\n\
                     cpuset\t3\t5\t1\nmemory\t4\t9\t0\nio\t0\t1\t1\npids\t7\t1\t1\n";
        assert_eq!(enabled(table), ["cpuset", "pids"]);
    }

    #[test]
    fn this_machine_has_controllers() {
        let found = cgroup_controllers().unwrap();
        assert!(found.iter().any(|name| name == "memory"), "{found:?}");
    }
}
