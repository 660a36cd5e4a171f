//! `up` that is stopped, followed by another `up`, and in the way of `down`.
//!
//! Its programs only sleep, so it waits for an API that never answers.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{World, ends_with, left, pid, succeeds, until};

/// An `up` that works, and the file that it prints to.
struct Started {
    child: Child,
    printed: PathBuf,
}

impl Started {
    fn begin(world: &World, name: &str) -> Self {
        let printed = world.path(name);
        let file = File::create(&printed).unwrap();
        let mut up = up(world);
        up.stdout(file.try_clone().unwrap()).stderr(file);
        let child = up.spawn().unwrap();
        Self { child, printed }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.printed).unwrap()
    }

    fn says(&self, text: &str) {
        until(text, || self.said().contains(text).then_some(()));
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, which must be that of a run that was stopped.
    fn ends_stopped(mut self) {
        let ended = until("it ends", || self.child.try_wait().unwrap());
        let said = self.said();
        assert_eq!(ended.code(), Some(7), "{said}");
        let next = "`bootlace up --in process` goes on from here";
        assert!(said.contains(next), "{said}");
    }
}

fn up(world: &World) -> Command {
    let mut up = world.command("up --in process --progress plain");
    world.with_programs(&mut up);
    up.stdin(Stdio::null());
    up
}

fn world() -> (World, PathBuf) {
    let mut world = World::new().with_scripts(&[]);
    let root = world.path(".local/share/bootlace/up-process/root");
    world.also(root.clone());
    (world, root)
}

#[test]
fn a_signal_stops_up_at_a_safe_place() {
    let (world, root) = world();
    for signal in [Signal::INT, Signal::TERM] {
        let up = Started::begin(&world, "up");
        up.says("start-control-plane");
        up.signal(signal);
        up.ends_stopped();
    }
    succeeds(&mut world.command("down --in process"));
    assert_eq!(left(&root), [""; 0]);
}

#[test]
fn a_second_up_follows_the_first_and_both_are_stopped_together() {
    let (world, root) = world();
    let first = Started::begin(&world, "first");
    until("etcd is started", || pid(&root, "etcd"));
    let second = Started::begin(&world, "second");
    second.says("attached to process");
    second.says("start-control-plane");
    second.signal(Signal::INT);
    second.ends_stopped();
    first.ends_stopped();
    succeeds(&mut world.command("down --in process"));
}

#[test]
fn a_second_up_goes_on_when_the_first_is_killed() {
    let (world, root) = world();
    let mut first = Started::begin(&world, "first");
    until("etcd is started", || pid(&root, "etcd"));
    let second = Started::begin(&world, "second");
    second.says("attached to process");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    second.says("goes on");
    second.signal(Signal::INT);
    second.ends_stopped();
    succeeds(&mut world.command("down --in process"));
}

#[test]
fn down_asks_while_up_runs() {
    let (world, root) = world();
    let up = Started::begin(&world, "up");
    until("etcd is started", || pid(&root, "etcd"));
    let said = ends_with(9, &mut world.command("down --in process"));
    assert!(
        said.contains("`bootlace down --yes --in process` does not ask"),
        "{said}"
    );
    assert!(pid(&root, "etcd").is_some(), "nothing was removed");
    succeeds(&mut world.command("down --yes --in process"));
    up.ends_stopped();
    assert_eq!(left(&root), [""; 0]);
    assert!(!root.exists());
}
