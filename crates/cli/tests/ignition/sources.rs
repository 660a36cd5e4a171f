//! The same configs and contents from elsewhere, trusted alike.

use std::os::unix::fs::FileTypeExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_model::ids::Digest;
use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::outcome::Outcome;
use bootlace_testkit::ignition::secure::SecureServer;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::referee;
use crate::trees::{Applied, Case};

/// Writes text as a data URL.
fn inline(text: &str) -> String {
    format!("data:;base64,{}", STANDARD.encode(text))
}

/// Writes what a text has to be, as a config promises it.
fn hash_of(text: &str) -> String {
    format!("sha256-{}", Digest::of(text.as_bytes()).hex())
}

/// Makes a config with one file from somewhere, and more about how things are fetched.
fn with_file(path: &str, source: &str, mut more: Value) -> Value {
    more["version"] = "3.5.0".into();
    if more.get("timeouts").is_none() {
        // Ignition tries until the time is over, even if nobody can be trusted.
        more["timeouts"] = json!({"httpTotal": 4});
    }
    json!({
        "ignition": more,
        "storage": {"files": [{"path": path, "contents": {"source": source}}]},
    })
}

fn trusting(authority: &str) -> Value {
    let authorities = json!([{"source": inline(authority)}]);
    json!({"security": {"tls": {"certificateAuthorities": authorities}}})
}

/// Lets both apply each of the configs, and checks whether they were taken.
fn compare(cases: Vec<(&str, Value, Applied)>) {
    let referee = referee();
    for ((name, config, applied), number) in cases.into_iter().zip(0..) {
        let config = config.to_string().into_bytes();
        let case = Case::new(&referee, number, config, &mut Dice::new(1));
        assert_eq!(case.compare(&referee), Ok(applied), "{name}");
    }
}

#[test]
#[ignore = "slow: real Ignition"]
fn a_config_that_is_replaced_counts_as_little_as_for_ignition() {
    let child = with_file("/srv/child", "data:,child", json!({})).to_string();
    let server = SecureServer::listen(child.as_bytes()).unwrap();
    let replacing = |source: &str, more: Value| {
        let mut section = more;
        section["config"] = json!({"replace": {"source": source}});
        with_file("/srv/parent", "data:,parent", section)
    };
    let hashed = |hash: &str| {
        let mut config = replacing(&inline(&child), json!({}));
        config["ignition"]["config"]["replace"]["verification"] = json!({"hash": hash});
        config
    };
    let grandchild = replacing(&inline(&child), json!({})).to_string();
    let spoilt = replacing(&inline("{\"ignition\": {}}"), json!({}));
    let right = hash_of(&child);
    let wrong = format!("sha256-{}", "0".repeat(64));
    compare(vec![
        (
            "inline",
            replacing(&inline(&child), json!({})),
            Applied::Yes,
        ),
        (
            "twice",
            replacing(&inline(&grandchild), json!({})),
            Applied::Yes,
        ),
        ("right hash", hashed(&right), Applied::Yes),
        ("wrong hash", hashed(&wrong), Applied::No),
        ("no config", spoilt, Applied::No),
        (
            "from a server",
            replacing(&server.url("/child.ign"), trusting(server.authority())),
            Applied::Yes,
        ),
        (
            "from a server that nobody knows",
            replacing(&server.url("/child.ign"), json!({})),
            Applied::No,
        ),
    ]);
}

#[test]
#[ignore = "slow: real Ignition"]
fn authorities_are_trusted_as_ignition_trusts_them() {
    let server = SecureServer::listen(b"secret").unwrap();
    let other = SecureServer::listen(b"").unwrap();
    let file = |more: Value| with_file("/srv/x", &server.url("/x"), more);
    let hashed = |hash: String| {
        let mut config = file(trusting(server.authority()));
        let authorities = &mut config["ignition"]["security"]["tls"]["certificateAuthorities"];
        authorities[0]["verification"] = json!({"hash": hash});
        config
    };
    let both = json!({"security": {"tls": {"certificateAuthorities": [
        {"source": inline(other.authority())}, {"source": inline(server.authority())}]}}});
    let right = hash_of(server.authority());
    // What a child trusts counts for the whole, and what its parent trusts counts for the child.
    let merged = |parent: Value, child: Value| {
        let mut parent = parent;
        let child = file(child).to_string();
        parent["config"] = json!({"merge": [{"source": inline(&child)}]});
        with_file("/srv/parent", &server.url("/y"), parent)
    };
    let replaced = |child: Value| {
        let mut parent = trusting(server.authority());
        let child = file(child).to_string();
        parent["config"] = json!({"replace": {"source": inline(&child)}});
        with_file("/srv/parent", "data:,", parent)
    };
    let trusting = || trusting(server.authority());
    compare(vec![
        ("the right one", file(trusting()), Applied::Yes),
        ("one of two", file(both), Applied::Yes),
        ("none", file(json!({})), Applied::No),
        ("right hash", hashed(right), Applied::Yes),
        (
            "wrong hash",
            hashed(format!("sha256-{}", "0".repeat(64))),
            Applied::No,
        ),
        ("the child's", merged(json!({}), trusting()), Applied::Yes),
        ("the parent's", merged(trusting(), json!({})), Applied::Yes),
        ("the replacing one's", replaced(trusting()), Applied::Yes),
        ("the replaced one's", replaced(json!({})), Applied::No),
    ]);
}

#[test]
#[ignore = "slow: real Ignition"]
fn pipes_are_replaced_alike() {
    let referee = referee();
    let config = br#"{"ignition": {"version": "3.5.0"}, "storage": {
        "files": [{"path": "/srv/one", "overwrite": true, "contents": {"source": "data:,x"}}],
        "directories": [{"path": "/srv/two", "overwrite": true}],
        "links": [{"path": "/srv/three", "overwrite": true, "target": "one"}]}}"#;
    let case = Case::new(&referee, 0, config.to_vec(), &mut Dice::new(1));
    for root in ["theirs", "ours"] {
        for name in ["one", "two", "three"] {
            let place = case.root(root).join("srv").join(name);
            mknodat(CWD, &place, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }
    }
    assert_eq!(case.compare(&referee), Ok(Applied::Yes));
    let kind = std::fs::symlink_metadata(case.root("ours").join("srv/one")).unwrap();
    assert!(!kind.file_type().is_fifo());
}

#[test]
#[ignore = "slow: real Ignition"]
fn names_of_units_that_climb_are_followed_by_ignition_alone() {
    let referee = referee();
    let config = br#"{"ignition": {"version": "3.5.0"}, "systemd": {"units": [
        {"name": "../climbs.service", "contents": "[Unit]\n"}]}}"#;
    let case = Case::new(&referee, 0, config.to_vec(), &mut Dice::new(1));
    let before = Outcome::of(&case.root("ours")).unwrap();
    let theirs = referee.apply(config, &case.root("theirs")).unwrap();
    assert_eq!(theirs, Ok(()));
    assert!(
        case.root("theirs")
            .join("etc/systemd/climbs.service")
            .exists()
    );
    let refusal = crate::apply(&case.folder().join("config.ign"), &case.root("ours")).unwrap_err();
    assert!(refusal.contains("systemd.units.0"), "{refusal}");
    before
        .compare(&Outcome::of(&case.root("ours")).unwrap())
        .unwrap();
}
