//! The benchmarks: each figure beside its peer, in the same run.
//!
//! `make bench` prints a table and writes `bench/results.json`, from which the figures of the
//! documentation are generated. A figure that misses its bound makes the run fail, so that a claim in
//! the documentation cannot outlive the code. `bootlace-bench NAME…` runs some of them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark drives the product and its peers from outside"
)]

mod builds;
mod cluster;
mod ignition;
mod keys;
mod memory;
mod outside;
mod put_files;
mod replay;
mod results;
mod rounds;
mod row;
mod serve;
mod start;
mod table;
mod up;

use std::process::ExitCode;
use std::time::Instant;

use results::{Failed, Measured};
use row::Row;

/// A benchmark by its name.
type Benchmark = (&'static str, fn() -> Outcome);

/// What a benchmark gives, or why it could not be run.
type Outcome = Result<Vec<Row>, Box<dyn std::error::Error>>;

const BENCHMARKS: [Benchmark; 9] = [
    ("put-files", put_files::run),
    ("replay", replay::run),
    ("keys", keys::run),
    ("start", start::run),
    ("ignition", ignition::run),
    ("serve", serve::run),
    ("cluster", cluster::run),
    ("up", up::run),
    ("builds", builds::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, root] = arguments.as_slice()
        && mode == "replay-child"
    {
        return replay::child(root);
    }
    if let [mode, node, kubeconfig, words @ ..] = arguments.as_slice()
        && mode == "inside"
    {
        return cluster::inside::child(node, kubeconfig, words);
    }
    let names = BENCHMARKS.map(|(name, _)| name);
    if let Some(unknown) = arguments
        .iter()
        .find(|name| !names.contains(&name.as_str()))
    {
        eprintln!(
            "bench: there is no benchmark {unknown:?}: {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
    match bench(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what is chosen; tells whether everything was measured and kept its bounds.
fn bench(chosen: &[String]) -> Result<bool, Box<dyn std::error::Error>> {
    // The code as it is now: an edit during the run must not pass for what was measured.
    let stamp = results::stamp()?;
    let mut measured = Measured {
        names: Vec::new(),
        is_whole: chosen.is_empty(),
        rows: Vec::new(),
        failed: Vec::new(),
    };
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|one| one == name);
    for (name, benchmark) in BENCHMARKS {
        if is_chosen(name) {
            measured.names.push(name);
            run(name, benchmark, &mut measured);
        }
    }
    print!("{}", table::text(&measured.rows));
    let mut is_good = measured.failed.is_empty();
    for failed in &measured.failed {
        eprintln!("bench: {} failed: {}", failed.benchmark, failed.why);
    }
    for row in &measured.rows {
        for miss in row.misses() {
            eprintln!("bench: {}, {}: misses its bound: {miss}", row.id, row.what);
            is_good = false;
        }
    }
    eprintln!("bench: {}", results::write(stamp, measured)?);
    Ok(is_good)
}

/// Runs one benchmark. Whatever happens in it, the others follow.
fn run(name: &'static str, benchmark: fn() -> Outcome, measured: &mut Measured) {
    eprintln!("bench: {name} …");
    let began = Instant::now();
    let outcome = std::panic::catch_unwind(benchmark)
        .unwrap_or_else(|_| Err("it panicked; the message is above".into()));
    let took = began.elapsed().as_secs();
    match outcome {
        Ok(rows) => {
            eprintln!("bench: {name}: {} figures in {took} s", rows.len());
            measured.rows.extend(rows);
        }
        Err(error) => {
            let why = error.to_string();
            eprintln!("bench: {name} failed after {took} s: {why}");
            let benchmark = name.to_owned();
            measured.failed.push(Failed { benchmark, why });
        }
    }
}
