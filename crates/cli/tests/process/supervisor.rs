//! The supervisor as a program: detached, alone, and gone when it is told to go.

use std::fs;

use crate::world::{World, ends_with, left, pid, succeeds, supervised, until};

fn put_pod(world: &World) {
    let folder = world.root().join("etc/kubernetes/manifests");
    fs::create_dir_all(&folder).unwrap();
    let pod = "metadata: {name: sleeper}\nspec: {containers: [{name: c, command: [etcd]}]}";
    fs::write(folder.join("sleeper.yaml"), pod).unwrap();
}

/// Returns the session of a process, and the process above it.
fn session_and_parent(pid: u32) -> (u32, u32) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let words: Vec<u32> = rest
        .split_whitespace()
        .skip(1)
        .take(3)
        .map(|word| word.parse().unwrap())
        .collect();
    (words[2], words[0])
}

#[test]
fn it_outlives_its_caller_works_once_and_goes_with_all_its_processes() {
    let world = World::new().with_scripts(&[]);
    put_pod(&world);
    let call = |flag: &str| {
        let mut command = world.command("supervise --root root");
        command.args(flag.split_whitespace());
        command
    };
    ends_with(6, &mut call("--check"));
    let mut start = call("");
    world.with_programs(&mut start);
    succeeds(&mut start);
    succeeds(&mut call("--check"));
    let supervisor = supervised(&world.root()).pid;
    let (session, parent) = session_and_parent(supervisor);
    // It leads a session of its own, so no terminal ends it, and its caller is gone already.
    assert_eq!(session, supervisor);
    assert_ne!(parent, std::process::id());
    let sleeper = until("the pod runs", || pid(&world.root(), "sleeper"));
    // A second one finds the first and leaves it alone.
    succeeds(&mut start);
    assert_eq!(supervised(&world.root()).pid, supervisor);
    let busy = ends_with(4, &mut call("--serve"));
    assert!(busy.contains("runs already"), "{busy}");
    assert_eq!(pid(&world.root(), "sleeper"), Some(sleeper));
    succeeds(&mut call("--stop"));
    ends_with(6, &mut call("--check"));
    assert_eq!(left(&world.root()), [""; 0]);
    // There is nothing left to stop, and that is fine.
    succeeds(&mut call("--stop"));
}

#[test]
fn what_a_killed_supervisor_left_behind_is_stopped_too() {
    let world = World::new().with_scripts(&[]);
    put_pod(&world);
    let mut start = world.command("supervise --root root");
    world.with_programs(&mut start);
    succeeds(&mut start);
    until("the pod runs", || pid(&world.root(), "sleeper"));
    let supervisor = supervised(&world.root()).pid;
    let supervisor = rustix::process::Pid::from_raw(supervisor.try_into().unwrap()).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    let mut check = world.command("supervise --root root --check");
    until("the supervisor is dead", || {
        (check.output().unwrap().status.code() == Some(6)).then_some(())
    });
    assert_eq!(left(&world.root()).len(), 1);
    succeeds(&mut world.command("supervise --root root --stop"));
    assert_eq!(left(&world.root()), [""; 0]);
}
