//! Faults on a real machine: the right exit code, the cause named soon, and on it goes without the fault.

mod certificates;
mod dying;
mod payload;
mod refused;
mod started;

use std::time::{Duration, Instant};

use bootlace_machines::Finished;

use crate::world::Node;

/// How soon a cause must be named after it can be seen.
const SOON: f64 = 10.0;

/// Calls bootlace, which must end with this code and name the cause in these words.
pub(crate) fn fails(node: &Node, code: i32, words: &[&str], says: &[&str]) -> Finished {
    let failed = node.ends_with(code, words);
    // Long lines are broken between words.
    let said: Vec<&str> = failed.stderr.split_whitespace().collect();
    let said = said.join(" ");
    for word in says {
        assert!(said.contains(word), "{word}: {}", failed.stderr);
    }
    assert!(
        failed.stderr.contains("\n  next "),
        "it does not say what to type next: {}",
        failed.stderr
    );
    failed
}

/// Like [`fails`], for what is known before anything is begun.
fn fails_at_once(node: &Node, code: i32, words: &[&str], says: &[&str]) {
    let began = Instant::now();
    fails(node, code, words, says);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "it took {took:?}");
}

/// Fails unless the machine's clock shows less than ten seconds since a line was written.
///
/// `first` prints the lines; the time stands in the first word.
pub(crate) fn was_named_soon(node: &Node, first: &str) {
    let line = format!("{first} | head -n 1 | cut -d ' ' -f 1");
    let line = node.sh(&line);
    let line = line.trim();
    assert!(!line.is_empty(), "nothing is printed by `{first}`");
    let seen = match line.parse() {
        Ok(seconds) => seconds,
        Err(_) => node
            .sh(&format!("date -d {line} +%s.%N"))
            .trim()
            .parse::<f64>()
            .unwrap(),
    };
    let log = "bootlace log cluster -o json | tail -n 1";
    let last: serde_json::Value = serde_json::from_str(&node.sh(log)).unwrap();
    let ended = last["at"].as_str().unwrap();
    let ended = node.sh(&format!("date -d {ended} +%s.%N"));
    let ended: f64 = ended.trim().parse().unwrap();
    let took = ended - seen;
    eprintln!("named {took:.1} s after it could be seen");
    assert!(took < SOON, "it was seen at {seen} and named at {ended}");
}

/// Prints the lines of containers' logs that contain a word, each with its time.
pub(crate) fn containers_said(word: &str) -> String {
    format!("cat /var/log/pods/*/*/*.log | grep -F '{word}' | sort")
}

/// Goes on after the fault, until the API answers and takes writes.
fn works_now(node: &Node, words: &[&str]) {
    let words = [words, &["--to", "verify-api"]].concat();
    node.ends_with(0, &words);
    assert_eq!(node.step("verify-api"), "done");
}
