//! `make up` as a person types it, with everything cached.

use std::process::Stdio;
use std::time::Instant;

use tempfile::TempDir;

use crate::row::{Bound, Row};
use crate::{Outcome, outside, rounds};

const ROUNDS: usize = 3;

/// Times `make up` on a state folder of its own, and takes it down again.
pub(crate) fn run() -> Outcome {
    let mut times = Vec::new();
    for _ in 0..rounds::count(ROUNDS)? {
        let state = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
        let make = |target: &str| -> Result<(), Box<dyn std::error::Error>> {
            let output = outside::command("make")
                .arg(target)
                .env("BOOTLACE_STATE", state.path())
                .stdin(Stdio::null())
                .output()?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("make {target} failed: {said}").into())
        };
        let began = Instant::now();
        let up = make("up");
        times.push(began.elapsed().as_secs_f64());
        // First what is left over goes, whatever became of it.
        let down = make("down");
        up?;
        down?;
    }
    let what = "`make up` with a warm cache, the machine's boot included";
    Ok(vec![
        Row::new("up.warm", what, "s", &times).within(Bound::AtMost(13.5)),
    ])
}
