//! bootlace killed inside its steps: `resume` goes on, and the cluster still becomes ready.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bootlace_testkit::crash::Sample;
use bootlace_testkit::follow::{Journal, Seen};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{CALL, Node, World};

/// The step that waits longest, so that a kill is inside it for certain.
const LASTING: [&str; 1] = ["start-control-plane"];
/// How many of the other steps are tried without a soak.
const TRIED: u64 = 2;
/// How long it may take until all that a cluster has is seen to be well.
const SETTLES: Duration = Duration::from_secs(30);
/// How often the journal is looked at.
const LOOKS: Duration = Duration::from_micros(100);
/// The records of a step behind which it is killed: one of them is chosen.
const MOMENTS: [&str; 3] = ["step-planned", "intent", "done"];

/// Calls bootlace and kills it as soon as its journal holds a kind of record of a step, or the step is over.
///
/// The journal is read from outside: the way into a machine takes longer than most steps.
fn kill_in(node: &Node, verb: &str, step: &str, moment: &str) -> Seen {
    let mut journal = Journal::behind_now(&state_of(node)).unwrap();
    let mut child = node.start(&[verb, "cluster", "--progress", "plain", "-q"]);
    let (began, id) = (Instant::now(), format!("cluster/{step}"));
    let mut seen = Seen::default();
    loop {
        journal.read_on(&id, &mut seen).unwrap();
        if seen.has(moment) || seen.is_over() {
            break;
        }
        if child.try_wait().unwrap().is_some() {
            let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            unreachable!("{verb} ended before {step} had begun: {said}");
        }
        assert!(began.elapsed() < CALL, "{step} never came: {seen:?}");
        std::thread::sleep(LOOKS);
    }
    if let Some(bootlace) = inner(child.id()) {
        match kill_process(bootlace, Signal::KILL) {
            // It may have ended by itself in the meantime.
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => unreachable!("cannot kill bootlace: {error}"),
        }
    }
    child.wait().unwrap();
    journal.read_on(&id, &mut seen).unwrap();
    seen
}

/// Returns the state folder, seen from outside through the machine's first process.
pub(crate) fn state_of(node: &Node) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root/var/lib/bootlace", leader(node)))
}

/// Returns the id of the machine's first process.
pub(crate) fn leader(node: &Node) -> String {
    let enter = node.machine.command(&["true"]).unwrap();
    let mut words = enter.get_args().map(|word| word.to_string_lossy());
    let leader = words.find_map(|word| Some(word.strip_prefix("--target=")?.to_owned()));
    leader.unwrap()
}

/// Returns the process inside the machine of a program that was started from outside.
pub(crate) fn inner(outer: u32) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

#[test]
#[ignore = "slow: a cluster for each step that is killed"]
fn a_kill_in_any_step_is_resumed() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the choice", sample.seed);
    let steps = steps(&world.node("explains", 10));
    assert_eq!(steps.len(), 23);
    let chosen = choose(&mut sample, &steps);
    // A soak gives each step a machine of its own; a sample kills one run several times.
    let kills_each = if sample.soak { 1 } else { chosen.len() };
    let (mut kills, mut inside) = (0, 0);
    for steps in chosen.chunks(kills_each) {
        let node = world.node(&format!("m{kills}"), 11);
        let mut after = String::new();
        for step in steps {
            if ["done", "skipped"].contains(&node.step(step).as_str()) {
                // Steps that do not need each other run side by side: it was quicker.
                eprintln!("{step} was over when another one was killed");
                continue;
            }
            let moment = MOMENTS[usize::try_from(sample.roll() % 3).unwrap()];
            let verb = if after.is_empty() { "run" } else { "resume" };
            let seen = kill_in(&node, verb, step, moment);
            let place = if seen.is_inside() { "inside" } else { "behind" };
            eprintln!(
                "{step}, at its first {moment}: killed {place} it, {:?}",
                seen.kinds
            );
            let may_be_over = !LASTING.contains(&step.as_str());
            assert!(seen.is_inside() || may_be_over, "{step}: {seen:?}");
            let status = node.status();
            // A run that was closed is over, however its process ended.
            let expected = if seen.closed {
                "succeeded"
            } else {
                "interrupted"
            };
            assert_eq!(status["state"], expected, "{step}: {seen:?} {status:#}");
            after.push_str(step);
            after.push(' ');
            kills += 1;
            inside += u64::from(seen.is_inside());
        }
        goes_on(&node, &after);
        node.machine.remove().unwrap();
    }
    bootlace_test_notes::tried("kills on a machine", kills, sample.seed);
    bootlace_test_notes::tried("of them inside a step", inside, sample.seed);
    assert!(inside > 0, "none of {kills} kills came inside a step");
}

/// Chooses one of the steps that last, and some of the others; all in a soak.
fn choose(sample: &mut Sample, steps: &[String]) -> Vec<String> {
    let (lasting, others): (Vec<&String>, Vec<&String>) = steps
        .iter()
        .partition(|step| LASTING.contains(&step.as_str()));
    assert_eq!(lasting.len(), LASTING.len(), "{steps:?}");
    let mut chosen = vec![];
    for (from, most) in [(&lasting, 1), (&others, TRIED)] {
        let positions = sample.choose_below(from.len() as u64, most);
        chosen.extend(
            positions
                .iter()
                .map(|at| from[usize::try_from(*at).unwrap()]),
        );
    }
    // In the order of the sequence, so that a run can be killed in one after the other.
    let ordered = steps.iter().filter(|step| chosen.contains(step));
    ordered.cloned().collect()
}

/// Resumes, and looks whether all that a cluster has is there.
pub(crate) fn goes_on(node: &Node, after: &str) {
    node.ends_with(0, &["resume", "cluster"]);
    assert_eq!(node.status()["state"], "succeeded", "after {after}");
    node.becomes_ready();
    // A probe may come too late on a computer that is busy, and then be right again.
    node.becomes_verified(after, SETTLES);
    let pods = node.kubectl(&[
        "-n",
        "kube-system",
        "get",
        "pods",
        "-l",
        "tier=control-plane",
    ]);
    // The kubelet shows the pod of etcd only when it looks at it again, which may be a minute later;
    // that etcd is well was just verified.
    for component in [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
    ] {
        let runs = |line: &str| line.starts_with(component) && line.contains("1/1");
        assert!(pods.lines().any(runs), "after {after}: {component}: {pods}");
    }
}

fn steps(node: &Node) -> Vec<String> {
    let explained = node.ends_with(0, &["explain", "cluster", "-o", "json"]);
    let explained: serde_json::Value = serde_json::from_str(&explained.stdout).unwrap();
    let steps = explained["steps"].as_array().unwrap();
    let id = |step: &serde_json::Value| step["id"].as_str().unwrap().to_owned();
    let steps = steps.iter().map(id).collect();
    node.machine.clone().remove().unwrap();
    steps
}
