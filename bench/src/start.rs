//! How long it takes until the program answers.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::table::{Bound, Row, median, millis};

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
    let program = "target/release/bootlace";
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(time(program, &["--version"])?);
        peers.push(time("/bin/true", &[])?);
    }
    Ok(vec![Row {
        what: "bootlace --version".into(),
        value: millis(median(ours)),
        bound: Bound::AtMost(15.0),
        unit: "ms",
        peer: format!(
            "/bin/true: {:.2} ms (medians of {ROUNDS})",
            millis(median(peers))
        ),
    }])
}
