//! With `--root` every path that is shown lies below the root: advice must not be about the
//! computer on which it is read.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::program::Place;

/// Where things lie on a target.
const PATHS: [&str; 7] = [
    "/usr/local",
    "/data/",
    "/run/demo",
    "/opt/bootlace",
    "/etc/kubernetes",
    "/etc/bootlace",
    "/var/lib/bootlace",
];

/// Calls the program, and finds every path that stands without the root.
fn holds(place: &Place, words: &str) -> String {
    let said = place.call(words);
    // Data names paths on the target, wherever its root lies.
    let (data, shown) = said.split_once("--- stderr\n").unwrap_or(("", &said));
    if !words.contains("-o json") {
        is_rooted(words, data);
    }
    is_rooted(words, shown);
    said
}

fn is_rooted(words: &str, said: &str) {
    for path in PATHS {
        for (at, _) in said.match_indices(path) {
            let before = &said[..at];
            // A container sees the machine's folders at places of its own.
            let is_below = before.ends_with("[ROOT]") || before.ends_with(':');
            let line = said[..at].lines().count();
            let line = said.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            assert!(is_below, "`{words}` shows a path of this computer: {line}");
        }
    }
}

fn open(place: &Place, name: &str, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.path(name), permissions).unwrap();
}

#[test]
fn what_is_only_looked_at_is_shown_below_the_root() {
    let place = Place::with_config();
    for words in [
        "plan cluster --to render-machine-config -v",
        "explain cluster -v",
        "run cluster --to render-machine-config -v",
        "run cluster --to render-machine-config",
        "status cluster -v",
        "status",
        "verify cluster -v",
        "log cluster -v",
        "plan cluster --to render-machine-config --replan -v",
        "pki list",
        "runs",
    ] {
        let said = holds(&place, words);
        assert!(said.starts_with("code: 0\n"), "{words}: {said}");
    }
}

#[test]
fn a_secret_that_is_too_open_is_closed_and_not_removed() {
    let place = Place::with_config();
    holds(&place, "run cluster --to prepare-assets");
    open(&place, "opt/bootlace/tls/ca.key", 0o644);
    for words in ["verify cluster", "verify cluster -v"] {
        let said = holds(&place, words);
        assert!(said.starts_with("code: 6\n"), "{said}");
    }
    for output in ["", " -o json"] {
        let words = format!("run cluster --to prepare-assets --replan{output}");
        let said = holds(&place, &words);
        assert!(
            said.contains("chmod 600 [ROOT]/opt/bootlace/tls/ca.key"),
            "{said}"
        );
        assert!(!said.contains("remove") && !said.contains("rm "), "{said}");
    }
    for words in ["status cluster -v", "log cluster -v", "verify cluster"] {
        holds(&place, words);
    }
}

#[test]
fn what_goes_wrong_is_told_below_the_root() {
    let place = Place::with_config();
    let fails = |words: &str| {
        let said = holds(&place, words);
        assert!(!said.starts_with("code: 0\n"), "{words}: {said}");
    };
    for words in [
        "verify cluster",
        "status",
        "status cluster",
        "resume cluster",
        "undo cluster",
        "log cluster",
        "run cluster",
        "run cluster --from verify-api",
        "pki check",
    ] {
        fails(words);
    }
    place.write("opt/bootlace/tls/ca.crt", "no certificate\n");
    fails("run cluster --to prepare-assets");
    place.write(
        "etc/bootlace/cluster.yaml",
        "kind: Cluster\nspec: {nope: 1}\n",
    );
    fails("plan cluster");
}

#[test]
fn what_was_edited_is_told_below_the_root() {
    let place = Place::with_config();
    holds(&place, "run cluster --to render-machine-config");
    place.write("opt/bootlace/records/release.json", "{}\n");
    place.write("opt/bootlace/manifests/zz_cluster-version.yaml", "x: 1\n");
    for words in [
        "verify cluster",
        "plan cluster --to render-machine-config --replan",
        "run cluster --to render-machine-config --replan",
        "undo cluster",
        "status cluster",
    ] {
        holds(&place, words);
    }
    place.write("var/lib/bootlace/lock", "");
    let runs = place.tree("var/lib/bootlace/runs");
    let journal = runs.iter().find(|name| name.ends_with("journal.jsonl"));
    let journal = journal.unwrap().split_once(' ').unwrap().1;
    place.write(journal, "{\"v\":1}\n{\"v\":1}\n");
    for words in ["verify cluster", "log cluster", "runs", "undo cluster"] {
        holds(&place, words);
    }
}

#[test]
fn a_paused_run_shows_what_it_will_do_below_the_root() {
    let place = Place::with_config();
    let mut run = place.command("run cluster --to copy-manifests --pause");
    run.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut run = run.spawn().unwrap();
    run.stdin.take().unwrap().write_all(b"\nq\n").unwrap();
    let said = place.said(&run.wait_with_output().unwrap());
    assert!(said.contains("[ROOT]/opt/bootlace"), "{said}");
    is_rooted("run --pause", &said);
}

#[test]
fn what_an_ignition_config_writes_anywhere_is_shown_below_the_root() {
    let place = Place::new();
    let config = r#"{"ignition": {"version": "3.4.0"}, "storage": {
        "files": [
            {"path": "/usr/local/bin/x", "mode": 493, "contents": {"source": "data:,x"}},
            {"path": "/data/y", "contents": {"source": "data:,y"}}],
        "directories": [{"path": "/run/demo"}]}}"#;
    place.write("node.ign", config);
    for words in [
        "plan ignition --ignition node.ign",
        "plan ignition --ignition node.ign -v",
        "ignition apply node.ign -v",
        "verify ignition -v",
        "status ignition -v",
        "log ignition -v",
    ] {
        let said = holds(&place, words);
        if words.starts_with("plan") {
            assert!(said.contains("[ROOT]/usr/local/bin/x"), "{words}: {said}");
        }
    }
    place.write("usr/local/bin/x", "edited");
    for words in ["verify ignition", "undo ignition"] {
        let said = holds(&place, words);
        assert!(said.contains("[ROOT]/usr/local/bin/x"), "{words}: {said}");
    }
}
