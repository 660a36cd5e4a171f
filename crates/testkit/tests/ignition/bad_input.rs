//! Everything that may be wrong with a config, from its text to what its servers say: it is refused
//! in time and without filling the memory, nothing is touched, and it is said what to change.

mod servers;

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use bootlace_model::fault::{Fault, FaultKind};

use crate::world::Root;

/// How long a refusal may take that waits for nobody.
const SOON: Duration = Duration::from_secs(5);

/// Applies a config that has to be refused; checks that the root is as it was, and that the fault
/// tells where it is wrong and what to do.
fn refused(root: &Root, config: impl AsRef<[u8]>, within: Duration) -> Fault {
    let before = root.snapshot();
    let began = Instant::now();
    let fault = root.apply(config).unwrap_err();
    let took = began.elapsed();
    assert!(took < within, "{took:?}: {fault}");
    let place = fault.place.as_ref().unwrap();
    assert_eq!(place.file, "config.ign", "{fault}");
    assert!(place.line.is_some(), "{fault}");
    assert!(
        fault.because.is_some() && !fault.hints.is_empty(),
        "{fault:?}"
    );
    assert!(fault.message.len() < 2000, "{fault}");
    before.compare(&root.snapshot()).unwrap();
    fault
}

/// Checks that a config is refused at once, as bad input, and says all of these.
fn says(root: &Root, config: impl AsRef<[u8]>, all: &[&str]) {
    let fault = refused(root, config, SOON);
    assert_eq!(fault.kind, FaultKind::BadInput, "{fault}");
    let told = format!("{} {:?}", fault.message, fault.details);
    for said in all {
        assert!(told.contains(said), "{said:?} is not said: {told}");
    }
}

fn config(storage: &str) -> String {
    format!("{{\"ignition\": {{\"version\": \"3.4.0\"}},\n\"storage\": {{{storage}}}}}")
}

#[test]
fn paths_that_lead_out_are_refused() {
    let root = Root::new();
    for path in [
        "/../etc/x",
        "/srv/../../x",
        "/srv/./x",
        "/srv//x",
        "srv/x",
        "../x",
        "/srv/x/",
    ] {
        for kind in ["files", "directories"] {
            let at = format!("storage.{kind}.0.path");
            says(
                &root,
                config(&format!(r#""{kind}": [{{"path": "{path}"}}]"#)),
                &[&at],
            );
        }
    }
    for name in ["../x.service", "a/../b.service"] {
        let unit = format!(
            r#"{{"ignition": {{"version": "3.4.0"}}, "systemd": {{"units": [{{"name": "{name}", "contents": "[Unit]\n"}}]}}}}"#
        );
        says(&root, unit, &["systemd.units.0"]);
    }
    let dropin = r#"{"ignition": {"version": "3.4.0"}, "systemd": {"units": [{"name": "a.service",
        "dropins": [{"name": "../../x.conf", "contents": "[Unit]\n"}]}]}}"#;
    says(&root, dropin, &["systemd.units.0.dropins.0"]);
}

#[test]
fn links_lead_nowhere_but_into_the_root() {
    let root = Root::new();
    let outside = root.around().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(root.at("/srv")).unwrap();
    symlink(&outside, root.at("/srv/abs")).unwrap();
    symlink("../../outside", root.at("/srv/rel")).unwrap();
    symlink("loop", root.at("/srv/loop")).unwrap();
    let before = root.snapshot();
    for link in ["abs", "rel"] {
        let file = format!(
            r#""files": [{{"path": "/srv/{link}/x", "contents": {{"source": "data:,x"}}}}]"#
        );
        root.apply(config(&file)).unwrap();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{link}");
        root.undo().unwrap();
        before.compare(&root.snapshot()).unwrap();
    }
    let looped = r#""files": [{"path": "/srv/loop/x"}]"#;
    says(
        &root,
        config(looped),
        &["storage.files.0: /srv/loop/x cannot be reached", "links"],
    );
    // A hard link cannot bring a file of the machine into the root.
    let hard = format!(
        r#""links": [{{"path": "/srv/h", "target": "{}/../root/../outside", "hard": true}}]"#,
        root.around().display()
    );
    says(
        &root,
        config(&hard),
        &["storage.links.0: /srv/h cannot be a hard link"],
    );
}

#[test]
fn files_under_files_and_paths_that_are_there_twice_are_refused() {
    let root = Root::new();
    root.put("/srv/file", "x");
    says(
        &root,
        config(r#""files": [{"path": "/srv/file/x"}]"#),
        &["storage.files.0: /srv/file/x cannot be made: /srv/file is a file"],
    );
    let both = r#""files": [{"path": "/a"}, {"path": "/a/b"}]"#;
    says(&root, config(both), &["storage.files.1"]);
    let twice = r#""files": [{"path": "/a"}, {"path": "/a"}]"#;
    says(&root, config(twice), &["storage.files.1"]);
    let kinds = r#""files": [{"path": "/a"}], "directories": [{"path": "/a"}]"#;
    says(&root, config(kinds), &["storage.files.0", "twice"]);
    // Two ways to the same place.
    std::fs::create_dir(root.at("/real")).unwrap();
    symlink("real", root.at("/link")).unwrap();
    let ways = r#""files": [{"path": "/real/x"}, {"path": "/link/x"}]"#;
    says(
        &root,
        config(ways),
        &["storage.files.1: /link/x and /real/x are the same place"],
    );
}

#[test]
fn texts_that_are_no_configs_are_refused_with_line_and_column() {
    let root = Root::new();
    let deep = "[".repeat(10_001) + &"]".repeat(10_001);
    let many = "{\"a\":".repeat(100_000);
    let texts: [(&str, Vec<u8>); 7] = [
        (
            "deep",
            format!("{{\"ignition\": {{\"version\": \"3.4.0\"}},\n\"x\": {deep}}}").into(),
        ),
        ("never closed", many.into()),
        (
            "no text",
            b"{\"ignition\": {\"version\": \"3.4.0\xff\xfe\"}}".to_vec(),
        ),
        ("cut", b"{\"ignition\": {\"version\": \"3.4.0\"}".to_vec()),
        (
            "two",
            b"{\"ignition\": {\"version\": \"3.4.0\"}} {}".to_vec(),
        ),
        ("no JSON", b"ignition: {version: 3.4.0}".to_vec()),
        ("empty", vec![]),
    ];
    for (name, text) in texts {
        let fault = refused(&root, text, SOON);
        assert_eq!(fault.kind, FaultKind::BadInput, "{name}: {fault}");
        let place = fault.place.as_ref().unwrap();
        assert!(place.line.is_some_and(|line| line >= 1), "{name}: {fault}");
        assert!(
            place.column.is_some_and(|column| column >= 1),
            "{name}: {fault}"
        );
    }
    // At the depth that Ignition takes, it is taken.
    let deep = "[".repeat(9_990) + &"]".repeat(9_990);
    let text = format!("{{\"ignition\": {{\"version\": \"3.4.0\"}},\n\"x\": {deep}}}");
    root.apply(text).unwrap();
}

#[test]
fn text_that_is_no_utf_8_in_a_value_never_becomes_a_name() {
    let root = Root::new();
    let mut text = config(r#""files": [{"path": "/srv/?"}]"#).into_bytes();
    let at = text.iter().position(|byte| *byte == b'?').unwrap();
    text[at] = 0xff;
    // Ignition takes what cannot be read as the character that stands for it.
    match root.apply(&text) {
        Ok(_) => assert!(root.at("/srv/\u{fffd}").exists()),
        Err(fault) => assert_eq!(fault.kind, FaultKind::BadInput, "{fault}"),
    }
}

#[test]
fn contents_that_are_not_as_promised_are_refused() {
    let root = Root::new();
    let file = |source: &str, more: &str| {
        config(&format!(
            r#""files": [{{"path": "/srv/x", "contents": {{"source": "{source}"{more}}}}}]"#
        ))
    };
    let hash = format!(
        r#", "verification": {{"hash": "sha256-{}"}}"#,
        "0".repeat(64)
    );
    says(
        &root,
        file("data:,x", &hash),
        &["storage.files.0.contents", "hash", "sha256-2d711642"],
    );
    let packed = r#", "compression": "gzip""#;
    says(
        &root,
        file("data:,x", packed),
        &["storage.files.0.contents", "gzip"],
    );
    says(
        &root,
        file("data:;base64,!!", ""),
        &["storage.files.0.contents.source"],
    );
    for scheme in ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x"] {
        says(
            &root,
            file(scheme, ""),
            &["storage.files.0.contents.source", "scheme"],
        );
    }
    for scheme in ["s3://bucket/x", "gs://bucket/x", "tftp://127.0.0.1/x"] {
        says(
            &root,
            file(scheme, ""),
            &["storage.files.0.contents", "which is not supported"],
        );
    }
}
