//! How long it takes until the program answers.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::row::{Bound, Peer, Row, millis};
use crate::{Outcome, rounds};

const ROUNDS: usize = 51;

fn time(program: &str, arguments: &[&str]) -> std::io::Result<Duration> {
    let begin = Instant::now();
    let output = Command::new(program).args(arguments).output()?;
    let took = begin.elapsed();
    if output.status.success() {
        Ok(took)
    } else {
        Err(std::io::Error::other("it failed"))
    }
}

/// Measures `bootlace --version` beside a program that does nothing.
pub(crate) fn run() -> Outcome {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds::count(ROUNDS)? {
        for who in rounds::order(round, 2) {
            if who == 0 {
                ours.push(millis(time("target/release/bootlace", &["--version"])?));
            } else {
                theirs.push(millis(time("/bin/true", &[])?));
            }
        }
    }
    let row = Row::new("start.version", "`bootlace --version`", "ms", &ours);
    let nothing = Peer::new("true", "`/bin/true`", &ours, &theirs);
    Ok(vec![row.beside(nothing.within(Bound::AtMost(4.2)))])
}
