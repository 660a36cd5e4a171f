//! `up` that is interrupted, killed alone, and attached to.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::life::Local;
use crate::world::bootlace;

/// How long something may take on a busy computer.
const SOON: Duration = Duration::from_mins(3);

/// An `up` that works, in a process group of its own, as a shell starts it on a terminal.
struct Started {
    child: Child,
    printed: PathBuf,
}

impl Started {
    fn begin(local: &Local) -> Self {
        let printed = local.path("printed");
        let file = File::create(&printed).unwrap();
        let mut up = local.call(&["up", "--progress", "plain"]);
        let up = up.process_group(0).stdin(Stdio::null());
        let up = up.stdout(file.try_clone().unwrap()).stderr(file);
        let child = up.spawn().unwrap();
        Self { child, printed }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.printed).unwrap()
    }

    fn says(&self, text: &str) {
        until(text, || self.said().contains(text));
    }

    /// Waits for the end, which must be that of a run that was stopped.
    fn ends_stopped(mut self, local: &Local) {
        until("it ends", || self.child.try_wait().unwrap().is_some());
        let said = self.said();
        assert_eq!(self.child.wait().unwrap().code(), Some(7), "{said}");
        let state = local.path("").display().to_string();
        let next = format!("`bootlace up --state {}", state.trim_end_matches('/'));
        assert!(said.replace("\n          ", " ").contains(&next), "{said}");
        assert_eq!(run_state(local), "interrupted");
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SOON, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the state of the run inside the machine.
fn run_state(local: &Local) -> String {
    let status = local.machine().map(|node| node.status());
    let state = status.and_then(|status| Some(status["state"].as_str()?.to_owned()));
    state.unwrap_or_default()
}

#[test]
#[ignore = "slow: a cluster that is stopped and goes on, again and again"]
fn up_stops_at_a_safe_place_and_attaches_to_a_run_that_was_left_alone() {
    let local = Local::new();
    // Killed alone, it leaves the run inside behind.
    let mut killed = Started::begin(&local);
    killed.says("prepare-assets");
    kill_process(killed.pid(), Signal::KILL).unwrap();
    killed.child.wait().unwrap();
    assert_eq!(run_state(&local), "running");

    // This computer has no run of its own; what it is told to type asks where there is one.
    let status = local.call(&["status", "-o", "json"]).output().unwrap();
    assert_eq!(status.status.code(), Some(4), "{status:?}");
    let fault: serde_json::Value = serde_json::from_slice(&status.stderr).unwrap();
    let hint = fault["error"]["hints"][0].as_str().unwrap();
    let line = hint.split('`').nth(1).unwrap();
    let program = bootlace();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut ask = Command::new("sh");
    let asked = ask.args(["-c", line]).env("PATH", path).output().unwrap();
    let said = String::from_utf8(asked.stdout).unwrap();
    assert!(said.contains("prepare-assets"), "{line}: {said}");

    // That is a cluster that comes up, so `down` asks before it removes it.
    let down = local.call(&["down"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(down.stderr).unwrap();
    assert_eq!(down.status.code(), Some(9), "{said}");
    assert!(said.contains("bootlace down --yes --state"), "{said}");
    assert_eq!(run_state(&local), "running");

    // A terminal interrupts the whole group of the `up` that follows it.
    let attached = Started::begin(&local);
    attached.says("attached to process");
    attached.says("start-control-plane");
    kill_process_group(attached.pid(), Signal::INT).unwrap();
    attached.ends_stopped(&local);

    // Others may know of `up` alone.
    for signal in [Signal::INT, Signal::TERM] {
        let up = Started::begin(&local);
        up.says("goes on");
        kill_process(up.pid(), signal).unwrap();
        up.ends_stopped(&local);
    }

    let up = local.call(&["up", "-o", "json"]).output().unwrap();
    let said = String::from_utf8(up.stderr).unwrap();
    assert!(up.status.success(), "{said}");
    let view: serde_json::Value = serde_json::from_slice(&up.stdout).unwrap();
    let kubeconfig = local.path("up/kubeconfig").display().to_string();
    let expected = serde_json::json!({"kubeconfig": kubeconfig, "in": "machine"});
    assert_eq!(view, expected);
    let down = local.call(&["down"]).stdin(Stdio::null()).output().unwrap();
    assert!(down.status.success(), "{down:?}");
    assert!(!local.path("up").exists());
}
