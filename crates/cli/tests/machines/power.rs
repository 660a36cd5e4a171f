//! Power cuts: the machine ends at once, boots again, and the cluster comes to life.

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use bootlace_testkit::crash::Sample;

use crate::killed::goes_on;
use crate::world::{Node, World};

/// Within how many events of the step the power is cut.
const EVENTS: u64 = 8;
/// How long the API may take to come back by itself.
const COMES_BACK: Duration = Duration::from_mins(2);

#[test]
#[ignore = "slow: a cluster whose machine loses its power"]
fn a_power_cut_is_resumed_while_the_control_plane_starts_and_survived_afterwards() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the moment", sample.seed);
    let chosen = sample.choose_below(EVENTS, 1);
    let cuts = chosen.len() as u64 + 1;
    let mut chosen = chosen.into_iter().peekable();
    while let Some(event) = chosen.next() {
        let node = world.node(&format!("m{event}"), 11);
        cut_while_it_starts(&node, event);
        if chosen.peek().is_none() {
            cut_when_it_runs(&node);
        }
        node.machine.remove().unwrap();
    }
    bootlace_test_notes::tried("power cuts of machines", cuts, sample.seed);
}

/// Cuts the power at an event of the step, boots, and goes on.
fn cut_while_it_starts(node: &Node, event: u64) {
    let mut bootlace = node.start(&["run", "cluster", "--progress", "json"]);
    let lines = BufReader::new(bootlace.stderr.take().unwrap()).lines();
    let of_step = |line: &String| line.contains(r#""step":"cluster/start-control-plane""#);
    let mut events = lines.map_while(Result::ok).filter(of_step);
    let at = events.nth(usize::try_from(event).unwrap());
    node.machine.kill().unwrap();
    bootlace.wait().unwrap();
    eprintln!("the power was cut at {}", at.unwrap());
    node.boot();
    assert_eq!(node.status()["state"], "interrupted");
    goes_on(node, "a power cut");
}

/// Cuts the power of a finished cluster, which comes back by itself.
fn cut_when_it_runs(node: &Node) {
    node.kubectl(&["create", "configmap", "kept", "--from-literal=key=value"]);
    node.machine.kill().unwrap();
    node.boot();
    node.wait("the API answers again", COMES_BACK, Node::is_ready);
    let kept = node.kubectl(&["get", "configmap", "kept", "-o", "jsonpath={.data.key}"]);
    assert_eq!(kept, "value");
    node.becomes_verified("a power cut", COMES_BACK);
    node.ends_with(0, &["run", "cluster"]);
}
