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
