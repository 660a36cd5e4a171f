//! bootlace killed in its steps: `resume` goes on, and the cluster becomes ready all the same.

use std::time::Duration;

use bootlace_machines::BOOTLACE;
use bootlace_testkit::crash::Sample;

use crate::world::{Node, World};

/// How many steps are tried without a soak.
const TRIED: u64 = 3;
/// How long it may take until all that a cluster has is seen to be well.
const SETTLES: Duration = Duration::from_secs(30);
/// Within how many events of a step it is killed.
const EVENTS: u64 = 4;

/// Runs bootlace, whose events are read as they come, and kills it at an event of a step: the one that is
/// asked for, or the last one, if there are fewer. Prints the event, then how bootlace ended.
///
/// It is done inside of the machine, because some steps are shorter than the way to it.
const KILL_AT: &str = r#"
events=$(mktemp -u)
mkfifo "$events"
"$1" "$2" cluster --progress json >/dev/null 2>"$events" &
bootlace=$!
left=$4
while IFS= read -r line; do
    case $line in
        *'"step":"cluster/'"$3"'"'*)
            case $line in *step-done* | *step-skipped*) left=0 ;; esac
            if [ "$left" -le 0 ]; then
                kill -KILL "$bootlace"
                echo "$line"
                break
            fi
            left=$((left - 1)) ;;
    esac
done <"$events"
rm "$events"
wait "$bootlace" 2>/dev/null
echo "$?"
"#;

/// How bootlace was killed.
#[derive(Debug)]
pub(crate) struct Killed {
    /// The event at which it was.
    pub(crate) event: String,
    /// Whether it had ended before.
    pub(crate) too_late: bool,
}

/// Calls bootlace and kills it at an event of a step, counted from nought.
pub(crate) fn kill_at(node: &Node, verb: &str, step: &str, event: u64) -> Killed {
    let event = event.to_string();
    let printed = node.must(&["sh", "-c", KILL_AT, "sh", BOOTLACE, verb, step, &event]);
    let lines: Vec<&str> = printed.lines().collect();
    let [event, code] = lines.as_slice() else {
        unreachable!("{step} had no event, or the machine does not kill: {printed}")
    };
    assert!(["137", "0"].contains(code), "{printed}");
    Killed {
        event: (*event).to_owned(),
        too_late: *code == "0",
    }
}

#[test]
#[ignore = "slow: a cluster for each step that is killed"]
fn a_kill_in_any_step_is_resumed() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the choice", sample.seed);
    let steps = steps(&world.node("explains", 10));
    assert_eq!(steps.len(), 23);
    let chosen = sample.choose_below(steps.len() as u64, TRIED);
    // A soak gives each step a machine of its own; a sample kills one run several times.
    let kills_each = if sample.soak { 1 } else { chosen.len() };
    for kills in chosen.chunks(kills_each) {
        let node = world.node(&format!("m{}", kills[0]), 11);
        let mut after = String::new();
        for position in kills {
            let step = &steps[usize::try_from(*position).unwrap()];
            let event = sample.roll() % EVENTS;
            if node.step(step) == "done" {
                // Steps that do not need each other run side by side: it was quicker.
                eprintln!("{step} was done when another one was killed");
                continue;
            }
            let verb = if after.is_empty() { "run" } else { "resume" };
            let killed = kill_at(&node, verb, step, event);
            let shown: String = killed.event.chars().take(120).collect();
            eprintln!("{step}, event {event}: {shown}");
            let status = node.status();
            let is_over = killed.too_late && steps.last() == Some(step);
            let expected = if is_over { "succeeded" } else { "interrupted" };
            assert_eq!(status["state"], expected, "{step}: {status:#}");
            after.push_str(step);
            after.push(' ');
        }
        goes_on(&node, &after);
        node.machine.remove().unwrap();
    }
}

/// Resumes, and looks whether all that a cluster has is there.
pub(crate) fn goes_on(node: &Node, after: &str) {
    node.ends_with(0, &["resume", "cluster"]);
    assert_eq!(node.status()["state"], "succeeded", "after {after}");
    node.becomes_ready();
    // A probe may come too late on a computer that is busy, and then be right again.
    let holds = format!("all holds after {after}");
    node.wait(&holds, SETTLES, |node| {
        node.bootlace(&["verify", "cluster"]).code == 0
    });
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
