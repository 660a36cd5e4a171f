//! The inner loop of a developer: `make check` when warm, and a build after touching one step.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::outside;
use crate::table::{Bound, Row, millis};

fn time(program: &str, arguments: &[&str]) -> Result<Duration, Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let status = outside::command(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let took = begin.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(format!("{program} {arguments:?} failed").into())
    }
}

/// Measures both, each after a run that warms the caches.
pub(crate) fn run() -> Outcome {
    time("make", &["check"])?;
    let check = time("make", &["check"])?;
    time("cargo", &["build", "-p", "bootlace"])?;
    let step = "crates/steps/src/cluster/s02_release_info.rs";
    let text = std::fs::read(step)?;
    std::fs::write(step, text)?;
    let build = time("cargo", &["build", "-p", "bootlace"])?;
    let nothing = time("cargo", &["build", "-p", "bootlace"])?;
    let beside = format!("a build with nothing to do: {:.0} ms", millis(nothing));
    Ok(vec![
        Row {
            what: "make check, warm".into(),
            value: check.as_secs_f64(),
            bound: Bound::AtMost(60.0),
            unit: "s",
            peer: beside.clone(),
        },
        Row {
            what: "build after touching one step".into(),
            value: build.as_secs_f64(),
            bound: Bound::AtMost(15.0),
            unit: "s",
            peer: beside,
        },
    ])
}
