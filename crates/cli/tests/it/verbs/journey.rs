//! A whole journey: planned, run, run again, verified, drifted, taken back.

use insta::assert_snapshot;

use crate::program::{Place, code};

const RUN: &str = "run cluster --to release-info";

fn ran() -> Place {
    let place = Place::with_config();
    let mut run = place.command(&format!("{RUN} --jobs 1"));
    assert_eq!(code(&mut run), Some(0));
    place
}

#[test]
fn a_plan_touches_nothing() {
    let place = Place::with_config();
    let before = place.tree("");
    assert_snapshot!(place.call("plan cluster"));
    let verbose = place.call("plan cluster --only release-info -v");
    assert_snapshot!("plan_verbose", verbose);
    assert_eq!(place.tree(""), before);
}

#[test]
fn a_run_tells_what_it_does_and_the_second_does_nothing() {
    let place = Place::with_config();
    // One step at a time, because the order of lines is not told otherwise.
    assert_snapshot!(place.call(&format!("{RUN} --jobs 1")));
    let tree = place.tree("opt");
    assert_snapshot!("run_again", place.call(RUN));
    assert_eq!(place.tree("opt"), tree);
    assert_snapshot!("plan_after_run", place.call("plan cluster"));
}

#[test]
fn programs_get_events_and_the_status() {
    let place = Place::with_config();
    let words = format!("{RUN} --only prepare-assets --progress json -o json");
    let words = words.replace("--to release-info ", "");
    let output = place.command(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["state"], "succeeded");
    assert_eq!(status["steps"][0]["state"], "done");
    let events = String::from_utf8(output.stderr).unwrap();
    let names: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.first().map(String::as_str), Some("run-started"));
    assert_eq!(names.last().map(String::as_str), Some("run-finished"));
    assert!(names.contains(&"step-done".to_owned()), "{names:?}");
}

#[test]
fn every_line_of_a_failing_run_is_an_object_for_programs() {
    let place = Place::with_config();
    place.write("opt/bootlace/tls/ca.crt", "not ours");
    let words = "run cluster --only prepare-assets --progress json -o json";
    let output = place.command(words).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines = stderr
        .lines()
        .map(serde_json::from_str::<serde_json::Value>);
    let lines: Vec<serde_json::Value> = lines.collect::<Result<_, _>>().unwrap();
    let error = &lines.last().unwrap()["error"];
    assert_eq!(error["step"], "prepare-assets", "{stderr}");
    assert_eq!(error["code"].as_i64(), output.status.code().map(i64::from));
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["state"], "failed");
}

#[test]
fn quiet_is_silent_when_nothing_fails() {
    let place = Place::with_config();
    let said = place.call(&format!("{RUN} -q"));
    assert_eq!(said, "code: 0\n--- stdout\n--- stderr\n");
}

#[test]
fn a_folder_that_is_no_machine_is_refused_before_anything_is_touched() {
    let place = Place::with_config();
    let before = place.tree("opt");
    // Further checks look at this computer, so what else they find differs.
    let said = place.call("run cluster");
    assert!(said.starts_with("code: 4\n"), "{said}");
    assert!(said.contains("[Live-Root] "), "{said}");
    assert!(said.contains("nothing was touched"), "{said}");
    assert_eq!(place.tree("opt"), before);
    assert_eq!(place.tree("var/lib/bootlace/runs"), [""; 0]);
}

#[test]
fn without_a_run_there_is_nothing_to_tell() {
    let place = Place::with_config();
    for verb in ["status", "log", "verify", "resume", "undo"] {
        let said = place.call(&format!("{verb} cluster"));
        assert!(said.starts_with("code: 4\n"), "{verb}: {said}");
    }
    assert_snapshot!(place.call("status cluster"));
    assert_snapshot!("no_runs", place.call("runs"));
    assert_snapshot!("no_runs_json", place.call("runs -o json"));
}

#[test]
fn status_without_a_sequence_means_the_only_run() {
    let place = ran();
    assert_eq!(place.call("status"), place.call("status cluster"));
    place.call("undo cluster");
    place.call("run cluster --to prepare-assets");
    assert_snapshot!("status_of_several_runs", place.call("status"));
}

#[test]
fn the_journal_is_told() {
    let place = Place::with_config();
    assert_eq!(
        code(&mut place.command(&format!("{RUN} --jobs 1"))),
        Some(0)
    );
    assert_snapshot!("status", place.call("status cluster"));
    assert_snapshot!("runs", place.call("runs"));
    assert_snapshot!("log", place.call("log cluster --only release-info"));
    let yaml = place.call("log cluster -o yaml");
    assert!(yaml.contains("kind: run-opened"), "{yaml}");
    let raw = place
        .command("log cluster -o json")
        .output()
        .unwrap()
        .stdout;
    let run = place.tree("var/lib/bootlace/runs");
    let journal = run.iter().find(|name| name.ends_with("journal.jsonl"));
    let (_, journal) = journal.unwrap().split_once(' ').unwrap();
    assert_eq!(
        String::from_utf8(raw).unwrap(),
        place.read(journal),
        "unchanged"
    );
}

#[test]
fn drift_is_found_and_named() {
    let place = ran();
    let good = place.call("verify cluster");
    assert!(good.starts_with("code: 0\n"), "{good}");
    place.write("opt/bootlace/tls/ca.crt", "not a certificate");
    assert_snapshot!(place.call("verify cluster"));
    let json = place.call("verify cluster -o json");
    assert!(
        json.starts_with("code: 6\n") && json.contains("\"ok\": false"),
        "{json}"
    );
}

#[test]
fn undo_brings_back_the_empty_root() {
    let place = Place::with_config();
    let before = place.tree("opt");
    assert_eq!(code(&mut place.command(RUN)), Some(0));
    let undone = place.call("undo cluster");
    assert!(undone.starts_with("code: 0\n"), "{undone}");
    assert_eq!(place.tree("opt"), before);
    assert!(place.call("status cluster").contains(" undone\n"));
    let again = place.call("undo cluster");
    assert!(
        again.starts_with("code: 0\n"),
        "undo twice equals undo once: {again}"
    );
}

#[test]
fn undo_leaves_alone_what_someone_edited() {
    let place = ran();
    place.write("opt/bootlace/auth/admin.conf", "mine now");
    let refused = place.call("undo cluster");
    let told = refused.split("--- stderr").next().unwrap();
    assert_snapshot!(told);
    assert_eq!(place.read("opt/bootlace/auth/admin.conf"), "mine now");
    assert!(
        refused.contains("undo cluster --force --root ."),
        "{refused}"
    );
    let forced = place.call("undo cluster --force");
    assert!(forced.starts_with("code: 0\n"), "{forced}");
    assert_eq!(place.tree("opt"), [""; 0]);
}

#[test]
fn a_changed_config_is_shown_and_going_on_is_a_choice() {
    let place = ran();
    let config = place.read("etc/bootlace/cluster.yaml");
    place.write(
        "etc/bootlace/cluster.yaml",
        &config.replace("demo", "other"),
    );
    let said = place.call(RUN);
    assert!(said.starts_with("code: 9\n"), "{said}");
    assert!(said.contains("demo") && said.contains("other"), "{said}");
    assert!(said.contains("--replan"), "{said}");
}

#[test]
fn a_second_process_is_told_who_is_at_work() {
    use std::io::Read as _;
    use std::process::Stdio;
    let place = Place::with_config();
    let mut paused = place.command(&format!("{RUN} --pause"));
    let paused = paused.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut first = paused.spawn().unwrap();
    let mut stderr = first.stderr.take().unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("q stops here") {
        let mut byte = [0];
        stderr.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    let second = place.call(RUN);
    assert!(second.starts_with("code: 4\n"), "{second}");
    assert!(second.contains(&first.id().to_string()), "{second}");
    assert!(place.call("status cluster").contains(" running\n"));
    drop(first.stdin.take());
    assert_eq!(first.wait().unwrap().code(), Some(7));
}
