//! Replaying a long journal: time, and memory that does not grow with it.

use std::process::{Command, ExitCode};
use std::time::Instant;

use bootlace_engine::{Engine, Options};
use bootlace_host::RealHost;

use crate::memory::peak;
use crate::put_files::{MANY, Nobody, settings, through_engine};
use crate::row::{Bound, Peer, Row};
use crate::{Outcome, rounds};

/// An intent and an answer each.
const LONG: usize = 50_000;
const ROUNDS: usize = 5;
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
    let millis = crate::row::millis(begin.elapsed());
    let mib = peak("self").ok_or("/proc does not tell the memory")?;
    Ok((millis, mib))
}

/// What was measured of one journal.
struct Measured {
    millis: Vec<f64>,
    mib: Vec<f64>,
    records: usize,
}

/// A journal on disk, with what was measured of it so far.
struct Journal {
    root: tempfile::TempDir,
    measured: Measured,
}

impl Journal {
    /// Writes the journal of a run that made so many files.
    fn of(files: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        through_engine(root.path(), files)?;
        let runs = root.path().join("var/lib/bootlace/runs");
        let run = std::fs::read_dir(runs)?.next().ok_or("no run")??.path();
        let journal = std::fs::read_to_string(run.join("journal.jsonl"))?;
        let measured = Measured {
            millis: Vec::new(),
            mib: Vec::new(),
            records: journal.lines().count(),
        };
        Ok(Self { root, measured })
    }

    /// Replays it in a process of its own.
    fn measure(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let output = Command::new(std::env::current_exe()?)
            .arg("replay-child")
            .arg(self.root.path())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let figures = text.trim().split_once(' ');
        let (millis, mib) = figures.ok_or("the child printed nothing")?;
        self.measured.millis.push(millis.parse()?);
        self.measured.mib.push(mib.parse()?);
        Ok(())
    }
}

/// Measures a long journal beside one of a fifth of its length.
pub(crate) fn run() -> Outcome {
    let mut journals = [Journal::of(LONG)?, Journal::of(SHORT)?];
    for round in 0..rounds::count(ROUNDS)? {
        for which in rounds::order(round, 2) {
            journals[which].measure()?;
        }
    }
    let [long, short] = journals.map(|journal| journal.measured);
    let peer = |ours: &[f64], theirs: &[f64]| {
        let name = format!("a journal of {} records", short.records);
        Peer::new("short", &name, ours, theirs)
    };
    let what = format!("replaying a journal of {} records", long.records);
    let time = Row::new("replay.time", what, "ms", &long.millis);
    let memory = Row::new(
        "replay.memory",
        "peak memory of that process",
        "MiB",
        &long.mib,
    );
    // Flat: the same within what an allocator may keep back.
    let flat = peer(&long.mib, &short.mib).within(Bound::AtMost(1.1));
    // In line: five times the records, five times the time.
    let in_line = peer(&long.millis, &short.millis).within(Bound::AtMost(6.25));
    Ok(vec![time.beside(in_line), memory.beside(flat)])
}
