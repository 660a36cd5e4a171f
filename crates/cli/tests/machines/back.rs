//! Giving a machine back: before the hand-over by `undo`, after it by `reset`.

use std::path::Path;

use bootlace_machines::{BOOTLACE, Bind};

use crate::snapshot::Snapshot;
use crate::world::{Node, World};

/// What runs, as far as it does not change by itself.
const STANDING: [&str; 5] = [
    "file /etc",
    "content of /etc",
    "file /opt",
    "content of /opt",
    "unit ",
];

/// Where the machine sees the scripts.
const SCRIPTS: &str = "/opt/scripts";

#[test]
#[ignore = "slow: two clusters on a machine, one after the other"]
fn a_machine_is_given_back_as_it_was() {
    let world = World::new();
    // Without images, so that those that a run brings are seen to go.
    let mut spec = world.spec("m1", 11);
    spec.images = None;
    spec.binds.push(scripts());
    let node = world.create(spec);
    node.boot();
    let bare = Snapshot::of(&node);

    node.ends_with(0, &["run", "cluster", "--to", "verify-api"]);
    let differences = bare.differences(&Snapshot::of(&node));
    for expected in ["image ", "process etcd", "port tcp", "cgroup "] {
        let seen = differences.iter().any(|line| line.contains(expected));
        assert!(seen, "the look misses {expected:?}: {differences:#?}");
    }
    node.ends_with(0, &["undo", "cluster"]);
    bare.must_be_back(&node, "undo");
    no_secret_is_kept(&node);
    node.ends_with(0, &["undo", "cluster"]);

    // By hand and stage by stage, as one who learns does it; then the rest at once.
    for script in ["render-all.sh", "start-bootstrap.sh"] {
        node.sh(&format!("BOOTLACE={BOOTLACE} {SCRIPTS}/{script}"));
    }
    assert_eq!(node.step("start-control-plane"), "done");
    assert_eq!(node.step("verify-api"), "todo");
    node.ends_with(0, &["run", "cluster"]);
    assert!(node.is_ready());
    undo_is_refused(&node);
    node.ends_with(9, &["reset"]);
    node.ends_with(0, &["reset", "--yes"]);
    bare.must_be_back(&node, "reset");
    no_secret_is_kept(&node);
}

/// Shows the machine the scripts of the repository.
fn scripts() -> Bind {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    Bind {
        from: from.canonicalize().unwrap(),
        to: SCRIPTS.into(),
        read_only: true,
    }
}

/// Past the hand-over undo says so, and changes nothing.
fn undo_is_refused(node: &Node) {
    let journals = "find /var/lib/bootlace -type f -exec sha256sum {} + | sort";
    let before = (Snapshot::of(node).only(&STANDING), node.sh(journals));
    let refused = node.ends_with(9, &["undo", "cluster"]);
    for word in ["hand-over", "bootlace reset"] {
        assert!(refused.stderr.contains(word), "{word}: {}", refused.stderr);
    }
    let after = Snapshot::of(node).only(&STANDING);
    assert_eq!(before.0.differences(&after), Vec::<String>::new());
    assert_eq!(before.1, node.sh(journals));
    assert!(node.is_ready());
}

/// Before-images may be keys; none of them outlives the run that it was kept for.
fn no_secret_is_kept(node: &Node) {
    let kept = node.sh("find /var/lib/bootlace -path '*/blobs/*' -type f");
    assert_eq!(kept, "");
}
