//! The inner loop of a developer: `make check` when warm, and a build after touching one step.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::row::{Bound, Peer, Row};
use crate::{Outcome, outside, rounds};

/// How often each is measured; the longest commands there are.
const ROUNDS: usize = 2;
/// How much is shown of what a command printed that failed.
const LAST_LINES: usize = 40;
/// The file of a step, written again with the same content.
const STEP: &str = "crates/steps/src/cluster/s02_release_info.rs";

fn time(program: &str, arguments: &[&str]) -> Result<Duration, Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let output = outside::command(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()?;
    let took = begin.elapsed();
    if output.status.success() {
        return Ok(took);
    }
    for (stream, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        eprintln!("bench: the end of its {stream}:\n{}", last.join("\n"));
    }
    Err(format!("{program} {arguments:?} failed").into())
}

/// Measures both, each after a run that warms the caches.
pub(crate) fn run() -> Outcome {
    time("make", &["check"])?;
    let mut checks = Vec::new();
    for _ in 0..rounds::count(ROUNDS)?.min(ROUNDS) {
        checks.push(time("make", &["check"])?.as_secs_f64());
    }
    time("cargo", &["build", "-p", "bootlace"])?;
    let (mut builds, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..rounds::count(ROUNDS)?.min(ROUNDS) {
        let text = std::fs::read(STEP)?;
        std::fs::write(STEP, text)?;
        builds.push(time("cargo", &["build", "-p", "bootlace"])?.as_secs_f64());
        nothing.push(time("cargo", &["build", "-p", "bootlace"])?.as_secs_f64());
    }
    let idle = Peer::new("nothing", "a build with nothing to do", &builds, &nothing);
    Ok(vec![
        Row::new("builds.check", "`make check`, warm", "s", &checks).within(Bound::AtMost(130.0)),
        Row::new(
            "builds.step",
            "a build after touching one step",
            "s",
            &builds,
        )
        .beside(idle)
        .within(Bound::AtMost(4.5)),
    ])
}
