//! What the cluster is made of dies in the middle of the hand-over.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bootlace_testkit::crash::Sample;
use bootlace_testkit::follow::{Journal, Seen};
use rustix::process::{Pid, Signal, kill_process};

use crate::killed::{goes_on, inner, leader, state_of};
use crate::world::{CALL, Node, World};

/// What is killed.
const COMPONENTS: [&str; 3] = ["containerd", "etcd", "kube-apiserver"];
/// How many of them are tried without a soak.
const TRIED: u64 = 1;
/// How often it is tried to meet the step, which is short.
const TRIES: u32 = 4;
/// How often the journal is looked at.
const LOOKS: Duration = Duration::from_micros(100);

#[test]
#[ignore = "slow: a cluster for each component that dies"]
fn a_component_that_dies_during_the_hand_over_is_waited_for() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the choice", sample.seed);
    let chosen = sample.choose_below(COMPONENTS.len() as u64, TRIED);
    for position in &chosen {
        let component = COMPONENTS[usize::try_from(*position).unwrap()];
        let met = (0..TRIES).any(|number| {
            let node = world.node(&format!("m{position}-{number}"), 11);
            let met = dies_during_hand_over(&node, component);
            goes_on(&node, component);
            node.machine.remove().unwrap();
            met
        });
        assert!(met, "{component} never died during the hand-over");
    }
    bootlace_test_notes::tried(
        "components that die during hand-over",
        chosen.len() as u64,
        sample.seed,
    );
}

/// Kills a component while the step works; tells whether it did.
fn dies_during_hand_over(node: &Node, component: &str) -> bool {
    node.ends_with(0, &["run", "cluster", "--to", "wait-version-operator"]);
    let victims = processes(node, component);
    assert!(!victims.is_empty(), "{component} does not run");
    let mut journal = Journal::behind_now(&state_of(node)).unwrap();
    let mut child = node.start(&["run", "cluster", "--progress", "plain"]);
    let (began, mut seen) = (Instant::now(), Seen::default());
    while !seen.has("step-started") {
        assert!(began.elapsed() < CALL, "the hand-over never came");
        std::thread::sleep(LOOKS);
        journal.read_on("cluster/hand-over", &mut seen).unwrap();
    }
    // The step stands still while the component dies, so that it is certain which came first.
    let (bootlace, nsenter) = (inner(child.id()), Pid::from_child(&child));
    let signal = |signal| bootlace.map(|pid| kill_process(pid, signal));
    // nsenter stops itself when it sees its child stopped, and would then have to be continued, too.
    kill_process(nsenter, Signal::STOP).unwrap();
    signal(Signal::STOP);
    journal.read_on("cluster/hand-over", &mut seen).unwrap();
    let is_inside = seen.is_inside();
    for victim in victims {
        kill_process(victim, Signal::KILL).unwrap();
    }
    signal(Signal::CONT);
    kill_process(nsenter, Signal::CONT).unwrap();
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    let status = child.wait().unwrap();
    eprintln!(
        "{component} died, inside the step: {is_inside}; {status} after {:?}",
        began.elapsed()
    );
    assert!(status.success(), "{component}: {said}");
    is_inside
}

/// Lists the processes of a name in the machine's own network, where the control plane lives.
fn processes(node: &Node, name: &str) -> Vec<Pid> {
    let network = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let ours = network(&leader(node));
    assert!(ours.is_some());
    let all = std::fs::read_dir("/proc").unwrap();
    let all = all.map(|entry| entry.unwrap().path());
    let fits = |path: &PathBuf| {
        let process = path.file_name().unwrap().to_string_lossy().into_owned();
        let called = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        called.trim() == name && network(&process) == ours
    };
    let pid = |path: PathBuf| Pid::from_raw(path.file_name()?.to_str()?.parse().ok()?);
    all.filter(fits).filter_map(pid).collect()
}
