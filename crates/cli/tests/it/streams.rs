//! Data on stdout, everything else on stderr.

use std::process::Stdio;

use crate::program::Place;

#[test]
#[expect(clippy::disallowed_methods, reason = "a device that is always full")]
fn a_full_disk_is_told() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = place
        .command("explain cluster")
        .stdout(full)
        .output()
        .unwrap();
    let said = place.said(&output);
    assert!(said.starts_with("code: 1\n"), "{said}");
    assert!(said.contains("error: cannot write to stdout"), "{said}");
}

#[test]
fn nobody_has_to_read_stderr() {
    let place = Place::new();
    let mut child = place
        .command("plan clutser")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn stderr_is_json_alone_if_a_program_listens() {
    let place = Place::new();
    let words = "run cluster --only copy-manifests --progress json";
    // The second run has nothing to do, and says so in other words.
    for lines_at_least in [3, 0] {
        let output = place.command(words).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.lines().count() >= lines_at_least, "{said}");
        for line in said.lines() {
            let event: Result<serde_json::Value, _> = serde_json::from_str(line);
            assert!(event.is_ok(), "not JSON: {line}");
        }
    }
}
