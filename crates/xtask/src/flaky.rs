//! Runs every test that samples, waits or boots a machine many times, each time by another seed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::Failure;
use crate::root::root;
use crate::test::{self, HELPERS, duration};

/// How often each test runs unless `FLAKY_RUNS` says so.
const RUNS: u64 = 30;
/// How long it may take unless `FLAKY_MINUTES` says so.
const MINUTES: u64 = 60;

/// A test binary whose results may depend on chance or on time.
struct Target {
    kind: &'static str,
    package: &'static str,
    /// How cargo is told which one: `--test it`, `--lib`.
    which: &'static [&'static str],
    /// Which of its tests, by a part of their names; all if there is none.
    filters: &'static [&'static str],
    /// Whether its slow tests run, too.
    slow: bool,
}

const fn target(
    kind: &'static str,
    package: &'static str,
    which: &'static [&'static str],
    filters: &'static [&'static str],
    slow: bool,
) -> Target {
    Target {
        kind,
        package,
        which,
        filters,
        slow,
    }
}

/// All of them. A new test with a seed, a deadline or a machine needs a row that covers it.
const TARGETS: &[Target] = &[
    target(
        "sampled",
        "bootlace-testkit",
        &["--test", "crash"],
        &[],
        false,
    ),
    target(
        "sampled",
        "bootlace-ignition",
        &["--test", "fuzz"],
        &[],
        false,
    ),
    target(
        "sampled",
        "bootlace-ignition",
        &["--test", "referee"],
        &[],
        true,
    ),
    target("sampled", "bootlace", &["--test", "ignition"], &[], true),
    target("sampled", "bootlace", &["--test", "sigkill"], &[], true),
    target("sampled", "bootlace", &["--test", "power"], &[], true),
    target("timed", "bootlace-host", &["--lib"], &[], false),
    target("timed", "bootlace-host", &["--test", "host"], &[], false),
    target(
        "timed",
        "bootlace-testkit",
        &["--test", "ignition"],
        &[],
        true,
    ),
    target("timed", "bootlace-testkit", &["--test", "live"], &[], false),
    target("timed", "bootlace-supervisor", &["--lib"], &[], false),
    target("timed", "bootlace-server", &["--lib"], &[], false),
    target("timed", "bootlace-server", &["--test", "serve"], &[], true),
    target("timed", "bootlace-report", &["--lib"], &[], false),
    target("timed", "bootlace", &["--test", "it"], &[], false),
    target("started", "bootlace", &["--test", "process"], &[], true),
    target("started", "bootlace", &["--test", "images"], &[], true),
    target(
        "started",
        "bootlace-operator",
        &["--test", "real_api"],
        &[],
        true,
    ),
    target(
        "machines",
        "bootlace-host",
        &["--test", "host"],
        &["units::", "runtime::", "real_api::"],
        true,
    ),
    target(
        "machines",
        "bootlace-machines",
        &["--test", "it"],
        &[],
        true,
    ),
    target("machines", "bootlace", &["--test", "machines"], &[], true),
    target(
        "machines",
        "bootlace-conformance",
        &["--test", "sample"],
        &["a_sample"],
        true,
    ),
];

/// What came of one test.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    /// The seeds with which it failed.
    failed: Vec<u64>,
}

/// Runs those of the kinds that are named, or all.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let known = |kind: &String| TARGETS.iter().any(|target| target.kind == kind);
    if let Some(unknown) = arguments.iter().find(|kind| !known(kind)) {
        return Err(Failure::Usage(unknown.clone()));
    }
    let wanted =
        |target: &&Target| arguments.is_empty() || arguments.iter().any(|kind| kind == target.kind);
    let targets: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    let top = root()?;
    let (runs, minutes) = (
        test::number("FLAKY_RUNS", RUNS)?,
        test::number("FLAKY_MINUTES", MINUTES)?,
    );
    let first: u64 = test::seed().parse().unwrap_or(0);
    let messages = build(&top)?;
    let programs = targets
        .iter()
        .map(|target| program(target, &messages, &top));
    let programs: Vec<PathBuf> = programs.collect::<Result<_, _>>()?;
    let (began, most) = (Instant::now(), Duration::from_secs(minutes * 60));
    let mut tallies = BTreeMap::new();
    // Round by round, so that every test had its turns when the time is over.
    'rounds: for seed in first..first + runs {
        for (target, program) in targets.iter().zip(&programs) {
            if began.elapsed() >= most {
                println!("\n==> flaky: {minutes} minutes are over");
                break 'rounds;
            }
            round(target, program, seed, &top, &mut tallies)?;
        }
    }
    report(&tallies, runs, began.elapsed())
}

/// Builds all tests, with the features that they have in `make test`, and returns cargo's messages.
fn build(top: &Path) -> Result<Vec<Value>, Failure> {
    let failed = |reason: String| Failure::Program {
        command: "cargo test --workspace --no-run".into(),
        reason,
    };
    let mut command = Command::new("cargo");
    command.args(["test", "--workspace", "--locked", "--no-run"]);
    command.arg("--message-format=json").current_dir(top);
    command.stderr(std::process::Stdio::inherit());
    let output = command.output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().map(serde_json::from_str);
    Ok(messages.collect::<Result<_, _>>()?)
}

/// Returns where the test binary of a target lies.
fn program(target: &Target, messages: &[Value], top: &Path) -> Result<PathBuf, Failure> {
    let manifest = folder(top, target.package);
    let manifest = manifest.join("Cargo.toml");
    let is_meant = |message: &&Value| {
        let test = &message["target"];
        let kind_fits = match target.which {
            ["--test", name] => test["kind"][0] == "test" && test["name"] == *name,
            _ => test["kind"][0] == "lib",
        };
        let of_package = message["manifest_path"].as_str().map(Path::new) == Some(&manifest);
        of_package && kind_fits && message["profile"]["test"] == true
    };
    let message = messages.iter().find(is_meant);
    let program = message.and_then(|message| message["executable"].as_str());
    program.map(PathBuf::from).ok_or_else(|| Failure::Program {
        command: format!(
            "cargo test -p {} {}",
            target.package,
            target.which.join(" ")
        ),
        reason: "it has no test binary".into(),
    })
}

/// Runs the tests of one binary once.
fn round(
    target: &Target,
    program: &Path,
    seed: u64,
    top: &Path,
    tallies: &mut BTreeMap<String, Tally>,
) -> Result<(), Failure> {
    let name = format!("-p {} {}", target.package, target.which.join(" "));
    println!("\n     Running {name}, seed {seed}");
    let mut command = Command::new(program);
    command.args(target.filters).args(["--skip", HELPERS]);
    if target.slow {
        command.arg("--include-ignored");
    }
    test::seeded(&mut command, &seed.to_string());
    command.env("BOOTLACE_BIN", top.join("target/release/bootlace"));
    // As cargo does it: tests find their data relative to their package.
    let manifest = folder(top, target.package);
    command
        .env("CARGO_MANIFEST_DIR", &manifest)
        .current_dir(&manifest);
    let ran = test::run_noting_as(&name, command, &top.join("target/test-notes/flaky"))?;
    for binary in ran.binaries {
        for (test, is_failure) in binary
            .passes
            .iter()
            .map(|test| (test, false))
            .chain(binary.failed.iter().map(|test| (test, true)))
        {
            let tally: &mut Tally = tallies.entry(format!("{name}  {test}")).or_default();
            tally.runs += 1;
            if is_failure {
                tally.failed.push(seed);
            }
        }
    }
    Ok(())
}

/// Returns the folder of a package.
fn folder(top: &Path, package: &str) -> PathBuf {
    match package.strip_prefix("bootlace-") {
        Some("conformance") => top.join("conformance"),
        Some(folder) => top.join("crates").join(folder),
        None => top.join("crates/cli"),
    }
}

/// Prints every test, and fails if one failed.
fn report(tallies: &BTreeMap<String, Tally>, wanted: u64, took: Duration) -> Result<(), Failure> {
    println!("\n==> flaky: {} tests in {}", tallies.len(), duration(took));
    let mut findings = vec![];
    for (name, Tally { runs, failed }) in tallies {
        let line = format!("{:3} of {runs:3} runs failed   {name}", failed.len());
        println!("  {line}");
        if !failed.is_empty() {
            findings.push(format!("{line}, seeds {failed:?}"));
        }
    }
    let short = tallies.values().filter(|tally| tally.runs < wanted).count();
    if short > 0 {
        println!(
            "\n{short} tests ran fewer than {wanted} times; `make flaky KIND=NAME FLAKY_MINUTES=N` gives one kind more time"
        );
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(Failure::Found {
        summary: "tests that failed at least once:".into(),
        findings,
        hint: "`BOOTLACE_SEED=SEED` repeats what the test chose, and not how busy the machine was",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_names_a_test_of_this_workspace() {
        let top = root().unwrap();
        for target in TARGETS {
            let folder = folder(&top, target.package);
            assert!(folder.join("Cargo.toml").is_file(), "{}", target.package);
            if let [_, test] = target.which {
                let is_there = folder.join(format!("tests/{test}.rs")).is_file()
                    || folder.join(format!("tests/{test}/main.rs")).is_file();
                assert!(is_there, "{} --test {test}", target.package);
            }
        }
    }

    #[test]
    fn one_failure_in_many_runs_is_found_with_its_seed() {
        let tally = Tally {
            runs: 30,
            failed: vec![17],
        };
        let tallies = BTreeMap::from([("a".to_owned(), tally), ("b".to_owned(), Tally::default())]);
        let found = report(&tallies, 30, Duration::ZERO)
            .unwrap_err()
            .to_string();
        assert!(
            found.contains("1 of  30 runs failed   a, seeds [17]"),
            "{found}"
        );
        assert!(!found.contains("failed   b"), "{found}");
    }
}
