//! Journals that version 0.1.0 wrote before they kept undo policies are read, resumed and undone.

#![expect(clippy::disallowed_methods, reason = "a test's own files")]

use std::path::PathBuf;
use std::process::Command;

use bootlace_model::path::TargetPath;
use bootlace_test_notes::skip;
use bootlace_testkit::tree::Snapshot;

use crate::program::{Place, code};

/// Unpacks a fixture; none if its owners cannot be restored.
fn unpacked(name: &str) -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let place = Place::new();
    let archive = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/journals");
    let status = Command::new("tar")
        .args(["-C", ".", "-xzf"])
        .arg(archive.join(name).with_extension("tar.gz"))
        .current_dir(place.path(""))
        .status();
    assert!(status.unwrap().success());
    Some(place)
}

/// Calls the program on the root of the fixture.
fn ends_with(wanted: i32, place: &Place, words: &str) {
    let mut command = place.bare(words);
    command.args(["--root", "root"]);
    assert_eq!(code(&mut command), Some(wanted), "{words}");
}

fn journal(place: &Place) -> PathBuf {
    let runs = place.path("root/var/lib/bootlace/runs");
    let run = runs.read_dir().unwrap().next().unwrap().unwrap();
    run.path().join("journal.jsonl")
}

/// Compares the root with what it was before the run, but for the state folder.
fn is_as_before(place: &Place) {
    let without = ["/var/lib"].map(|path| TargetPath::new(path).unwrap());
    let tree = |name: &str| Snapshot::of_folder(&place.path(name), &without).unwrap();
    tree("start").compare(&tree("root")).unwrap();
}

/// Looks at a run, continues it from where a crash may have ended its journal, and takes it back.
fn lives_on(name: &str) {
    let text = unpacked(name).map(|place| std::fs::read_to_string(journal(&place)).unwrap());
    let Some(text) = text else {
        skip!("only root can restore the owners of the fixture");
    };
    let lines = text.lines().count();
    // Whatever is there has its intent; some of it was not answered yet.
    let is_intent = |line: &&str| line.contains(r#""kind":"intent""#);
    let unanswered = lines
        - text
            .lines()
            .rev()
            .take_while(|line| !is_intent(line))
            .count();
    assert!(
        unanswered + 2 < lines,
        "{lines} lines, {unanswered} of them up to an intent"
    );
    for cut in [lines, lines - 1, unanswered + 1, unanswered] {
        let place = unpacked(name).unwrap();
        let journal = journal(&place);
        let kept: Vec<&str> = text.lines().take(cut).collect();
        std::fs::write(&journal, kept.join("\n") + "\n").unwrap();
        if cut < lines {
            // It is written when a run is closed.
            std::fs::remove_file(journal.with_file_name("head.json")).unwrap();
        }
        ends_with(0, &place, &format!("status {name}"));
        ends_with(0, &place, &format!("log {name}"));
        ends_with(0, &place, "runs");
        ends_with(0, &place, &format!("resume {name}"));
        ends_with(0, &place, &format!("undo {name}"));
        is_as_before(&place);
    }
    let place = unpacked(name).unwrap();
    ends_with(0, &place, &format!("undo {name}"));
    is_as_before(&place);
}

#[test]
fn a_run_of_cluster_is_resumed_and_undone() {
    // Keys and certificates of the fixture are not judged again: they expire.
    lives_on("cluster");
}

#[test]
fn a_run_of_ignition_is_verified_resumed_and_undone() {
    lives_on("ignition");
    if let Some(place) = unpacked("ignition") {
        ends_with(0, &place, "verify ignition");
    }
}
