//! From a bare machine to a cluster and back.

use crate::world::World;

#[test]
#[ignore = "slow: a whole cluster on a machine"]
fn a_machine_becomes_a_cluster() {
    let world = World::new();
    let node = world.node("m1", 11);
    let finished = node.ends_with(0, &["run", "cluster"]);
    eprintln!("{}", finished.stderr);
    let nodes = node.kubectl(&["get", "nodes", "--no-headers"]);
    assert!(nodes.contains(" Ready "), "{nodes}");
}
