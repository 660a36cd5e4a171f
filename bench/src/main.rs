//! The benchmarks: each figure beside its peer, in the same run.
//!
//! `make bench` prints a table and writes `bench/results.json`. A figure that misses its bound makes
//! the run fail, so that a claim in the documentation cannot outlive the code.

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
mod serve;
mod start;
mod table;

use std::process::ExitCode;

use table::Row;

/// A benchmark by its name.
type Benchmark = (&'static str, fn() -> Outcome);

/// What a benchmark gives, or why it could not be run.
type Outcome = Result<Vec<Row>, Box<dyn std::error::Error>>;

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
    let benchmarks: [Benchmark; 8] = [
        ("put-files", put_files::run),
        ("replay", replay::run),
        ("keys", keys::run),
        ("start", start::run),
        ("ignition", ignition::run),
        ("serve", serve::run),
        ("cluster", cluster::run),
        ("builds", builds::run),
    ];
    let chosen = |name: &str| arguments.is_empty() || arguments.iter().any(|wanted| wanted == name);
    let mut rows = Vec::new();
    let mut failed = false;
    for (name, benchmark) in benchmarks.into_iter().filter(|(name, _)| chosen(name)) {
        eprintln!("bench: {name} …");
        match benchmark() {
            Ok(more) => rows.extend(more),
            Err(error) => {
                eprintln!("bench: {name} could not be run: {error}");
                failed = true;
            }
        }
    }
    print!("{}", table::text(&rows));
    if arguments.is_empty()
        && let Err(error) = std::fs::write("bench/results.json", table::json(&rows))
    {
        eprintln!("bench: cannot write bench/results.json: {error}");
        failed = true;
    }
    let missed: Vec<&Row> = rows.iter().filter(|row| !row.holds()).collect();
    for row in &missed {
        let (side, bound) = row.bound.words();
        eprintln!(
            "bench: {} misses its bound: {}, and {side} {bound} is allowed",
            row.what, row.value
        );
    }
    if failed || !missed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
