//! A config from its plan to its end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use bootlace_model::fault::FaultKind;
use bootlace_model::view::PlannedState;
use bootlace_test_notes::skip;

use crate::world::Root;

const CONFIG: &str = r#"{
  "ignition": {"version": "3.4.0"},
  "storage": {
    "directories": [{"path": "/srv/folder", "mode": 448}],
    "files": [
      {"path": "/etc/motd", "overwrite": true, "contents": {"source": "data:,hello%0A"}},
      {"path": "/srv/folder/file", "mode": 384, "contents": {"source": "data:,x"}},
      {"path": "/etc/issue", "append": [{"source": "data:,more%0A"}]}
    ],
    "links": [
      {"path": "/srv/link", "target": "folder/file"},
      {"path": "/srv/second", "target": "/srv/folder/file", "hard": true}
    ]
  },
  "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\n"}]}
}"#;

fn root() -> Root {
    let root = Root::new();
    root.put("/etc/motd", "old\n");
    root.put("/etc/issue", "issue\n");
    root
}

#[test]
fn a_config_is_planned_applied_verified_and_taken_back() {
    let root = root();
    let before = root.snapshot();
    let plan = root.plan(CONFIG).unwrap();
    let todo: Vec<(&str, usize)> = plan
        .steps
        .iter()
        .filter(|step| step.state == PlannedState::Todo)
        .map(|step| (step.id.as_str(), step.effects.len()))
        .collect();
    let wanted = [
        ("keep-config", 2),
        ("create-groups-and-users", 0),
        ("authorize-ssh-keys", 0),
        ("write-files", 6),
        ("write-units", 1),
        ("enable-units", 1),
    ];
    assert_eq!(todo, wanted);
    before.compare(&root.snapshot()).unwrap();
    let report = root.apply(CONFIG).unwrap();
    assert_eq!(report.effects_done, 10);
    assert_eq!(root.read("/etc/motd"), "hello\n");
    assert_eq!(root.read("/etc/issue"), "issue\nmore\n");
    assert_eq!(root.read("/srv/second"), "x");
    let preset = root.read("/etc/systemd/system-preset/20-ignition.preset");
    assert_eq!(preset, "enable a.service\n");
    // By the journal it is done: nothing is appended a second time.
    assert_eq!(root.apply(CONFIG).unwrap().steps_done, 0);
    assert!(root.verify(CONFIG).unwrap().ok);
    assert!(root.undo().unwrap().refused.is_empty());
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn what_somebody_edited_since_is_seen_and_left_alone() {
    let root = root();
    root.apply(CONFIG).unwrap();
    root.put("/etc/motd", "mine\n");
    let view = root.verify(CONFIG).unwrap();
    assert!(!view.ok);
    let undone = root.undo().unwrap();
    let left: Vec<&str> = undone
        .refused
        .iter()
        .map(|left| left.target.as_str())
        .collect();
    assert_eq!(left, ["/etc/motd"]);
    assert_eq!(root.read("/etc/motd"), "mine\n");
    assert_eq!(root.read("/etc/issue"), "issue\n");
}

#[test]
fn a_folder_that_somebody_replaced_by_a_file_is_seen_and_left_alone() {
    let root = Root::new();
    let config = r#"{"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/srv/folder/file", "contents": {"source": "data:,x"}}]}}"#;
    root.apply(config).unwrap();
    fs::remove_dir_all(root.at("/srv/folder")).unwrap();
    root.put("/srv/folder", "mine\n");
    let view = root.verify(config).unwrap();
    assert!(!view.ok);
    let named = view.checks.iter().filter(|check| !check.ok);
    assert!(
        named
            .clone()
            .any(|check| check.what.contains("/srv/folder/file")),
        "{view:?}"
    );
    root.undo().unwrap();
    assert_eq!(root.read("/srv/folder"), "mine\n");
}

#[test]
fn another_config_is_another_run() {
    let root = root();
    root.apply(CONFIG).unwrap();
    let after_first = root.snapshot();
    let other = r#"{"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/etc/motd", "overwrite": true, "contents": {"source": "data:,other"}}]}}"#;
    root.apply(other).unwrap();
    assert_eq!(root.read("/etc/motd"), "other");
    root.undo().unwrap();
    after_first.compare(&root.snapshot()).unwrap();
    // The first config once more meets what it has written itself, which nobody may replace.
    let changed = CONFIG.replace("data:,x", "data:,y");
    let fault = root.apply(changed).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadInput);
    after_first.compare(&root.snapshot()).unwrap();
}

#[test]
fn folders_are_replaced_with_all_that_is_in_them_and_come_back() {
    let root = Root::new();
    root.put("/srv/a/b/c", "deep");
    root.put("/srv/f", "a file");
    std::fs::create_dir(root.at("/srv/hollow")).unwrap();
    let before = root.snapshot();
    let config = r#"{"ignition": {"version": "3.4.0"}, "storage": {
        "directories": [
            {"path": "/srv/a", "overwrite": true, "mode": 1472},
            {"path": "/srv/hollow", "overwrite": true},
            {"path": "/srv/f", "overwrite": true}],
        "files": [{"path": "/srv/a/new", "contents": {"source": "data:,new"}},
                  {"path": "/srv/hollow/in", "contents": {"source": "data:,in"}},
                  {"path": "/srv/f/in", "contents": {"source": "data:,in"}}]}}"#;
    root.apply(config).unwrap();
    assert_eq!(root.read("/srv/a/new"), "new");
    assert_eq!(root.read("/srv/f/in"), "in");
    assert!(!root.at("/srv/a/b").exists());
    root.undo().unwrap();
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn links_stay_inside_the_root() {
    let root = Root::new();
    std::fs::create_dir(root.at("/srv")).unwrap();
    for (link, target) in [
        ("/srv/out", "../../../../../../../../outside"),
        ("/srv/abs", "/outside"),
        ("/srv/loop", "loop"),
        ("/srv/file", "/srv/plain"),
    ] {
        std::os::unix::fs::symlink(target, root.at(link)).unwrap();
    }
    root.put("/srv/plain", "x");
    let file = |path: &str| {
        format!(
            r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{"files": [
                {{"path": "{path}", "contents": {{"source": "data:,x"}}}}]}}}}"#
        )
    };
    root.apply(file("/srv/out/one")).unwrap();
    root.apply(file("/srv/abs/two")).unwrap();
    assert_eq!(root.read("/outside/one"), "x");
    assert_eq!(root.read("/outside/two"), "x");
    for (path, says) in [("/srv/loop/x", "links"), ("/srv/file/x", "not a folder")] {
        let fault = root.apply(file(path)).unwrap_err();
        assert!(fault.message.contains(says), "{fault}");
        assert!(fault.message.contains("storage.files.0"), "{fault}");
    }
}

#[test]
fn many_files_in_many_folders_are_applied_in_one_go() {
    let root = Root::new();
    let files: Vec<String> = (0..1500)
        .map(|n| {
            let path = format!("/srv/{}/{n}/file", n % 7);
            format!(r#"{{"path": "{path}", "contents": {{"source": "data:,{n}"}}}}"#)
        })
        .collect();
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{"files": [{}]}}}}"#,
        files.join(",")
    );
    root.apply(config).unwrap();
    assert_eq!(root.read("/srv/3/10/file"), "10");
    root.undo().unwrap();
    assert!(!root.at("/srv").exists());
}

#[test]
fn a_large_file_is_written_in_pieces_and_has_its_mode_at_the_end() {
    let root = Root::new();
    let text = "0123456789abcde\n".repeat(200_000);
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{"files": [
            {{"path": "/srv/large", "mode": 292, "contents": {{"source": "data:,{}"}}}}]}}}}"#,
        text.replace('\n', "%0A")
    );
    root.apply(&config).unwrap();
    assert_eq!(root.read("/srv/large"), text);
    let mode = std::fs::metadata(root.at("/srv/large")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o7777, 0o444);
    assert!(root.verify(&config).unwrap().ok);
    root.undo().unwrap();
    assert!(!root.at("/srv").exists());
}

const SECOND: &str = r#"{"ignition": {"version": "3.4.0"}, "storage": {"files": [
    {"path": "/etc/motd", "overwrite": true, "contents": {"source": "data:,second"}}]}}"#;

#[test]
fn whoever_is_refused_takes_nothing_back() {
    let root = root();
    root.apply(CONFIG).unwrap();
    let after = root.snapshot();
    let _busy = root.hold_lock();
    let fault = root.apply(SECOND).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Preflight, "{fault}");
    let says = |text: &str| fault.details.iter().any(|detail| detail.contains(text));
    assert!(!says("taken back"), "{fault:?}");
    after.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_run_that_stands_is_found_below_one_that_was_taken_back() {
    let root = root();
    root.apply(CONFIG).unwrap();
    let after_first = root.snapshot();
    root.apply(SECOND).unwrap();
    root.undo().unwrap();
    after_first.compare(&root.snapshot()).unwrap();
    // The first one is in place: applied again it has nothing to do, and it can be taken back.
    assert_eq!(root.apply(CONFIG).unwrap().effects_done, 0);
    assert!(root.verify(CONFIG).unwrap().ok);
    assert!(root.undo().unwrap().undone > 0);
    assert_eq!(root.read("/etc/motd"), "old\n");
}

#[test]
fn what_cannot_be_replaced_leaves_nothing_half_done() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root mounts");
    }
    let root = Root::new();
    let files = ["/etc/aaa", "/etc/bbb", "/etc/mounted"];
    for path in files {
        root.put(path, "old");
    }
    let before = root.snapshot();
    let mounted = Mounted::over(&root.at("/etc/mounted"));
    let entry = |path: &&str| {
        format!(r#"{{"path": "{path}", "overwrite": true, "contents": {{"source": "data:,new"}}}}"#)
    };
    let entries: Vec<String> = files.iter().map(entry).collect();
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{"files": [{}]}}}}"#,
        entries.join(",")
    );
    let fault = root.apply(&config).unwrap_err();
    assert!(fault.message.contains("/etc/mounted"), "{fault}");
    let back = "everything is as it was";
    assert!(
        fault.details.iter().any(|detail| detail.contains(back)),
        "{fault:?}"
    );
    drop(mounted);
    before.compare(&root.snapshot()).unwrap();
}

/// A file that something is mounted over, as containers have it.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn over(path: &std::path::Path) -> Self {
        let mount = std::process::Command::new("mount")
            .arg("--bind")
            .args([path, path])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&mount.stderr);
        assert!(mount.status.success(), "{said}");
        Self(path.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let mut unmount = std::process::Command::new("umount");
        let ended = unmount.arg("--lazy").arg(&self.0).status();
        assert!(
            ended.is_ok_and(|status| status.success()),
            "{}",
            self.0.display()
        );
    }
}
