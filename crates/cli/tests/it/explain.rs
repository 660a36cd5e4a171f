//! `explain`, which needs no world.

use insta::assert_snapshot;

use crate::program::Place;

#[test]
fn the_whole_sequence_begins_with_an_overview() {
    let said = Place::new().call("explain cluster");
    let overview: String = said.split("\n1/23 ").next().unwrap().into();
    assert_snapshot!(overview);
    assert!(said.contains("\n23/23 clean-assets "), "{said}");
}

#[test]
fn one_step_keeps_its_number() {
    let said = Place::new().call("explain cluster --only release-info");
    assert!(said.contains("\n3/23 release-info ─"), "{said}");
    for part in [
        "  Reads  ",
        "  Writes  ",
        "  By hand",
        "  Checked by",
        "  Undone by  ",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
}

#[test]
fn programs_get_every_field() {
    let said = Place::new().call("explain cluster --from copy-manifests --to release-info -o json");
    let json = said.split("--- stdout\n").nth(1).unwrap();
    let json = json.split("--- stderr\n").next().unwrap();
    let view: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(view["sequence"], "cluster");
    let ids: Vec<&str> = view["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["copy-manifests", "release-info"]);
    for field in [
        "title", "why", "reads", "writes", "command", "expects", "undo", "failures",
    ] {
        assert!(!view["steps"][0][field].is_null(), "{field}");
    }
}

#[test]
fn a_broken_pipe_is_no_fault() {
    use std::process::Stdio;
    let place = Place::new();
    let mut command = place.command("explain cluster");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
