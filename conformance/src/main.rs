//! `make conformance`: runs all conformance specs, records the result and writes its page.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the command line of a tool for developers"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use bootlace_conformance::cluster::Cluster;
use bootlace_conformance::exceptions::{self, Exception};
use bootlace_conformance::progress::Progress;
use bootlace_conformance::results::{Outcome, Results, rows};
use bootlace_conformance::suite::{Choice, Ended, Suite};
use bootlace_conformance::{ConformanceError, Result, page};

/// How many specs run side by side unless it is said.
const PROCS: usize = 4;

/// The command line.
struct Arguments {
    procs: usize,
    keep: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [verb] if verb == "page" => Results::read().and_then(|results| write_page(&results)),
        _ => parse(&arguments).and_then(|arguments| run(&arguments)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error}");
            for hint in error.hints() {
                eprintln!("  hint: {hint}");
            }
            let usage = matches!(error, ConformanceError::Usage(_));
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}

fn parse(words: &[String]) -> Result<Arguments> {
    let mut arguments = Arguments {
        procs: PROCS,
        keep: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep" => arguments.keep = true,
            "--procs" => {
                let given = words.next().and_then(|number| number.parse().ok());
                arguments.procs = given
                    .filter(|procs| *procs > 0)
                    .ok_or_else(|| ConformanceError::Usage("--procs needs a number".into()))?;
            }
            other => {
                let message = format!("`{other}` is not understood");
                return Err(ConformanceError::Usage(message));
            }
        }
    }
    Ok(arguments)
}

/// Runs everything; false if a spec failed.
fn run(arguments: &Arguments) -> Result<bool> {
    let suite = Suite::find(&root().join("target/conformance"))?;
    let specs = suite.list()?;
    let exceptions = exceptions::all()?;
    if let [stale, ..] = exceptions::stale(&exceptions, &specs).as_slice() {
        let reason = format!("this entry names no spec: {stale}");
        return Err(ConformanceError::Content {
            path: root().join("conformance/exceptions.json"),
            reason,
        });
    }
    eprintln!(
        "conformance: {} specs of Kubernetes {}, {} of them cannot run here",
        specs.len(),
        suite.version(),
        exceptions.len()
    );
    let state = root().join("target/conformance/cluster");
    let cluster = Cluster::up(&binary(), &state)?;
    eprintln!("conformance: importing the test images");
    cluster.import(suite.images())?;
    let began = Instant::now();
    let (first, second) = attempts(&suite, &cluster, arguments.procs, &specs, &exceptions)?;
    let results = Results {
        kubernetes: suite.version().to_owned(),
        commit: commit()?,
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        kernel: said(Command::new("uname").arg("-r"))?,
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        nodes: 1,
        procs: arguments.procs,
        minutes: began.elapsed().as_secs().div_ceil(60),
        notes: Vec::new(),
        specs: rows(&specs, &first, &second, &exceptions)?,
    };
    if arguments.keep {
        eprintln!("conformance: the cluster's state is in {}", state.display());
        cluster.keep();
    }
    results.write()?;
    write_page(&results)?;
    conclude(&results);
    Ok(results.count(Outcome::Failed) == 0)
}

/// Runs all specs beside each other, then those that failed once more, one by one.
fn attempts(
    suite: &Suite,
    cluster: &Cluster,
    procs: usize,
    specs: &[String],
    exceptions: &[Exception],
) -> Result<(BTreeMap<String, Ended>, BTreeMap<String, Ended>)> {
    let left_out: Vec<String> = exceptions.iter().map(|entry| entry.spec.clone()).collect();
    let attempt = |choice, total, procs| {
        let mut progress = Progress::start(total);
        let ended = suite.run(&cluster.kubeconfig(), choice, procs, |event| {
            progress.count(event);
        });
        progress.end();
        ended
    };
    let total = specs.len() - left_out.len();
    let first = attempt(Choice::AllBut(&left_out), total, procs)?;
    let failed: Vec<String> = first
        .iter()
        .filter(|(_, ended)| !ended.passed)
        .map(|(spec, _)| spec.clone())
        .collect();
    if failed.is_empty() {
        return Ok((first, BTreeMap::new()));
    }
    eprintln!("conformance: {} specs run again, alone", failed.len());
    let second = attempt(Choice::Only(&failed), failed.len(), 1)?;
    Ok((first, second))
}

fn conclude(results: &Results) {
    for row in results.with(Outcome::Failed) {
        eprintln!("conformance: failed: {}\n  {}", row.spec, row.reason);
    }
    eprintln!(
        "conformance: {} passed, {} of them at the second attempt; {} failed; {} not run; {} minutes; see docs/reference/conformance.md",
        results.count(Outcome::Passed) + results.count(Outcome::PassedAgain),
        results.count(Outcome::PassedAgain),
        results.count(Outcome::Failed),
        results.count(Outcome::NotRun),
        results.minutes
    );
}

fn write_page(results: &Results) -> Result<bool> {
    let path = page::file();
    std::fs::write(&path, page::render(results)).map_err(|source| ConformanceError::File {
        action: "write",
        path,
        source,
    })?;
    Ok(true)
}

/// Returns the commit that is tested, with `+` if files differ from it.
fn commit() -> Result<String> {
    let mut commit = said(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]))?;
    // What the run itself writes does not count.
    let mut status = Command::new("git");
    status.args(["status", "--porcelain", "--", "."]);
    status.args([
        ":!conformance/results.json",
        ":!docs/reference/conformance.md",
    ]);
    if !said(&mut status)?.is_empty() {
        commit.push('+');
    }
    Ok(commit)
}

fn said(command: &mut Command) -> Result<String> {
    let what = format!("`{}`", command.get_program().to_string_lossy());
    let failed = |how: String| ConformanceError::Program {
        what: what.clone(),
        how,
    };
    let output = command
        .current_dir(root())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the program that is tested.
fn binary() -> PathBuf {
    let given = std::env::var_os("BOOTLACE_BIN").map(PathBuf::from);
    given.unwrap_or_else(|| root().join("target/release/bootlace"))
}

/// Returns the folder of the checkout.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
