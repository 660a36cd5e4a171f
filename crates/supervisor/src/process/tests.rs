use super::*;

fn place() -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(LOGS)).unwrap();
    let programs = vec![];
    (folder, Place { root, programs })
}

fn shell(script: &str) -> Process {
    Process::new(ProcessSpec {
        name: "p".into(),
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        variables: vec![("WORD".into(), "said".into())],
        make: vec![],
        need: vec![],
    })
}

fn tick_until(process: &mut Process, place: &Place, done: impl Fn(&Process) -> bool) {
    let begun = Instant::now();
    while !done(process) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{process:?}");
        process.tick(place).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_process_that_ends_is_started_again_after_a_pause() {
    let (_folder, place) = place();
    let mut process = shell("echo $WORD; pwd; exit 3");
    tick_until(&mut process, &place, |process| process.ends == 1);
    let first = Instant::now();
    assert_eq!(process.note().pid, None);
    let end = process.note().ended.unwrap();
    assert_eq!(end.code, Some(3));
    assert_eq!(end.last_words, ["said", place.root.to_str().unwrap()]);
    tick_until(&mut process, &place, |process| process.ends == 2);
    assert!(first.elapsed() >= FIRST_PAUSE / 2);
    assert_eq!(process.pause, FIRST_PAUSE * 4);
    // Each life tells its own last words only.
    assert_eq!(process.note().ended.unwrap().last_words.len(), 2);
}

#[test]
fn a_stopped_process_ends_with_its_children_and_is_not_started_again() {
    let (_folder, place) = place();
    let mut process = shell("sleep 600 & echo $!; wait");
    let log = place.below(LOGS).join("p.log");
    tick_until(&mut process, &place, |_| {
        fs::read_to_string(&log).is_ok_and(|text| text.ends_with('\n'))
    });
    let child: u32 = fs::read_to_string(&log).unwrap().trim().parse().unwrap();
    process.stop().unwrap();
    assert!(!process.is_gone());
    tick_until(&mut process, &place, Process::is_gone);
    let gone = || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    let begun = Instant::now();
    while !gone() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
    process.tick(&place).unwrap();
    assert!(process.is_gone());
}

#[test]
fn what_is_missing_is_told_and_made_where_it_may_be() {
    let (_folder, place) = place();
    let mut process = shell("exit 0");
    process.spec.make = vec![place.below("var/lib/etcd")];
    process.spec.need = vec![place.below("etc/pki")];
    process.tick(&place).unwrap();
    assert!(place.below("var/lib/etcd").is_dir());
    let end = process.note().ended.unwrap();
    assert_eq!((end.code, end.signal), (None, None));
    assert!(end.last_words[0].ends_with("/etc/pki is missing"));
    let mut process = shell("exit 0");
    process.spec.program = "no-such-program".into();
    process.tick(&place).unwrap();
    let end = process.note().ended.unwrap();
    assert_eq!(end.last_words, ["no-such-program is not installed"]);
}

#[test]
fn the_folders_that_were_given_come_before_the_system_s() {
    let (folder, _) = place();
    let own = folder.path().join("sh");
    fs::write(&own, "#!/bin/sh\n").unwrap();
    let given = [folder.path().to_owned()];
    // What cannot be run is passed over.
    assert_ne!(find("sh", &given).unwrap(), own);
    fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(find("sh", &given).unwrap(), own);
}
