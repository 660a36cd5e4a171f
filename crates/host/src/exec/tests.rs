//! The way of older kernels, which this one would not take by itself.
#![expect(
    clippy::disallowed_methods,
    reason = "a program is started by hand, to watch it the old way"
)]

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::watch::{End, Running};
use crate::clock::StopHandle;

fn start(script: &str) -> Running {
    let child = Command::new("/bin/sh")
        .args(["-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    Running::without_exit_handle(child, 100)
}

#[test]
fn the_end_of_a_program_is_noticed_by_looking() {
    let mut running = start("echo out; sleep 0.1; exit 4");
    let end = running.watch(
        Duration::from_secs(20),
        &StopHandle::default(),
        Duration::ZERO,
    );
    assert_eq!(end.unwrap(), End::Exited);
    let output = running.finish().unwrap();
    assert_eq!((output.code, output.stdout), (Some(4), b"out\n".to_vec()));
}

#[test]
fn a_program_that_is_late_is_ended() {
    let begun = Instant::now();
    let mut running = start("sleep 60");
    let end = running.watch(
        Duration::from_millis(100),
        &StopHandle::default(),
        Duration::ZERO,
    );
    assert_eq!(end.unwrap(), End::Late);
    running.end().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
}
