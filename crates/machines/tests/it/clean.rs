//! Nothing is left behind, whoever crashed.

use std::fs;
use std::path::{Path, PathBuf};

use bootlace_machines::{MachineError, Machines};

use crate::rig::{Rig, SOON, mounts_below, shell};

/// Lists control groups whose name has a part, wherever they are.
fn groups(part: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let path = entry.path();
                if entry.file_name().to_string_lossy().contains(part) {
                    found.push(path.clone());
                }
                open.push(path);
            }
        }
    }
    found
}

/// Lists processes whose command line has a part.
fn processes(part: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(part)).collect()
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn clean_removes_all_that_a_crashed_process_left() {
    let rig = Rig::new();
    let folder = rig.machines.folder().to_owned();
    let machine = rig.boot("m1", 11);
    shell(
        &machine,
        "systemd-run --unit=deaf sh -c 'trap \"\" TERM; while :; do sleep 1; done'",
    );
    rig.machines.create(rig.spec("m2", 12)).unwrap();

    let record = fs::read_to_string(folder.join("lab.json")).unwrap();
    let id = record
        .split("bootlace-")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    assert!(
        mounts_below(&folder).len() >= 3,
        "{:?}",
        mounts_below(&folder)
    );
    assert!(groups(&id).len() >= 5);
    assert!(!processes(&id).is_empty());

    // Whoever made the machines is gone; only the folder is known.
    Machines::open(&folder).unwrap().clean().unwrap();
    assert_eq!(mounts_below(&folder), [""; 0]);
    assert!(groups(&id).is_empty(), "{:?}", groups(&id));
    assert_eq!(processes(&id), [""; 0]);
    assert!(!folder.exists());
    let leftover = Path::new("/run/systemd/nspawn/propagate").join(format!("bootlace-{id}-m1"));
    assert!(!leftover.exists());
}

#[test]
#[ignore = "slow: needs root and `lab prepare`"]
fn clean_finds_mounts_without_any_record_and_spares_what_others_put_there() {
    let rig = Rig::new();
    let folder = rig.machines.folder().to_owned();
    rig.machines.create(rig.spec("m1", 11)).unwrap();
    fs::remove_file(folder.join("machines/m1/machine.json")).unwrap();
    fs::write(folder.join("notes"), "mine").unwrap();
    rig.machines.clean().unwrap();
    assert_eq!(mounts_below(&folder), [""; 0]);
    assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), "mine");
    fs::remove_file(folder.join("notes")).unwrap();
}

#[test]
#[ignore = "slow: boots machines; needs root and `lab prepare`"]
fn one_machine_is_removed_and_its_neighbour_runs_on() {
    let rig = Rig::new();
    let (first, second) = (rig.boot("m1", 11), rig.boot("m2", 12));
    let name = first.name().clone();
    first.remove().unwrap();
    let gone = rig.machines.machine(&name).unwrap_err();
    assert!(matches!(gone, MachineError::Unknown { .. }), "{gone}");
    assert_eq!(second.run(&["true"], SOON).unwrap().code, 0);
    rig.boot("m1", 11);
}

#[test]
#[ignore = "slow: needs root and `lab prepare`"]
fn what_cannot_be_a_machine_leaves_nothing() {
    let rig = Rig::new();
    let mut spec = rig.spec("m1", 1);
    assert!(
        rig.machines.create(spec.clone()).is_err(),
        "the bridge's address"
    );
    spec = rig.spec("m1", 11);
    spec.layers.push("/no/such/layer".into());
    assert!(rig.machines.create(spec.clone()).is_err());
    spec = rig.spec("m1", 11);
    spec.files.push(bootlace_machines::SeedFile {
        path: "/var/run/escaped".into(),
        mode: 0o600,
        content: Vec::new(),
    });
    let refused = rig.machines.create(spec).unwrap_err();
    assert!(
        refused.to_string().contains("a link is on the way"),
        "{refused}"
    );
    assert_eq!(mounts_below(rig.machines.folder()), [""; 0]);
    assert_eq!(rig.machines.list().unwrap().len(), 0);
    rig.machines.create(rig.spec("m1", 11)).unwrap();
}
