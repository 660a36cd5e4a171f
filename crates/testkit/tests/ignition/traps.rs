//! What lies where it should not: each of these once went wrong, or was said badly.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use bootlace_model::fault::{Fault, FaultKind};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::world::{Root, make_parents};

/// Writes a config with these sections of `storage`.
fn storage(sections: &str) -> String {
    format!(r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{{sections}}}}}"#)
}

fn make(root: &Root, path: &str, kind: FileType, device: u64) {
    let place = root.at(path);
    make_parents(&place);
    mknodat(CWD, &place, kind, Mode::from_raw_mode(0o640), device).unwrap();
    chown(&place, Some(7), Some(8)).unwrap();
}

/// Applies a config that is refused, and checks that nothing came of it.
fn refused(root: &Root, config: &str) -> Fault {
    let before = root.snapshot();
    let fault = root.apply(config).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadInput, "{fault}");
    assert!(!fault.hints.is_empty(), "{fault}");
    before.compare(&root.snapshot()).unwrap();
    fault
}

/// Applies a config, lets somebody look, and takes it back.
fn applied(root: &Root, config: &str, look: impl FnOnce()) {
    let before = root.snapshot();
    root.apply(config).unwrap();
    look();
    let undone = root.undo().unwrap();
    assert!(undone.refused.is_empty(), "{:?}", undone.refused);
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn pipes_and_sockets_are_replaced_and_come_back() {
    let root = Root::new();
    make(&root, "/srv/pipe", FileType::Fifo, 0);
    make(&root, "/srv/folder/deep/pipe", FileType::Fifo, 0);
    make(&root, "/srv/other", FileType::Fifo, 0);
    make(&root, "/etc/systemd/system/a.service", FileType::Fifo, 0);
    drop(UnixListener::bind(root.at("/srv/socket")).unwrap());
    let config = r#"{"ignition": {"version": "3.4.0"}, "storage": {
        "files": [{"path": "/srv/pipe", "overwrite": true, "contents": {"source": "data:,x"}}],
        "directories": [{"path": "/srv/folder", "overwrite": true}, {"path": "/srv/socket", "overwrite": true}],
        "links": [{"path": "/srv/other", "overwrite": true, "target": "pipe"}]},
        "systemd": {"units": [{"name": "a.service", "contents": "[Unit]\n"}]}}"#;
    applied(&root, config, || {
        assert_eq!(root.read("/srv/pipe"), "x");
        assert!(root.at("/srv/socket").is_dir());
        assert_eq!(root.read("/etc/systemd/system/a.service"), "[Unit]\n");
    });
    let pipe = fs::symlink_metadata(root.at("/srv/folder/deep/pipe")).unwrap();
    assert!(pipe.file_type().is_fifo());
    assert_eq!(
        (pipe.mode() & 0o7777, pipe.uid(), pipe.gid()),
        (0o640, 7, 8)
    );
}

#[test]
fn a_device_is_never_replaced() {
    let root = Root::new();
    make(&root, "/srv/null", FileType::CharacterDevice, makedev(1, 3));
    let entry =
        r#""files": [{"path": "/srv/null", "overwrite": true, "contents": {"source": "data:,"}}]"#;
    let fault = refused(&root, &storage(entry));
    let says = "storage.files.0: /srv/null is a character device, which could not be put back";
    assert_eq!(fault.message, says);
    // In a folder it is found when its turn comes, and all is taken back.
    let before = root.snapshot();
    let folder = storage(r#""directories": [{"path": "/srv", "overwrite": true}]"#);
    let fault = root.apply(folder).unwrap_err();
    assert!(fault.message.contains("/srv/null"), "{fault}");
    let why = fault.because.clone().unwrap_or_default();
    assert!(why.contains("storage.directories.0"), "{why}");
    before.compare(&root.snapshot()).unwrap();
}

#[test]
fn a_link_belongs_to_its_owner_where_folders_hand_their_group_down() {
    let root = Root::new();
    let folder = root.at("/srv/shared");
    fs::create_dir_all(&folder).unwrap();
    chown(&folder, Some(3), Some(4)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o2775)).unwrap();
    let config = storage(r#""links": [{"path": "/srv/shared/l", "target": "/nowhere"}]"#);
    applied(&root, &config, || {
        let link = fs::symlink_metadata(root.at("/srv/shared/l")).unwrap();
        assert_eq!((link.uid(), link.gid()), (0, 0));
    });
}

#[test]
fn hard_links_to_hard_links_of_the_same_config_go_again() {
    let root = Root::new();
    root.put("/srv/file", "x");
    let config = storage(
        r#""links": [{"path": "/srv/one", "target": "/srv/file", "hard": true},
                     {"path": "/srv/two", "target": "/srv/one", "hard": true},
                     {"path": "/srv/three", "target": "/srv/two", "hard": true}]"#,
    );
    applied(&root, &config, || {
        let links = fs::metadata(root.at("/srv/three")).unwrap().nlink();
        assert_eq!(links, 4);
        assert!(root.verify(&config).unwrap().ok);
    });
}

#[test]
fn what_is_below_a_file_is_refused_by_name() {
    let root = Root::new();
    root.put("/srv/file", "x");
    make(&root, "/srv/pipe", FileType::Fifo, 0);
    for (entry, at) in [
        (
            r#""links": [{"path": "/srv/file/l", "target": "a/b"}]"#,
            "storage.links.0",
        ),
        (
            r#""links": [{"path": "/srv/file/l", "target": "/a/b/c"}]"#,
            "storage.links.0",
        ),
        (
            r#""links": [{"path": "/srv/pipe/l", "target": "/srv/file", "hard": true}]"#,
            "storage.links.0",
        ),
        (
            r#""links": [{"path": "/srv/l", "target": "/srv/file/x/y", "hard": true}]"#,
            "storage.links.0",
        ),
        (r#""files": [{"path": "/srv/pipe/x/y"}]"#, "storage.files.0"),
        (
            r#""directories": [{"path": "/srv/file/x"}]"#,
            "storage.directories.0",
        ),
    ] {
        let fault = refused(&root, &storage(entry));
        assert!(fault.message.starts_with(at), "{entry}: {fault}");
    }
}

#[test]
fn an_entry_goes_where_links_led_before_another_entry_replaced_them() {
    let root = Root::new();
    fs::create_dir_all(root.at("/srv/real")).unwrap();
    symlink("real", root.at("/srv/link")).unwrap();
    let config = storage(
        r#""directories": [{"path": "/srv/link", "overwrite": true}],
           "files": [{"path": "/srv/link/x", "contents": {"source": "data:,x"}}]"#,
    );
    applied(&root, &config, || assert_eq!(root.read("/srv/real/x"), "x"));
}

#[test]
fn what_a_hard_link_overwrites_under_another_name_is_not_missed() {
    let root = Root::new();
    root.put("/a/file", "f");
    root.put("/a/dir/leaf", "leaf");
    symlink("a", root.at("/b")).unwrap();
    let config = storage(
        r#""directories": [{"path": "/b/dir/new"}],
           "links": [{"hard": true, "overwrite": true, "path": "/a/dir", "target": "/a/file"}]"#,
    );
    applied(&root, &config, || assert_eq!(root.read("/a/dir"), "f"));
}

#[test]
fn a_hard_link_cannot_overwrite_what_another_one_leads_to() {
    let root = Root::new();
    root.put("/a/file", "f");
    root.put("/a/other", "o");
    let config = storage(
        r#""links": [{"hard": true, "path": "/a/first", "target": "/a/file"},
                     {"hard": true, "overwrite": true, "path": "/a/file", "target": "/a/other"}]"#,
    );
    let fault = refused(&root, &config);
    let says = "storage.links.1: /a/file overwrites what /a/first shall be a hard link of";
    assert!(fault.message.starts_with(says), "{fault}");
}

#[test]
fn an_entry_is_where_it_was_put_even_if_its_name_leads_elsewhere_since() {
    let root = Root::new();
    fs::create_dir_all(root.at("/srv/real")).unwrap();
    symlink("real", root.at("/srv/link")).unwrap();
    symlink("link", root.at("/srv/way")).unwrap();
    let config = storage(
        r#""directories": [{"path": "/srv/link", "overwrite": true}],
           "files": [{"path": "/srv/way/x", "contents": {"source": "data:,x"}}]"#,
    );
    applied(&root, &config, || assert_eq!(root.read("/srv/real/x"), "x"));
}

#[test]
fn links_that_cannot_be_are_refused_before_anything_is_done() {
    let root = Root::new();
    for target in ["a\\u0000b".to_owned(), "x".repeat(4096)] {
        let entry = format!(r#""links": [{{"path": "/srv/l", "target": "{target}"}}]"#);
        let fault = refused(&root, &storage(&entry));
        let says = "storage.links.0: /srv/l cannot be a link";
        assert!(fault.message.starts_with(says), "{fault}");
        assert!(fault.message.len() < 300, "{fault}");
    }
}

#[test]
fn paths_are_as_long_and_as_deep_as_the_kernel_takes_them() {
    let root = Root::new();
    let file = |path: &str| storage(&format!(r#""files": [{{"path": "{path}"}}]"#));
    let fault = refused(&root, &file(&"/deep".repeat(900)));
    assert!(fault.message.contains("storage.files.0"), "{fault}");
    assert!(fault.message.contains("4500 bytes long"), "{fault}");
    let began = Instant::now();
    applied(&root, &file(&"/deep".repeat(800)), || {});
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn the_target_s_lists_matter_only_to_whoever_is_named() {
    let root = Root::new();
    fs::create_dir_all(root.at("/etc/passwd")).unwrap();
    make(&root, "/etc/group", FileType::Fifo, 0);
    applied(&root, &storage(r#""files": [{"path": "/srv/x"}]"#), || {});
    for who in ["user", "group"] {
        let entry = format!(r#""files": [{{"path": "/srv/x", "{who}": {{"name": "ada"}}}}]"#);
        let fault = refused(&root, &storage(&entry));
        let says = format!("storage.files.0: the {who} ada");
        assert!(fault.message.starts_with(&says), "{fault}");
    }
}

#[test]
fn units_are_refused_by_name_where_their_folders_are_none() {
    let unit = |more: &str| {
        format!(
            r#"{{"ignition": {{"version": "3.4.0"}}, "systemd": {{"units": [{{"name": "a.service"{more}}}]}}}}"#
        )
    };
    let written = unit(r#", "contents": "[Unit]\n""#);
    let root = Root::new();
    root.put("/etc/systemd/system", "no folder");
    let fault = refused(&root, &written);
    assert!(fault.message.starts_with("systemd.units.0"), "{fault}");
    // Nothing of the unit lies in the folder.
    applied(&root, &unit(r#", "enabled": false"#), || {});
    let root = Root::new();
    fs::create_dir_all(root.at("/etc/systemd")).unwrap();
    symlink("system", root.at("/etc/systemd/system")).unwrap();
    let fault = refused(&root, &written);
    assert!(fault.message.starts_with("systemd.units.0"), "{fault}");
    let root = Root::new();
    let preset = "/etc/systemd/system-preset/20-ignition.preset";
    fs::create_dir_all(root.at(preset)).unwrap();
    let fault = refused(&root, &unit(r#", "enabled": true"#));
    assert!(fault.message.starts_with("systemd.units.0"), "{fault}");
    assert!(fault.message.contains(preset), "{fault}");
}

#[test]
fn the_record_of_the_run_itself_is_not_an_entry_s_to_replace() {
    let root = Root::new();
    root.apply(storage(r#""files": [{"path": "/srv/x"}]"#))
        .unwrap();
    for entry in [
        r#""directories": [{"path": "/state", "overwrite": true}]"#,
        r#""files": [{"path": "/state/runs", "overwrite": true, "contents": {"source": "data:,"}}]"#,
        r#""links": [{"path": "/state", "overwrite": true, "target": "/srv"}]"#,
    ] {
        let fault = root.apply(storage(entry)).unwrap_err();
        assert!(fault.message.contains("storage."), "{fault}");
        assert_eq!(fault.kind, FaultKind::BadInput, "{fault}");
    }
    root.undo().unwrap();
    assert!(!root.at("/srv").exists());
}

#[test]
fn units_that_a_link_leads_into_the_record_are_refused() {
    for (link, unit, says) in [
        (
            "/etc/systemd/system",
            r#""contents": "[Unit]\n""#,
            "systemd.units.0: ",
        ),
        (
            "/etc/systemd/system",
            r#""mask": false"#,
            "systemd.units.0: ",
        ),
        (
            "/etc/systemd/system/a.service.d",
            r#""dropins": [{"name": "b.conf", "contents": ""}]"#,
            "systemd.units.0.dropins.0: ",
        ),
        (
            "/etc/systemd/system-preset",
            r#""enabled": true"#,
            "systemd.units.0: ",
        ),
    ] {
        let root = Root::new();
        make_parents(&root.at(link));
        symlink("/state", root.at(link)).unwrap();
        let config = format!(
            r#"{{"ignition": {{"version": "3.4.0"}}, "systemd": {{"units": [
                {{"name": "a.service", {unit}}}]}}}}"#
        );
        let fault = refused(&root, &config);
        assert!(fault.message.starts_with(says), "{fault}");
        assert!(fault.message.contains("the record of this run"), "{fault}");
    }
}
