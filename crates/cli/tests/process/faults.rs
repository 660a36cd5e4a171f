//! What goes wrong is named at once, with the right code, and what was begun can be taken back.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::world::{World, ends_with, left, succeeds};

#[test]
fn a_process_that_ends_repeatedly_ends_the_wait_with_its_last_words() {
    let script = "echo first >&2; echo 'the moon is in the wrong place' >&2; exit 3";
    let world = World::new().with_scripts(&[("kube-apiserver", script)]);
    let before = world.tree();
    let begun = Instant::now();
    let said = ends_with(5, &mut world.run(""));
    assert!(begun.elapsed() < Duration::from_mins(1), "{said}");
    for part in [
        "the process kube-apiserver ended with 3, 2 times so far",
        "last words: the moon is in the wrong place",
        "/var/log/bootlace/kube-apiserver.log",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    // The evidence stays until somebody takes it back.
    assert_ne!(left(&world.root()), [""; 0]);
    succeeds(&mut world.on_root("undo cluster"));
    assert_eq!(left(&world.root()), [""; 0]);
    if let Err(difference) = before.compare(&world.tree()) {
        panic!("{difference}");
    }
}

#[test]
fn a_known_line_ends_the_wait_at_the_first_end() {
    let script = "echo 'Error: unknown flag: --secure-port' >&2; exit 1";
    let world = World::new().with_scripts(&[("kube-apiserver", script)]);
    let said = ends_with(5, &mut world.run(""));
    assert!(said.contains("[F-18]"), "{said}");
    assert!(said.contains("unknown flag: --secure-port"), "{said}");
    // The placement is the run's own: nobody has to say it again.
    let said = ends_with(5, &mut world.on_root("resume cluster"));
    assert!(said.contains("[F-18]"), "{said}");
}

#[test]
fn a_port_that_is_taken_is_refused_before_anything_is_touched() {
    let world = World::new().with_scripts(&[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let config = fs::read_to_string(world.config()).unwrap();
    let (begin, rest) = config.split_once("etcdPeers: ").unwrap();
    let (_, end) = rest.split_once(',').unwrap();
    fs::write(world.config(), format!("{begin}etcdPeers: {port},{end}")).unwrap();
    let before = world.tree();
    let said = ends_with(4, &mut world.run(""));
    assert!(said.contains(&format!("[Port-{port}]")), "{said}");
    if let Err(difference) = before.compare(&world.tree()) {
        panic!("{difference}");
    }
    let runs = fs::read_dir(world.path("state")).unwrap().count();
    assert_eq!(runs, 0);
}

#[test]
fn missing_and_misplaced_programs_are_refused() {
    let world = World::new().with_scripts(&[]);
    fs::remove_file(world.program("etcd")).unwrap();
    let said = ends_with(4, &mut world.run(""));
    assert!(said.contains("[Program-etcd]"), "{said}");
    let mut kubelet = world.on_root("run cluster --placement kubelet --programs .");
    let said = ends_with(2, &mut kubelet);
    assert!(
        said.contains("--programs is for --placement process"),
        "{said}"
    );
    let mut without = world.on_root("run cluster --programs .");
    ends_with(2, &mut without);
}
