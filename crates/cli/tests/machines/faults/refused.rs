//! Faults that are seen before anything is begun: nothing is touched.

use super::certificates::{FUTURE, PAST, issued, keep, put_back};
use super::{fails_at_once, works_now};
use crate::snapshot::Snapshot;
use crate::world::{Node, World};

/// What would be different if something had been started.
const STARTED: [&str; 5] = [
    "unit ",
    "process ",
    "container ",
    "file /etc/kubernetes",
    "file /var/lib/",
];

/// A config beside the machine's own, which is merged into it.
const MORE: &str = "/etc/bootlace/more.yaml";

fn configure(node: &Node, spec: &str) {
    let header = "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n";
    node.write(MORE, &format!("{header}spec:\n{spec}"));
}

#[test]
#[ignore = "slow: a control plane on a machine"]
fn what_cannot_work_is_refused_before_anything_starts() {
    let world = World::new();
    let node = world.node("m1", 11);
    data_of_another_etcd(&node);
    a_port_in_use(&node);
    a_manifest_that_is_none(&node);
    a_release_that_was_changed(&node);
    certificates_out_of_date(&node);
    works_now(&node, &["resume", "cluster"]);
}

/// Looks whether something was started or left by what is done in between.
fn starts_nothing(node: &Node, act: impl FnOnce()) {
    let before = Snapshot::of(node).only(&STARTED);
    act();
    let after = Snapshot::of(node).only(&STARTED);
    assert_eq!(before.differences(&after), Vec::<String>::new());
}

fn data_of_another_etcd(node: &Node) {
    node.sh("mkdir -p /var/lib/etcd/member/snap && echo data > /var/lib/etcd/member/snap/db");
    starts_nothing(node, || {
        let says = ["DirAvailable--var-lib-etcd", "/var/lib/etcd", "member"];
        fails_at_once(node, 4, &["run", "cluster"], &says);
    });
    assert_eq!(node.sh("cat /var/lib/etcd/member/snap/db"), "data\n");
    node.sh("rm -r /var/lib/etcd");
}

fn a_port_in_use(node: &Node) {
    node.listen(6443);
    starts_nothing(node, || {
        let says = ["Port-6443", "systemd-socket"];
        fails_at_once(node, 4, &["run", "cluster"], &says);
    });
    node.sh("systemctl stop listener");
}

fn a_manifest_that_is_none(node: &Node) {
    node.write("/etc/bootlace/mine/10-mine.yaml", "kind: [ConfigMap\n");
    configure(node, "  manifests: [/etc/bootlace/mine]\n");
    starts_nothing(node, || {
        let says = ["10-mine.yaml", ":1:"];
        fails_at_once(node, 3, &["run", "cluster"], &says);
    });
    node.write(
        "/etc/bootlace/mine/10-mine.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n",
    );
    node.ends_with(0, &["resume", "cluster", "--to", "render-machine-config"]);
    node.ends_with(0, &["undo", "cluster"]);
    node.sh(&format!("rm {MORE}"));
}

fn a_release_that_was_changed(node: &Node) {
    let other = "0".repeat(64);
    configure(
        node,
        &format!("  release: {{digest: \"sha256:{other}\"}}\n"),
    );
    starts_nothing(node, || {
        fails_at_once(node, 9, &["run", "cluster"], &["release", &other]);
    });
    node.sh(&format!("rm {MORE}"));
    // The config was changed since, which has to be meant.
    let words = ["--to", "render-machine-config"];
    let changed = node.bootlace(&[["resume", "cluster"], words].concat());
    assert_ne!(changed.code, 0, "{changed:#?}");
    assert!(changed.stderr.contains("--replan"), "{}", changed.stderr);
    node.ends_with(
        0,
        &[&["resume", "cluster", "--replan"], words.as_slice()].concat(),
    );
    node.ends_with(0, &["undo", "cluster"]);
}

fn certificates_out_of_date(node: &Node) {
    node.ends_with(0, &["run", "cluster", "--to", "render-machine-config"]);
    for (time, says) in [(PAST, "expired"), (FUTURE, "not valid")] {
        keep(node, "apiserver.crt");
        node.sh(&issued("apiserver", "/opt/bootlace/tls/ca", time));
        starts_nothing(node, || {
            let says = ["Clock", "apiserver.crt", says];
            fails_at_once(node, 4, &["run", "cluster"], &says);
        });
        put_back(node, "apiserver.crt");
    }
}
