//! The fake must be trustworthy: what it does is compared with rules, and with a real filesystem.

mod cluster;
mod durability;
mod faults;
mod machine;
mod oracle;
mod running;

use std::time::Duration;

use bootlace_engine::port::{Command, Dir, Host};
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;

use super::FakeHost;
use crate::tree::{EntryKind, Snapshot};

fn path(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}

fn dir(host: &FakeHost, text: &str) -> Box<dyn Dir> {
    host.open_dir(&path(text)).unwrap().unwrap()
}

/// Stops a unit as a person would, and as undo does.
fn stop(host: &FakeHost, unit: &str) {
    let argv = ["systemctl", "stop", unit].map(ToOwned::to_owned);
    let within = Duration::from_secs(5);
    let (env, directory, keep) = (vec![], None, 100);
    let command = Command {
        argv: &argv,
        env,
        directory,
        within,
        keep,
        input: None,
    };
    assert_eq!(host.run(&command).unwrap().code, Some(0));
}

fn mode(mode: u32) -> Attributes {
    Attributes::mode(mode)
}

fn sync_dir(host: &FakeHost, text: &str) {
    host.sync_dirs(&[dir(host, text).as_ref()]).unwrap();
}

fn sync_file(host: &FakeHost, folder: &str, name: &str) {
    host.sync_files(&[(dir(host, folder).as_ref(), name)])
        .unwrap();
}

/// Lists the disk on one line: `a=content d/ l->target`, modes only where they are unusual.
fn listing(host: &FakeHost) -> String {
    let entries = Snapshot::of_fake(host, &[]).files;
    let line = entries
        .iter()
        .filter(|(path, _)| path.as_str() != "/")
        .map(|(path, entry)| {
            let (usual, text) = match &entry.kind {
                EntryKind::File(content) => {
                    (0o644, format!("={}", String::from_utf8_lossy(content)))
                }
                EntryKind::Directory => (0o755, "/".into()),
                EntryKind::Link(target) => (0o777, format!("->{target}")),
                EntryKind::Other(what) => (0, what.clone()),
            };
            let odd = if entry.mode == usual {
                String::new()
            } else {
                format!("[{:o}]", entry.mode)
            };
            let owned = if entry.owner.uid == 0 {
                String::new()
            } else {
                format!("@{}", entry.owner.uid)
            };
            format!("{}{text}{odd}{owned}", &path.as_str()[1..])
        });
    line.collect::<Vec<_>>().join(" ")
}
