//! Replaying a long journal: time, and memory that does not grow with it.

use std::process::{Command, ExitCode};
use std::time::Instant;

use bootlace_engine::{Engine, Options};
use bootlace_host::RealHost;

use crate::Outcome;
use crate::memory::peak;
use crate::put_files::{MANY, Nobody, settings, through_engine};
use crate::table::{Bound, Row};

/// An intent and an answer each.
const LONG: usize = 50_000;
/// More than one group, so that both hold the open intents of a whole group at their worst moment.
const SHORT: usize = 10_000;

/// Replays the journal below a root in a fresh process, and prints time and peak memory.
pub(crate) fn child(root: &str) -> ExitCode {
    match replay(root) {
        Ok((millis, mib)) => {
            println!("{millis} {mib}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(root: &str) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let host = RealHost::builder().root(root).build();
    let (settings, options) = (settings(0)?, Options::new("bench"));
    let engine = Engine {
        host: &host,
        sequence: &MANY,
        settings: &settings,
        observer: &Nobody,
        options: &options,
    };
    let begin = Instant::now();
    engine.status()?;
    let millis = crate::table::millis(begin.elapsed());
    let mib = peak("self").ok_or("/proc does not tell the memory")?;
    Ok((millis, mib))
}

fn measure(files: usize) -> Result<(f64, f64, usize), Box<dyn std::error::Error>> {
    let root = tempfile::tempdir()?;
    through_engine(root.path(), files)?;
    let runs = root.path().join("var/lib/bootlace/runs");
    let run = std::fs::read_dir(runs)?.next().ok_or("no run")??.path();
    let journal = std::fs::read_to_string(run.join("journal.jsonl"))?;
    let lines = journal.lines().count();
    drop(journal);
    let (mut best, mut memory) = (f64::MAX, 0.0_f64);
    for _ in 0..5 {
        let output = Command::new(std::env::current_exe()?)
            .arg("replay-child")
            .arg(root.path())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let (millis, mib) = text
            .trim()
            .split_once(' ')
            .ok_or("the child printed nothing")?;
        best = best.min(millis.parse()?);
        memory = memory.max(mib.parse()?);
    }
    Ok((best, memory, lines))
}

/// Measures a long journal beside one of a tenth of its length.
pub(crate) fn run() -> Outcome {
    let (short_time, short_memory, short_lines) = measure(SHORT)?;
    let (time, memory, lines) = measure(LONG)?;
    let beside = format!("{short_lines} records: {short_time:.0} ms, {short_memory:.1} MiB");
    Ok(vec![
        Row {
            what: format!("replaying a journal of {lines} records"),
            value: time,
            bound: Bound::AtMost(1000.0),
            unit: "ms",
            peer: beside.clone(),
        },
        Row {
            what: format!("peak memory of that process, {lines} records"),
            value: memory,
            // Flat: the same within what an allocator may keep back.
            bound: Bound::AtMost(short_memory + 2.0),
            unit: "MiB",
            peer: beside,
        },
    ])
}
