//! What of a machine must be as it was once a run is taken back, and what is not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::world::Node;

/// Prints it, one line a thing.
const LOOK: &str = include_str!("snapshot.sh");

/// How long what was stopped may take to be gone: the kernel gives back some things a moment later.
const SETTLES: Duration = Duration::from_secs(5);

/// All of a machine that a run may change, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    lines: BTreeSet<String>,
}

impl Snapshot {
    pub(crate) fn of(node: &Node) -> Self {
        let printed = node.sh(LOOK);
        let lines: BTreeSet<String> = printed.lines().map(str::to_owned).collect();
        for kind in ["file /etc ", "unit ", "mount /", "process systemd"] {
            let is_there = lines.iter().any(|line| line.starts_with(kind));
            assert!(is_there, "the look at the machine shows no {kind:?}");
        }
        Self { lines }
    }

    /// Keeps only lines that begin in one of these ways.
    pub(crate) fn only(&self, kinds: &[&str]) -> Self {
        let wanted = |line: &&String| kinds.iter().any(|kind| line.starts_with(kind));
        let lines = self.lines.iter().filter(wanted).cloned().collect();
        Self { lines }
    }

    /// Names each difference to a later look.
    pub(crate) fn differences(&self, later: &Self) -> Vec<String> {
        let gone = self.lines.difference(&later.lines);
        let new = later.lines.difference(&self.lines);
        let gone = gone.map(|line| format!("was, and is not any more: {line}"));
        let new = new.map(|line| format!("was not, and is now: {line}"));
        gone.chain(new).collect()
    }

    /// Fails unless the machine is as it was.
    pub(crate) fn must_be_back(&self, node: &Node, after: &str) {
        let began = Instant::now();
        loop {
            let differences = self.differences(&Self::of(node));
            if differences.is_empty() {
                return;
            }
            let is_late = began.elapsed() >= SETTLES;
            assert!(!is_late, "after {after}:\n{}", differences.join("\n"));
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
