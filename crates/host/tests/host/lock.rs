//! One writer at a time.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bootlace_engine::port::{Command, Host as _, HostError};
use bootlace_host::RealHost;

use crate::world::{World, again, path};

/// Tells a process of its own in which root it shall hold a lock.
const ROOT: &str = "BOOTLACE_TEST_LOCK_ROOT";

#[test]
fn a_lock_is_held_by_one_and_names_its_holder() {
    let world = World::new();
    let (dir, _) = world.root();
    assert_eq!(world.host.lock_holder(dir.as_ref(), "lock").unwrap(), None);
    let lock = world.host.lock(dir.as_ref(), "lock").unwrap();
    let me = format!("process {} (", std::process::id());
    let error = world.host.lock(dir.as_ref(), "lock").unwrap_err();
    let HostError::Locked { path, holder } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(path, "/lock");
    assert!(holder.starts_with(&me) && holder.ends_with(')'), "{holder}");
    let told = world.host.lock_holder(dir.as_ref(), "lock").unwrap();
    assert_eq!(told.as_ref(), Some(holder));
    drop(lock);
    assert_eq!(world.host.lock_holder(dir.as_ref(), "lock").unwrap(), None);
    drop(world.host.lock(dir.as_ref(), "lock").unwrap());
}

#[test]
fn looking_for_the_holder_does_not_get_in_the_way() {
    let world = World::new();
    let (dir, _) = world.root();
    drop(world.host.lock(dir.as_ref(), "lock").unwrap());
    let looks = AtomicU32::new(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                world.host.lock_holder(dir.as_ref(), "lock").unwrap();
                looks.fetch_add(1, Ordering::Relaxed);
            }
        });
        // As long as it takes for the two to meet many times.
        let mut taken = Ok(());
        while taken.is_ok() && looks.load(Ordering::Relaxed) < 20_000 && !looking.is_finished() {
            taken = world.host.lock(dir.as_ref(), "lock").map(drop);
        }
        done.store(true, Ordering::Relaxed);
        taken.unwrap();
    });
}

/// Holds a lock until it is killed.
#[test]
#[ignore = "helper: another test starts it and kills it"]
fn helper_hold() {
    let root = std::env::var_os(ROOT).unwrap();
    let host = RealHost::builder().root(root).proxy(None).build();
    let dir = host.open_dir(&path("/")).unwrap().unwrap();
    let _lock = host.lock(dir.as_ref(), "lock").unwrap();
    println!("\nheld");
    std::thread::sleep(Duration::from_mins(1));
}

#[test]
fn a_lock_ends_with_its_process() {
    let world = World::new();
    let (dir, real) = world.root();
    let mut holder = again("lock::helper_hold")
        .arg("--ignored")
        .env(ROOT, &real)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "held"));
    let told = world
        .host
        .lock_holder(dir.as_ref(), "lock")
        .unwrap()
        .unwrap();
    let expected = format!("process {} (", holder.id());
    assert!(
        told.starts_with(&expected) && told.contains("lock::helper_hold"),
        "{told}"
    );
    assert!(world.host.lock(dir.as_ref(), "lock").is_err());
    let soon = Duration::from_secs(30);
    world
        .host
        .interrupt_holder(dir.as_ref(), "lock", soon)
        .unwrap();
    let ended = holder.wait().unwrap();
    assert_eq!(
        ended.signal(),
        Some(rustix::process::Signal::INT.as_raw()),
        "{ended}"
    );
    // The file still names the dead process, and blocks nobody.
    let left = std::fs::read_to_string(real.join("lock")).unwrap();
    assert!(left.starts_with(&holder.id().to_string()), "{left}");
    assert_eq!(world.host.lock_holder(dir.as_ref(), "lock").unwrap(), None);
    drop(world.host.lock(dir.as_ref(), "lock").unwrap());
}

#[test]
fn programs_that_are_started_do_not_keep_a_lock() {
    let world = World::new();
    let (dir, _) = world.root();
    let lock = world.host.lock(dir.as_ref(), "lock").unwrap();
    let argv = ["sh", "-c", "sleep 20 >/dev/null 2>&1 & echo $!"].map(str::to_owned);
    let command = Command {
        argv: &argv,
        env: vec![],
        directory: None,
        within: Duration::from_secs(10),
        keep: 100,
        input: None,
    };
    let output = world.host.run(&command).unwrap();
    drop(lock);
    let begun = Instant::now();
    drop(world.host.lock(dir.as_ref(), "lock").unwrap());
    assert!(begun.elapsed() < Duration::from_secs(5));
    let child = String::from_utf8(output.stdout).unwrap();
    let child = rustix::process::Pid::from_raw(child.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
}
