//! Users and groups, through the real programs.

use std::os::unix::fs::MetadataExt as _;

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
