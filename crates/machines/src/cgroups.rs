//! Control groups: where a machine's processes are counted, limited and found.
//!
//! A machine gets a group of its own in every hierarchy of the host, below the group in which the
//! caller is, so that the caller's limits hold for it too. Whatever runs in these groups belongs to
//! the machine, and nothing else does: that is how processes are found after a crash.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::mounts::{self, Mount};
use crate::processes;
use crate::wait::until;
use crate::{MachineError, Result};

/// The controllers without which containers cannot run in a machine.
const NEEDED: [&str; 4] = ["cpu", "memory", "pids", "devices"];

/// Finds the caller's own group in every hierarchy.
pub(crate) fn own() -> Result<Vec<PathBuf>> {
    of(rustix::process::getpid().as_raw_nonzero().get())
}

/// Finds a process's group in every hierarchy.
pub(crate) fn of(pid: i32) -> Result<Vec<PathBuf>> {
    let path = PathBuf::from(format!("/proc/{pid}/cgroup"));
    let text = fs::read_to_string(&path).map_err(MachineError::file("read", &path))?;
    Ok(groups_of(&text, &mounts::table()?))
}

/// Says which controllers are missing from the first version of control groups, which machines use.
pub(crate) fn missing() -> Result<Vec<&'static str>> {
    let table = mounts::table()?;
    let has = |controller: &str| {
        let v1 = |mount: &&Mount| mount.kind == "cgroup";
        let named = |mount: &Mount| mount.options.split(',').any(|option| option == controller);
        table.iter().filter(v1).any(named)
    };
    Ok(NEEDED
        .into_iter()
        .filter(|controller| !has(controller))
        .collect())
}

/// Joins what the kernel says of a process with where hierarchies are mounted.
fn groups_of(own: &str, table: &[Mount]) -> Vec<PathBuf> {
    let group = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let holds = |mount: &&Mount| match (number, mount.kind.as_str()) {
            ("0", kind) => kind == "cgroup2",
            (_, "cgroup") => controllers
                .split(',')
                .all(|controller| mount.options.split(',').any(|option| option == controller)),
            _ => false,
        };
        let mount = table.iter().find(holds)?;
        // Part of the hierarchy may be mounted; a process outside of that part has no path in it.
        let below = Path::new(path).strip_prefix(&mount.root).ok()?;
        Some(mount.at.join(below))
    };
    own.lines().filter_map(group).collect()
}

/// Makes a group whose parent is there; one that exists is as good.
pub(crate) fn make(group: &Path) -> Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(MachineError::file("make the control group", group)(error));
        }
        _ => {}
    }
    let Some(parent) = group.parent() else {
        return Ok(());
    };
    // A new cpuset holds no processors, and takes no process until it does.
    for name in ["cpuset.cpus", "cpuset.mems"] {
        let (from, to) = (parent.join(name), group.join(name));
        if to.exists() {
            let value = fs::read(&from).map_err(MachineError::file("read", &from))?;
            fs::write(&to, value).map_err(MachineError::file("write", &to))?;
        }
    }
    Ok(())
}

/// Lists the processes in groups and in all groups below them.
pub(crate) fn processes(groups: &[PathBuf]) -> Result<BTreeSet<i32>> {
    let mut found = BTreeSet::new();
    for group in groups {
        for inner in tree(group)? {
            let path = inner.join("cgroup.procs");
            match fs::read_to_string(&path) {
                Ok(text) => found.extend(text.lines().filter_map(|line| line.parse::<i32>().ok())),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(MachineError::file("read", &path)(error)),
            }
        }
    }
    // 0 stands for a process that cannot be seen from here.
    found.remove(&0);
    Ok(found)
}

/// Kills all that runs in groups, and waits until nothing does.
pub(crate) fn kill(groups: &[PathBuf], within: Duration) -> Result<()> {
    for group in groups {
        // One write kills all at once, so that nothing sees its neighbour die and reacts to it.
        let at_once = group.join("cgroup.kill");
        if at_once.exists() {
            match fs::write(&at_once, "1") {
                Err(error) if !is_gone(&error) => {
                    return Err(MachineError::file("write", &at_once)(error));
                }
                _ => {}
            }
        }
    }
    let mut left = BTreeSet::new();
    let ended = until(within, || {
        left = processes(groups)?;
        left.retain(|pid| processes::is_alive(*pid));
        let handles: Vec<_> = left
            .iter()
            .filter_map(|pid| processes::handle(*pid))
            .collect();
        // Between the list and the handle a number may have got a new owner: look once more.
        let still = processes(groups)?;
        for (pid, handle) in &handles {
            if still.contains(pid) {
                processes::kill(handle);
            }
        }
        Ok(left.is_empty().then_some(()))
    })?;
    ended.ok_or_else(|| MachineError::Deadline {
        what: "not all processes of the machine ended".into(),
        within,
        evidence: format!("; these still run: {left:?}"),
    })
}

/// Removes groups with all below them; they must hold no process.
pub(crate) fn remove(groups: &[PathBuf], within: Duration) -> Result<()> {
    let mut left = Vec::new();
    let removed = until(within, || {
        left.clear();
        for group in groups {
            for inner in tree(group)?.iter().rev() {
                match fs::remove_dir(inner) {
                    Err(error) if !is_gone(&error) => {
                        left.push(format!("the control group {}: {error}", inner.display()));
                    }
                    _ => {}
                }
            }
        }
        Ok(left.is_empty().then_some(()))
    })?;
    removed.ok_or(MachineError::LeftOver { what: left })
}

/// Lists a group and all below it, parents first.
fn tree(group: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![group.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(MachineError::file("list", &folder)(error)),
        };
        for entry in entries.map_while(std::result::Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
        found.push(folder);
    }
    Ok(found)
}

/// Tells whether a group vanished while it was looked at.
fn is_gone(error: &io::Error) -> bool {
    let no_device = rustix::io::Errno::NODEV.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(no_device)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(root: &str, at: &str, kind: &str, options: &str) -> Mount {
        Mount {
            root: root.into(),
            at: at.into(),
            kind: kind.into(),
            options: options.into(),
        }
    }

    #[test]
    fn a_process_is_found_in_every_hierarchy() {
        let table = [
            mount("/", "/", "ext4", "rw"),
            mount(
                "/",
                "/sys/fs/cgroup/cpu,cpuacct",
                "cgroup",
                "rw,cpu,cpuacct",
            ),
            mount("/", "/sys/fs/cgroup/systemd", "cgroup", "rw,name=systemd"),
            mount("/part", "/sys/fs/cgroup/memory", "cgroup", "rw,memory"),
            mount("/", "/sys/fs/cgroup/unified", "cgroup2", "rw"),
        ];
        let own = "5:memory:/part/of/it\n4:pids:/\n3:cpu,cpuacct:/a\n2:name=systemd:/\n0::/b\n";
        let expected = [
            "/sys/fs/cgroup/memory/of/it",
            "/sys/fs/cgroup/cpu,cpuacct/a",
            "/sys/fs/cgroup/systemd/",
            "/sys/fs/cgroup/unified/b",
        ];
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(groups_of(own, &table), expected);
    }

    #[test]
    fn a_group_outside_of_the_mounted_part_has_no_path() {
        let table = [mount(
            "/part",
            "/sys/fs/cgroup/memory",
            "cgroup",
            "rw,memory",
        )];
        assert!(groups_of("5:memory:/other\n", &table).is_empty());
    }
}
