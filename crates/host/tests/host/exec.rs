//! Programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use bootlace_engine::port::{Command, Host as _, HostError, HostResult, Output};
use bootlace_host::RealHost;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use rustix::process::{Pid, test_kill_process};

use crate::world::{World, kind, path};

const MINUTE: Duration = Duration::from_mins(1);

fn run(host: &RealHost, argv: &[&str], within: Duration, keep: usize) -> HostResult<Output> {
    let argv: Vec<String> = argv.iter().map(|&text| text.to_owned()).collect();
    host.run(&Command {
        argv: &argv,
        env: vec![("EXTRA", "given")],
        directory: None,
        within,
        keep,
        input: None,
    })
}

fn shell(host: &RealHost, script: &str, within: Duration) -> HostResult<Output> {
    run(host, &["sh", "-c", script], within, 1 << 16)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Tells whether a process is alive and not only waiting to be buried.
fn is_alive(process: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    test_kill_process(Pid::from_raw(process).unwrap()).is_ok()
        && state.is_ok_and(|state| !state.contains(") Z "))
}

fn assert_dies(process: i32) {
    let begun = Instant::now();
    while is_alive(process) {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{process} is still there"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_program_gets_its_arguments_as_they_are() {
    let world = World::new();
    let argv = ["printf", "%s|", "a b", "$HOME", "*", "'", "ä"];
    let output = run(&world.host, &argv, MINUTE, 100).unwrap();
    assert_eq!(text(output.stdout), "a b|$HOME|*|'|ä|");
    assert_eq!((output.code, output.stderr), (Some(0), vec![]));
}

#[test]
fn how_it_ended_is_told() {
    let world = World::new();
    let output = shell(&world.host, "echo out; echo err >&2; exit 7", MINUTE).unwrap();
    assert_eq!(output.code, Some(7));
    assert_eq!(
        (text(output.stdout), text(output.stderr)),
        ("out\n".into(), "err\n".into())
    );
    let output = shell(&world.host, "kill -9 $$", MINUTE).unwrap();
    assert_eq!(output.code, None);
}

#[test]
fn the_environment_is_almost_empty_and_there_is_no_input() {
    let world = World::new();
    let output = run(&world.host, &["env"], MINUTE, 1 << 16).unwrap();
    let printed = text(output.stdout);
    let variables: BTreeMap<&str, &str> = printed
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let names: Vec<&str> = variables.keys().copied().collect();
    assert_eq!(names, ["EXTRA", "HOME", "LANG", "PATH"]);
    assert_eq!(
        (variables["LANG"], variables["EXTRA"]),
        ("C.UTF-8", "given")
    );
    let safe = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(variables["PATH"], safe);
    assert_eq!(shell(&world.host, "cat", MINUTE).unwrap().stdout, b"");
}

#[test]
fn it_runs_inside_the_root_and_links_do_not_lead_it_out() {
    let world = World::new();
    let (root, real) = world.root();
    root.create_dir("work", &Attributes::mode(0o755)).unwrap();
    std::os::unix::fs::symlink("/etc", real.join("way-out")).unwrap();
    let real = real.canonicalize().unwrap();
    let argv = ["pwd", "-P"].map(str::to_owned);
    let place = |directory: Option<&TargetPath>| {
        let command = Command {
            argv: &argv,
            env: vec![],
            directory,
            within: MINUTE,
            keep: 4096,
            input: None,
        };
        world.host.run(&command).map(|output| text(output.stdout))
    };
    assert_eq!(place(None).unwrap().trim_end(), real.to_str().unwrap());
    let work = real.join("work");
    assert_eq!(
        place(Some(&path("/work"))).unwrap().trim_end(),
        work.to_str().unwrap()
    );
    for missing in ["/way-out", "/missing"] {
        let error = place(Some(&path(missing))).unwrap_err();
        assert_eq!(kind(&error), ErrorKind::NotFound, "{missing}");
    }
    // A plan may ask before the root was made.
    let host = RealHost::builder()
        .root(real.join("later"))
        .proxy(None)
        .build();
    assert_eq!(
        text(run(&host, &["pwd"], MINUTE, 100).unwrap().stdout),
        "/\n"
    );
}

#[test]
fn what_cannot_be_run_is_said() {
    let world = World::new();
    for (argv, expected) in [
        (vec!["no-such-program-anywhere"], ErrorKind::NotFound),
        (vec!["/no/such/program"], ErrorKind::NotFound),
        (vec!["/etc/passwd"], ErrorKind::PermissionDenied),
        (vec!["./sh"], ErrorKind::InvalidInput),
        (vec![], ErrorKind::InvalidInput),
    ] {
        let error = run(&world.host, &argv, MINUTE, 100).unwrap_err();
        assert_eq!(kind(&error), expected, "{argv:?}: {error}");
    }
}

#[test]
fn much_output_on_both_streams_neither_blocks_nor_fills_the_memory() {
    let world = World::new();
    let script = "i=0; while [ $i -lt 40 ]; do
        head -c 262144 /dev/zero; head -c 262144 /dev/zero >&2; i=$((i+1)); done
        echo last; echo last >&2";
    let argv = ["sh", "-c", &format!("echo first; echo first >&2; {script}")];
    let output = run(&world.host, &argv, MINUTE, 1000).unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len()), (1000, 1000));
    assert!(output.stdout.starts_with(b"first\n\0"));
    assert!(output.stderr.ends_with(b"\0last\n"));
}

#[test]
fn a_child_that_stays_behind_does_not_hold_the_call_up() {
    let world = World::new();
    let begun = Instant::now();
    let output = shell(&world.host, "sleep 30 & echo $!; echo done", MINUTE).unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    let printed = text(output.stdout);
    let (child, rest) = printed.split_once('\n').unwrap();
    assert_eq!(rest, "done\n");
    let child: i32 = child.parse().unwrap();
    assert!(
        is_alive(child),
        "what a program leaves running on purpose is not ours to end"
    );
    rustix::process::kill_process(Pid::from_raw(child).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
}

#[test]
fn a_child_that_prints_for_ever_does_not_hold_the_call_up() {
    let world = World::new();
    let begun = Instant::now();
    let output = shell(&world.host, "yes & echo $! >&2; exit 3", MINUTE).unwrap();
    let child: i32 = text(output.stderr).trim().parse().unwrap();
    assert_eq!(output.code, Some(3));
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    // The pipe is gone, and with it the one who writes to it.
    assert_dies(child);
}

#[test]
fn when_time_is_up_the_program_and_its_children_end() {
    let world = World::new();
    let (_, real) = world.root();
    let begun = Instant::now();
    let script = "sleep 60 & echo $! > child; echo $$ > parent; wait";
    let error = shell(&world.host, script, Duration::from_millis(1500)).unwrap_err();
    let HostError::TimedOut { what, within } = &error else {
        panic!("{error:?}");
    };
    assert!(
        what.starts_with("sh -c ") && *within == Duration::from_millis(1500),
        "{error}"
    );
    assert!(
        begun.elapsed() < Duration::from_millis(3400),
        "{:?}",
        begun.elapsed()
    );
    for name in ["child", "parent"] {
        let process = std::fs::read_to_string(real.join(name)).unwrap();
        assert_dies(process.trim().parse().unwrap());
    }
}

#[test]
fn who_cleans_up_has_time_for_it() {
    let world = World::new();
    let (_, real) = world.root();
    // The shell itself dies at once; its child has something to finish.
    let script = "sh -c 'trap \"sleep 0.5; echo clean > done; exit\" TERM; echo > ready
        while :; do sleep 0.05; done' & trap '' INT; wait";
    let error = shell(&world.host, script, Duration::from_secs(2)).unwrap_err();
    assert!(matches!(error, HostError::TimedOut { .. }), "{error}");
    assert!(real.join("ready").exists());
    assert_eq!(
        std::fs::read_to_string(real.join("done")).unwrap(),
        "clean\n"
    );
}

#[test]
fn who_does_not_listen_is_killed() {
    let world = World::new();
    let (_, real) = world.root();
    let begun = Instant::now();
    let script = "trap '' TERM; echo $$ > parent; while :; do sleep 0.05; done";
    let error = shell(&world.host, script, Duration::from_millis(1500)).unwrap_err();
    assert!(matches!(error, HostError::TimedOut { .. }), "{error}");
    let took = begun.elapsed();
    assert!(
        took > Duration::from_millis(3400) && took < Duration::from_secs(10),
        "{took:?}"
    );
    let process: i32 = std::fs::read_to_string(real.join("parent"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    // It was buried, too: not even a zombie is left.
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}

#[test]
fn a_wish_to_stop_ends_what_runs_and_lets_nothing_begin() {
    let world = World::new();
    let (_, real) = world.root();
    let stop = world.host.stop_handle();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| shell(&world.host, "echo $$ > parent; exec sleep 60", MINUTE));
        while std::fs::read_to_string(real.join("parent")).map_or(0, |text| text.len()) == 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "the program did not start"
            );
            std::thread::yield_now();
        }
        stop.request();
        assert!(matches!(running.join().unwrap(), Err(HostError::Stopped)));
    });
    assert!(begun.elapsed() < Duration::from_secs(12));
    let process = std::fs::read_to_string(real.join("parent")).unwrap();
    assert_dies(process.trim().parse().unwrap());
    assert!(world.host.stop_requested());
    assert!(matches!(
        shell(&world.host, "true", MINUTE),
        Err(HostError::Stopped)
    ));
    assert!(matches!(world.host.sleep(MINUTE), Err(HostError::Stopped)));
}

#[test]
fn a_program_that_edits_may_come_to_its_end_but_not_for_ever() {
    let world = World::new();
    let (_, real) = world.root();
    let begun = Instant::now();
    let patiently = |script: &str, patience: Duration| {
        let host = RealHost::builder().root(&real).proxy(None).build();
        let argv = ["sh", "-c", script].map(str::to_owned);
        let command = Command {
            argv: &argv,
            env: vec![],
            directory: None,
            within: MINUTE,
            keep: 100,
            input: None,
        };
        let stop = host.stop_handle();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| host.run_patiently(&command, patience));
            while !real.join("begun").exists() {
                assert!(
                    begun.elapsed() < Duration::from_secs(20),
                    "it did not start"
                );
                std::thread::yield_now();
            }
            stop.request();
            let ended = running.join().unwrap();
            std::fs::remove_file(real.join("begun")).unwrap();
            ended
        })
    };
    let output = patiently("touch begun; sleep 0.3; exit 3", MINUTE).unwrap();
    assert_eq!(output.code, Some(3));
    let ended = patiently("touch begun; exec sleep 60", Duration::from_millis(50));
    assert!(matches!(ended, Err(HostError::Stopped)), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Lists what this process was started with and hands on: what is not closed for programs.
fn handed_on() -> BTreeSet<String> {
    let mut open = BTreeSet::new();
    for entry in std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten() {
        // Another test may have closed it by now.
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        let closed = rustix::fs::OFlags::CLOEXEC.bits();
        if flags.is_some_and(|flags| flags & closed == 0) {
            open.insert(entry.file_name().into_string().unwrap());
        }
    }
    open
}

#[test]
fn nothing_of_ours_is_open_in_a_program() {
    let world = World::new();
    let (dir, _) = world.root();
    let _log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    let _lock = world.host.lock(dir.as_ref(), "lock").unwrap();
    let argv = ["sh", "-c", "ls /proc/$$/fd"];
    let output = run(&world.host, &argv, MINUTE, 1000).unwrap();
    let open: BTreeSet<String> = text(output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(open, handed_on());
}
