//! Runs that are stopped: at a question, and by a signal.

use std::io::{Read as _, Write as _};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Place, code};

const RUN: &str = "run cluster --to release-info --pause";

fn answered(place: &Place, answers: &str) -> Output {
    let mut child = begin(place);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(answers.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn begin(place: &Place) -> Child {
    let mut command = place.command(RUN);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn q_stops_and_resume_goes_on() {
    let place = Place::with_config();
    let stopped = answered(&place, "\nq\n");
    let said = place.said(&stopped);
    assert!(said.starts_with("code: 7\n"), "{said}");
    assert!(said.contains("1/23 prepare-assets ─"), "{said}");
    let (_, end) = said.split_once("stopped: ").unwrap();
    assert_snapshot!(end);
    let status = place.call("status cluster");
    assert!(status.contains(" interrupted\n"), "{status}");
    let resumed = place.call("resume cluster --to release-info");
    assert!(resumed.starts_with("code: 0\n"), "{resumed}");
    assert!(resumed.contains("prepare-assets  done before"), "{resumed}");
}

#[test]
fn the_end_of_input_stops() {
    let place = Place::with_config();
    assert_eq!(answered(&place, "").status.code(), Some(7));
    assert_eq!(answered(&place, "\n\n\n").status.code(), Some(0));
}

/// Waits for the end, but not for ever; a program that goes on is killed and has no code.
#[expect(clippy::disallowed_methods, reason = "a test waits for a process")]
fn ended(child: &mut Child) -> Option<i32> {
    for _ in 0..400 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn a_signal_stops_at_the_next_chance() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::with_config();
        let mut child = begin(&place);
        // Waiting for a child closes its input, which would stop the run, too.
        let input = child.stdin.take();
        let mut stderr = child.stderr.take().unwrap();
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("q stops here") {
            let mut byte = [0];
            stderr.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(ended(&mut child), Some(7));
        drop(input);
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(
            rest.contains("`bootlace resume cluster --to release-info --root "),
            "{rest}"
        );
        assert_eq!(
            code(&mut place.command("resume cluster --to release-info")),
            Some(0)
        );
    }
}
