//! Real Ignition writes what a machine gets that will run a layered image, and nothing that is not
//! listed for the first boot to find.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::pointer::Joining;

/// The image that the pool's machines move to.
const IMAGE: &str =
    "registry.example/os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Lists what is below a folder of the machine, but for folders.
fn found(joining: &Joining, root: &str) -> BTreeSet<String> {
    let text = joining
        .node
        .sh(&format!("cd {root} && find . -mindepth 1 ! -type d"));
    text.lines()
        .map(|line| line.trim_start_matches('.').to_owned())
        .collect()
}

/// Lists the paths of a record whose entries have a kind.
fn listed(record: &Value, kind: &str) -> BTreeSet<String> {
    let written = record["spec"]["written"].as_array().unwrap();
    let written = written.iter().filter(|entry| entry["kind"] == kind);
    written
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "slow: a machine"]
fn ignition_writes_what_a_layered_machine_needs_and_every_path_is_listed() {
    let joining = Joining::new();
    let place = joining
        .assets
        .join("mco-bootstrap/machine-pools/worker.yaml");
    let mut pool: Value = serde_saphyr::from_str(&fs::read_to_string(&place).unwrap()).unwrap();
    pool["spec"]["desiredImage"] = json!(IMAGE);
    fs::write(&place, pool.to_string()).unwrap();
    let server = joining.serve("layered", &joining.assets.join("auth/tokens.yaml"));
    let pointer = joining.asset("pointer/worker.ign");
    let pointer = pointer.replace("/config/worker", "/layered/worker");
    let finished = joining.boots("layered", &pointer);
    assert_eq!(finished.code, 0, "{finished:#?}");
    assert_eq!(server.at_least(1), [200]);

    let root = "/var/tmp/layered/root";
    let record = joining
        .node
        .sh(&format!("cat {root}/etc/bootlace/layered.json"));
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["spec"]["image"], IMAGE);
    let (files, links) = (listed(&record, "file"), listed(&record, "link"));
    let on_disk = found(&joining, root);
    let unlisted: Vec<&String> = on_disk.difference(&files).collect();
    assert!(unlisted.is_empty(), "{unlisted:?} are not in the record");
    let missing: Vec<&String> = files.difference(&on_disk).collect();
    // This one is left to those who pack Ignition.
    assert!(
        missing
            .iter()
            .all(|path| *path == "/etc/.ignition-result.json"),
        "{missing:?} were not written"
    );
    let mode = joining
        .node
        .sh(&format!("stat -c %a {root}/etc/bootlace/layered.json"));
    assert_eq!(mode, "600\n");

    // Systemd reads the preset at the first boot; the links that it then makes are listed, too.
    let units = "bootlace-pull.service bootlace-first-boot.service";
    joining
        .node
        .sh(&format!("systemctl --root={root} preset {units}"));
    let enabled: BTreeSet<String> = found(&joining, root)
        .difference(&on_disk)
        .cloned()
        .collect();
    assert_eq!(enabled, links);
    let errors = joining.node.sh(&format!(
        "cd {root}/etc/systemd/system && systemd-analyze verify --man=no {units} 2>&1 | \
         grep -vE 'not executable|Unit .* not found' || true"
    ));
    assert_eq!(errors, "", "systemd does not understand the units");
}
