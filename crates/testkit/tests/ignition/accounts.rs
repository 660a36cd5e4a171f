//! Users and groups, through the real programs.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use bootlace_engine::RunReport;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::record::Outcome;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};

use crate::world::Root;

/// A root with the lists that every system has.
fn root() -> Root {
    let root = Root::new();
    root.put(
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\nold:x:700:700::/home/old:/bin/sh\n",
    );
    root.put("/etc/group", "root:x:0:\nold:x:700:\nwheel:x:10:\n");
    root.put(
        "/etc/shadow",
        "root:*:19000:0:99999:7:::\nold:*:19000:0:99999:7:::\n",
    );
    root.put("/etc/gshadow", "root:*::\nold:!::\nwheel:!::\n");
    root.put("/etc/login.defs", "UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\nUSERGROUPS_ENAB yes\nCREATE_HOME no\n");
    root.put("/etc/skel/.profile", "umask 022\n");
    let diary = root.put("/home/old/diary", "dear diary\n");
    for place in [diary.as_path(), diary.parent().unwrap()] {
        std::os::unix::fs::lchown(place, Some(700), Some(700)).unwrap();
    }
    root
}

fn config(passwd: &str, rest: &str) -> String {
    format!(r#"{{"ignition": {{"version": "3.4.0"}}, "passwd": {passwd}{rest}}}"#)
}

#[test]
fn users_and_groups_come_and_go_and_come_back() {
    let root = root();
    let before = root.snapshot();
    let passwd = r#"{
        "groups": [{"name": "admins", "gid": 5000}],
        "users": [
            {"name": "core", "uid": 1234, "groups": ["wheel", "admins"], "gecos": "The Core",
             "passwordHash": "$y$hash", "sshAuthorizedKeys": ["ssh-ed25519 AAAA one", "two"]},
            {"name": "old", "shouldExist": false}]}"#;
    let rest = r#", "storage": {"files": [{"path": "/srv/mine", "user": {"name": "core"},
        "group": {"name": "admins"}, "contents": {"source": "data:,x"}}]}"#;
    let config = config(passwd, rest);
    let plan = root.plan(&config).unwrap();
    let shown = format!("{plan:?}");
    assert!(!shown.contains("$y$hash"), "{shown}");
    before.compare(&root.snapshot()).unwrap();
    root.apply(&config).unwrap();
    let passwd = root.read("/etc/passwd");
    assert!(
        passwd.contains("core:x:1234:1234:The Core:/home/core:"),
        "{passwd}"
    );
    assert!(!passwd.contains("old:"), "{passwd}");
    let group = root.read("/etc/group");
    assert!(group.contains("admins:x:5000:core"), "{group}");
    assert!(root.read("/etc/shadow").contains("core:$y$hash:"));
    assert!(!root.at("/home/old").exists());
    let keys = "/home/core/.ssh/authorized_keys.d/ignition";
    assert_eq!(root.read(keys), "ssh-ed25519 AAAA one\ntwo\n");
    for (path, mode) in [(keys, 0o600), ("/home/core/.ssh", 0o700)] {
        let found = std::fs::metadata(root.at(path)).unwrap();
        assert_eq!(
            (found.uid(), found.gid(), found.mode() & 0o7777),
            (1234, 1234, mode),
            "{path}"
        );
    }
    let found = std::fs::metadata(root.at("/srv/mine")).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 5000));
    assert!(root.verify(&config).unwrap().ok);
    let undone = root.undo().unwrap();
    assert!(undone.refused.is_empty(), "{undone:?}");
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_user_that_is_there_is_changed() {
    let root = root();
    let before = root.snapshot();
    let passwd = r#"{"users": [{"name": "old", "shell": "/bin/false", "groups": ["wheel"],
        "homeDir": "/home/new", "passwordHash": ""}]}"#;
    root.apply(config(passwd, "")).unwrap();
    let list = root.read("/etc/passwd");
    assert!(
        list.contains("old:x:700:700::/home/new:/bin/false"),
        "{list}"
    );
    assert_eq!(root.read("/home/new/diary"), "dear diary\n");
    root.undo().unwrap();
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn undo_keeps_what_a_user_made_in_a_home_and_names_it() {
    let root = root();
    root.put("/etc/skel/.bashrc", "# nothing yet\n");
    let before = root.snapshot();
    root.apply(config(r#"{"users": [{"name": "core"}]}"#, ""))
        .unwrap();
    let home = |name: &str| root.root().join("home/core").join(name);
    assert!(home(".profile").exists());
    std::fs::create_dir(home("work")).unwrap();
    std::fs::write(home("work/thesis"), "two years").unwrap();
    std::fs::write(home(".bashrc"), "alias k=kubectl\n").unwrap();
    let view = root.undo().unwrap();
    let [refused] = view.refused.as_slice() else {
        panic!("{view:?}")
    };
    assert_eq!(refused.target, "/home/core");
    for name in ["/home/core/.bashrc", "/home/core/work/thesis"] {
        assert!(refused.why.contains(name), "{refused:?}");
    }
    assert_eq!(
        std::fs::read_to_string(home("work/thesis")).unwrap(),
        "two years"
    );
    assert!(!home(".profile").exists(), "it was nobody's work");
    assert!(!root.read("/etc/passwd").contains("core"));
    // Once the user has taken it away, nothing is left.
    std::fs::remove_dir_all(home("work")).unwrap();
    std::fs::remove_file(home(".bashrc")).unwrap();
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn undo_keeps_a_folder_that_a_user_made_in_a_home_even_if_it_is_empty() {
    let root = root();
    root.put("/etc/skel/.config/settings", "");
    let before = root.snapshot();
    root.apply(config(r#"{"users": [{"name": "core"}]}"#, ""))
        .unwrap();
    let home = root.at("/home/core");
    std::fs::create_dir(home.join("plans")).unwrap();
    let view = root.undo().unwrap();
    let [refused] = view.refused.as_slice() else {
        panic!("{view:?}")
    };
    assert_eq!(refused.why, "added or changed since: /home/core/plans");
    assert!(home.join("plans").exists());
    assert!(!home.join(".config").exists(), "it was nobody's work");
    std::fs::remove_dir(home.join("plans")).unwrap();
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

const MOVED: &str = r#"{"users": [{"name": "old", "homeDir": "/home/new"}]}"#;

#[test]
fn undo_brings_a_moved_home_back_and_keeps_what_came_into_it_since() {
    let root = root();
    root.put("/home/old/letters/first", "dear friend\n");
    let before = root.snapshot();
    root.apply(config(MOVED, "")).unwrap();
    assert!(!root.at("/home/old").exists());
    let home = |name: &str| root.root().join("home/new").join(name);
    std::fs::write(home("thesis"), "two years").unwrap();
    std::fs::create_dir(home("plans")).unwrap();
    std::fs::write(home("diary"), "a new day\n").unwrap();
    let view = root.undo().unwrap();
    let [refused] = view.refused.as_slice() else {
        panic!("{view:?}")
    };
    assert_eq!(refused.target, "/home/new");
    for name in ["diary", "plans", "thesis"] {
        assert!(
            refused.why.contains(&format!("/home/new/{name}")),
            "{refused:?}"
        );
        assert!(home(name).exists(), "{name}");
    }
    assert!(!home("letters").exists(), "it is back where it was");
    assert_eq!(root.read("/home/new/diary"), "a new day\n");
    assert_eq!(root.read("/home/old/diary"), "dear diary\n");
    assert_eq!(root.read("/home/old/letters/first"), "dear friend\n");
    std::fs::remove_dir_all(root.at("/home/new")).unwrap();
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_program_that_fails_leaves_nothing() {
    let root = root();
    let before = root.snapshot();
    let passwd = r#"{"groups": [{"name": "first"}],
        "users": [{"name": "core"}, {"name": "bad", "groups": ["nobody-made-this"]}]}"#;
    let fault = root.apply(config(passwd, "")).unwrap_err();
    assert!(fault.message.contains("useradd"), "{fault}");
    let taken_back = |line: &String| line.contains("everything is as it was");
    assert!(fault.details.iter().any(taken_back), "{fault:?}");
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_program_that_fails_is_told_by_the_entry_that_asked_for_it() {
    let root = root();
    let passwd = r#"{"users": [{"name": "core"},
        {"name": "bad", "groups": ["nobody-made-this"]}]}"#;
    let fault = root.apply(config(passwd, "")).unwrap_err();
    let place = fault.place.clone().unwrap();
    assert_eq!(
        (place.file.as_str(), place.line),
        ("config.ign", Some(2)),
        "{fault:?}"
    );
    assert_eq!(
        fault.because.as_deref(),
        Some("passwd.users.1 asks for it."),
        "{fault:?}"
    );
    assert!(fault.hints[0].contains("passwd.users.1"), "{fault:?}");
}

#[test]
fn hashes_are_set_and_told_to_nobody() {
    let root = root();
    let passwd = r#"{"groups": [{"name": "crew", "passwordHash": "$6$SECRET-g"}],
        "users": [{"name": "core", "passwordHash": "$6$SECRET-u"}]}"#;
    root.apply(config(passwd, "")).unwrap();
    assert!(root.read("/etc/shadow").contains("core:$6$SECRET-u:"));
    assert!(root.read("/etc/gshadow").contains("crew:$6$SECRET-g:"));
    let journals = root.journals();
    assert!(journals.contains("set the password of core"), "{journals}");
    assert!(!journals.contains("SECRET"), "{journals}");
    // A hash that would write another line, or another field, is refused without being shown.
    for hash in [r"$6$SECRET:y", r"$6$SECRET\nroot:$6$mine"] {
        let passwd = format!(r#"{{"users": [{{"name": "other", "passwordHash": "{hash}"}}]}}"#);
        let fault = root.apply(config(&passwd, "")).unwrap_err();
        assert!(format!("{fault:?}").contains("passwd.users.0"), "{fault:?}");
        assert!(!format!("{fault:?}").contains("SECRET"), "{fault:?}");
    }
}

fn while_useradd_reads(root: &Root, user: &str, act: impl FnOnce()) -> Result<RunReport, Fault> {
    let config = config(&format!(r#"{{"users": [{{"name": "{user}"}}]}}"#), "");
    while_defaults_are_read(root, || root.apply(config), act)
}

/// Lets somebody act while a program reads its defaults, which are a pipe for that time.
fn while_defaults_are_read(
    root: &Root,
    run: impl FnOnce() -> Result<RunReport, Fault> + Send,
    act: impl FnOnce(),
) -> Result<RunReport, Fault> {
    let defaults = root.at("/etc/login.defs");
    let text = std::fs::read(&defaults).unwrap();
    std::fs::remove_file(&defaults).unwrap();
    mknodat(
        CWD,
        &defaults,
        FileType::Fifo,
        Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let ended = std::thread::scope(|scope| {
        let applied = scope.spawn(run);
        let mut pipe = loop {
            assert!(!applied.is_finished(), "it did not read its defaults");
            // Without a reader it cannot be opened.
            match open(&defaults, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()) {
                Ok(pipe) => break std::fs::File::from(pipe),
                Err(_) => std::thread::yield_now(),
            }
        };
        act();
        // It may be gone by now.
        drop(pipe.write_all(&text));
        drop(pipe);
        applied.join().unwrap()
    });
    std::fs::remove_file(&defaults).unwrap();
    root.put("/etc/login.defs", text);
    ended
}

/// Finds the process that adds or changes a user.
fn process_of(program: &str, user: &str) -> Pid {
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.find_map(|process| {
        let line = std::fs::read_to_string(process.path().join("cmdline")).ok()?;
        let is_it = line.starts_with(program) && line.contains(user);
        let number = process.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number).filter(|_| is_it)
    });
    found.unwrap()
}

#[test]
fn a_wish_to_stop_lets_a_program_that_edits_come_to_its_end() {
    let root = root();
    let before = root.snapshot();
    let stop = root.stop_handle();
    let report = while_useradd_reads(&root, "stopped", || {
        stop.request();
        // Longer than it takes until a wish to stop is noticed.
        std::thread::sleep(Duration::from_millis(200));
    })
    .unwrap();
    assert_eq!(report.outcome, Outcome::Interrupted);
    assert!(root.read("/etc/passwd").contains("stopped:"));
    for left in ["passwd.lock", "passwd+", "shadow.lock", "group.lock"] {
        assert!(!root.at("/etc").join(left).exists(), "{left}");
    }
    let root = root.renewed();
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn locks_and_copies_of_a_program_that_was_killed_go_again() {
    let root = root();
    let before = root.snapshot();
    let fault = while_useradd_reads(&root, "killed", || {
        for left in ["/etc/passwd.lock", "/etc/passwd+", "/etc/gshadow.lock"] {
            root.put(left, "1");
        }
        kill_process(process_of("useradd", "killed"), Signal::KILL).unwrap();
    })
    .unwrap_err();
    assert!(fault.message.contains("killed"), "{fault}");
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn what_came_into_a_home_while_a_program_was_killed_stays_even_if_it_is_empty() {
    let root = root();
    let fault = while_useradd_reads(&root, "killed", || {
        root.put("/home/killed/.profile", "umask 022\n");
        root.put("/home/killed/mine", "");
        std::fs::create_dir(root.at("/home/killed/plans")).unwrap();
        kill_process(process_of("useradd", "killed"), Signal::KILL).unwrap();
    })
    .unwrap_err();
    let said = format!("{fault:?}");
    for name in ["mine", "plans"] {
        assert!(root.at("/home/killed").join(name).exists(), "{name}");
        assert!(said.contains(&format!("/home/killed/{name}")), "{said}");
    }
    assert!(!root.at("/home/killed/.profile").exists(), "{said}");
}

/// Kills the program that moves a home when it has moved it, and something came into it.
fn killed_while_moving(
    root: &Root,
    run: impl FnOnce() -> Result<RunReport, Fault> + Send,
) -> Fault {
    let ended = while_defaults_are_read(root, run, || {
        std::fs::rename(root.at("/home/old"), root.at("/home/new")).unwrap();
        root.put("/home/new/mine", "");
        kill_process(process_of("usermod", "old"), Signal::KILL).unwrap();
    });
    ended.unwrap_err()
}

#[test]
fn a_run_goes_on_with_a_move_only_when_what_came_since_is_out_of_the_way() {
    let root = root();
    let before = root.snapshot();
    killed_while_moving(&root, || root.run(config(MOVED, "")));
    let fault = root.run(config(MOVED, "")).unwrap_err();
    assert!(fault.message.contains("/home/new/mine"), "{fault}");
    assert_eq!(root.read("/home/new/mine"), "");
    assert_eq!(root.read("/home/old/diary"), "dear diary\n");
    std::fs::remove_dir_all(root.at("/home/new")).unwrap();
    root.run(config(MOVED, "")).unwrap();
    assert_eq!(root.read("/home/new/diary"), "dear diary\n");
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_home_that_a_killed_program_has_moved_comes_back_without_what_came_since() {
    let root = root();
    let fault = killed_while_moving(&root, || root.apply(config(MOVED, "")));
    let said = format!("{fault:?}");
    assert!(said.contains("/home/new/mine"), "{said}");
    assert_eq!(root.read("/home/new/mine"), "");
    assert!(!root.at("/home/new/diary").exists(), "{said}");
    assert_eq!(root.read("/home/old/diary"), "dear diary\n");
}

#[test]
fn what_no_program_would_take_is_refused_beforehand_by_name() {
    let root = root();
    for (passwd, says) in [
        (
            r#"{"users": [{"name": "a", "uid": 5000}, {"name": "b", "uid": 5000}]}"#,
            "passwd.users.1: the users a and b shall both have the uid 5000",
        ),
        (
            r#"{"groups": [{"name": "a", "gid": 5000}, {"name": "b", "gid": 5000}]}"#,
            "passwd.groups.1: the groups a and b shall both have the gid 5000",
        ),
        (
            r#"{"users": [{"name": "a", "uid": -1}]}"#,
            "passwd.users.0: the user a cannot have the uid -1",
        ),
        (
            r#"{"groups": [{"name": "a", "gid": 4294967296}]}"#,
            "passwd.groups.0: the group a cannot have the gid 4294967296",
        ),
        (
            r#"{"users": [{"name": "-r"}]}"#,
            r#"passwd.users.0: the name of the user, "-r", begins with a dash"#,
        ),
        (
            r#"{"groups": [{"name": ""}]}"#,
            "passwd.groups.0: the name of the group is empty",
        ),
        (
            r#"{"users": [{"name": "a", "homeDir": "home/a"}]}"#,
            r#"passwd.users.0: the home of a, "home/a", does not begin with /"#,
        ),
    ] {
        let fault = root.plan(config(passwd, "")).unwrap_err();
        assert_eq!(fault.message, says);
        assert_eq!(fault.kind, FaultKind::BadInput);
        assert!(!fault.hints.is_empty() && fault.place.is_some(), "{says}");
    }
}

#[test]
fn the_record_of_the_run_is_in_no_home() {
    for (home, passwd, says) in [
        (
            "/state",
            r#"{"name": "a", "shouldExist": false}"#,
            "removing the user a",
        ),
        (
            "/",
            r#"{"name": "a", "shouldExist": false}"#,
            "removing the user a",
        ),
        (
            "/link/a",
            r#"{"name": "a", "shouldExist": false}"#,
            "removing the user a",
        ),
        (
            "/state",
            r#"{"name": "a", "uid": 77}"#,
            "changing the user a",
        ),
        (
            "/home/a",
            r#"{"name": "a", "homeDir": "/state/a"}"#,
            "/state/a",
        ),
        (
            "/home/a",
            r#"{"name": "new", "homeDir": "/link/b"}"#,
            "/link/b",
        ),
        (
            "/link/a",
            r#"{"name": "a", "sshAuthorizedKeys": ["k"]}"#,
            "the keys of a",
        ),
    ] {
        let root = root();
        let list = format!("{}a:x:701:701::{home}:/bin/sh\n", root.read("/etc/passwd"));
        root.put("/etc/passwd", list);
        std::os::unix::fs::symlink("/state", root.at("/link")).unwrap();
        let before = root.snapshot();
        let config = config(&format!(r#"{{"users": [{passwd}]}}"#), "");
        let fault = root.apply(config).unwrap_err();
        assert!(fault.message.starts_with("passwd.users.0: "), "{fault}");
        assert!(fault.message.contains(says), "{fault}");
        assert!(fault.message.contains("the record of this run"), "{fault}");
        before.compare(&root.snapshot()).unwrap();
    }
}

#[test]
fn lists_that_somebody_edited_since_are_not_put_back() {
    let root = root();
    root.apply(config(r#"{"users": [{"name": "core"}]}"#, ""))
        .unwrap();
    let edited = root.read("/etc/passwd") + "mine:x:999:999::/:/bin/sh\n";
    root.put("/etc/passwd", &edited);
    let undone = root.undo().unwrap();
    assert_eq!(undone.refused.len(), 1, "{undone:?}");
    assert!(
        undone.refused[0].target.contains("/etc/passwd"),
        "{undone:?}"
    );
    assert_eq!(root.read("/etc/passwd"), edited);
    assert!(root.at("/home/core").exists());
}

#[test]
fn files_of_a_home_are_those_of_after_the_user_was_added() {
    let root = root();
    let before = root.snapshot();
    let file = |overwrite: &str| {
        let rest = format!(
            r#", "storage": {{"files": [{{"path": "/home/core/.profile", "contents":
                {{"source": "data:,x"}}{overwrite}}}]}}"#
        );
        config(r#"{"users": [{"name": "core"}]}"#, &rest)
    };
    // The skeleton of a home brings the file, so it may not be replaced by the way.
    let fault = root.apply(file("")).unwrap_err();
    assert!(fault.message.contains("is there already"), "{fault}");
    before.compare(&root.snapshot()).unwrap();
    root.apply(file(r#", "overwrite": true"#)).unwrap();
    assert_eq!(root.read("/home/core/.profile"), "x");
    root.undo().unwrap();
    before.compare(&root.snapshot()).unwrap();
}
