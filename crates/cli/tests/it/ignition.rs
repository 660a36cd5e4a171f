//! Ignition configs on the command line: judged, translated, merged.

use insta::assert_snapshot;

use crate::program::Place;

const BASE: &str = r#"{
  "ignition": {"version": "3.2.0"},
  "storage": {"files": [
    {"path": "/etc/motd", "mode": 420, "contents": {"source": "data:,base"}},
    {"path": "/etc/issue", "contents": {"source": "data:,hello"}}
  ]}
}
"#;

const MINE: &str = r#"{
  "ignition": {"version": "3.4.0"},
  "kernelArguments": {"shouldExist": ["quiet"]},
  "storage": {"files": [{"path": "/etc/motd", "contents": {"source": "data:,mine"}}]},
  "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\nExecStart=/a\n"}]}
}
"#;

const WRONG: &str = r#"{
  "ignition": {"version": "3.4.0"},
  "storage": {
    "files": [{"path": "etc/motd", "mode": 99999}],
    "links": [{"path": "/l"}]
  },
  "sytemd": {}
}
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("base.ign", BASE);
    place.write("mine.ign", MINE);
    place.write("wrong.ign", WRONG);
    place
}

#[test]
fn a_config_is_judged_with_places_and_advice() {
    let place = place();
    assert_snapshot!("ignition_valid", place.call("ignition validate mine.ign"));
    assert_snapshot!("ignition_wrong", place.call("ignition validate wrong.ign"));
    let json = place.call("ignition validate wrong.ign -o json");
    assert_snapshot!("ignition_wrong_json", json);
    let absent = place.call("ignition validate nowhere.ign");
    assert!(absent.starts_with("code: 3\n"), "{absent}");
}

#[test]
fn butane_is_recognised_and_told_how_to_translate() {
    let place = Place::new();
    place.write("node.bu", "variant: fcos\nversion: 1.5.0\nstorage: {}\n");
    let judged = place.call("ignition validate node.bu");
    assert_snapshot!("butane", judged);
    for words in [
        "ignition apply node.bu",
        "plan ignition --ignition node.bu",
        "ignition convert --to 3.2.0 node.bu",
        "ignition merge node.bu node.bu",
    ] {
        let said = place.call(words);
        assert!(said.starts_with("code: 3\n"), "{said}");
        assert!(said.contains("butane --strict"), "{said}");
    }
}

#[test]
fn a_plan_says_after_which_step_the_rest_is_known() {
    let place = Place::new();
    let config = r#"{"ignition": {"version": "3.4.0"}, "passwd": {"users": [{"name": "ada"}]},
        "storage": {"files": [{"path": "/etc/motd", "user": {"name": "ada"}}]}}"#;
    place.write("user.ign", config);
    place.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
    let plan = place.call("plan ignition --ignition user.ign");
    assert!(plan.contains("is known after"), "{plan}");
    assert!(!plan.contains("nothing yields"), "{plan}");
}

#[test]
fn a_config_is_translated_or_refused_by_name() {
    let place = place();
    let old = place.call("ignition convert --to 2.2.0 base.ign");
    assert_snapshot!("ignition_converted", old);
    let refused = place.call("ignition convert --to 3.0.0 mine.ign");
    assert_snapshot!("ignition_not_converted", refused);
    let unknown = place.call("ignition convert --to 4 mine.ign");
    assert!(unknown.starts_with("code: 2\n"), "{unknown}");
}

#[test]
fn configs_are_merged_and_every_value_is_accounted_for() {
    let place = place();
    let merged = place.call("ignition merge base.ign mine.ign");
    assert_snapshot!("ignition_merged", merged);
    let transcript = place.call("ignition merge --transcript base.ign mine.ign");
    assert_snapshot!("ignition_transcript", transcript);
    place.write(
        "link.ign",
        r#"{"ignition": {"version": "3.4.0"}, "storage": {"links": [{"path": "/etc/motd", "target": "/x"}]}}"#,
    );
    place.write(
        "below.ign",
        r#"{"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/motd/a"}]}}"#,
    );
    let clash = place.call("ignition merge link.ign below.ign");
    assert_snapshot!("ignition_merge_refused", clash);
}
