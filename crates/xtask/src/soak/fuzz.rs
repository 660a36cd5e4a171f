//! Coverage-guided fuzzing: builds the targets in `fuzz/` with instrumentation, and runs each of them
//! for a fixed time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use super::record::Tried;
use crate::failure::Failure;
use crate::{metadata, test};

/// How long each target runs unless `FUZZ_SECONDS` says otherwise.
const SECONDS: u64 = 120;
/// One target for each `[[bin]]` of `fuzz/Cargo.toml`.
const TARGETS: [&str; 5] = ["accept", "paths", "tokens", "ignition", "units"];
/// What makes the compiler count which code an input reaches; it works on stable Rust.
const INSTRUMENTATION: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// An input that takes more seconds or MiB than this is a finding, too.
const LIMITS: [&str; 2] = ["-timeout=10", "-rss_limit_mb=2048"];

/// Builds all targets and runs one after the other.
pub(super) fn run(top: &Path, seed: &str) -> Result<Outcome, Failure> {
    let seconds = test::number("FUZZ_SECONDS", SECONDS)?;
    let programs = build(top)?;
    let mut outcome = Outcome::default();
    for target in TARGETS {
        println!("==> soak: fuzz: {target} for {seconds} s");
        let (log, ended_well) = fuzz(top, &programs.join(target), target, seconds, seed)?;
        let stats = Stats::parse(&log);
        println!("{target}: {} inputs, {} edges", stats.inputs, stats.edges);
        for (what, count) in [("inputs for", stats.inputs), ("edges of", stats.edges)] {
            let what = format!("{what} {target}");
            outcome.tried.push(Tried { what, count });
        }
        let failure = stats.failure(ended_well, &programs.join(target));
        outcome.failed.extend(failure.map(|why| {
            println!("{target}: {why}");
            format!("{target}: {why}")
        }));
    }
    Ok(outcome)
}

/// Builds the targets, and returns the folder that has them, seen from the repository.
fn build(top: &Path) -> Result<PathBuf, Failure> {
    // With a target named, build scripts and macros are built without the flags, as they must be.
    let host = metadata::host()?;
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--locked", "--manifest-path"])
        .args(["fuzz/Cargo.toml", "--target-dir", "target/fuzz", "--target"])
        .arg(&host)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", INSTRUMENTATION.join(" "))
        .current_dir(top);
    let shown = "cargo build --manifest-path fuzz/Cargo.toml".to_owned();
    let status = command.status().map_err(|error| Failure::Program {
        command: shown.clone(),
        reason: error.to_string(),
    })?;
    if !status.success() {
        return Err(Failure::Program {
            command: shown,
            reason: status.to_string(),
        });
    }
    Ok(Path::new("target/fuzz").join(host).join("release"))
}

/// Runs a target, and returns what it wrote and whether it ended well. What it learns stays in
/// `target/fuzz`, where the next run goes on; the corpus of the repository is only read.
fn fuzz(
    top: &Path,
    program: &Path,
    target: &str,
    seconds: u64,
    seed: &str,
) -> Result<(String, bool), Failure> {
    let folder = |kind: &str| PathBuf::from(format!("target/fuzz/{kind}/{target}"));
    let (corpus, findings) = (folder("corpus"), folder("findings"));
    for folder in [&corpus, &findings] {
        fs::create_dir_all(top.join(folder)).map_err(Failure::file(folder))?;
    }
    let path = top.join("target/fuzz").join(format!("{target}.log"));
    let log = File::create(&path).map_err(Failure::file(&path))?;
    let mut command = Command::new(top.join(program));
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-dict=fuzz/dictionaries/{target}.dict"))
        .arg(format!("-artifact_prefix={}/", findings.display()))
        .args(LIMITS)
        .arg("-print_final_stats=1");
    // A seed of 0 would be replaced by the time.
    if let Some(seed) = seed.parse::<u32>().ok().filter(|seed| *seed != 0) {
        command.arg(format!("-seed={seed}"));
    }
    command
        .arg(corpus)
        .arg(format!("fuzz/corpus/{target}"))
        .stdout(log.try_clone().map_err(Failure::file(&path))?)
        .stderr(log)
        .current_dir(top);
    let status = command.status().map_err(|error| Failure::Program {
        command: program.display().to_string(),
        reason: error.to_string(),
    })?;
    let log = fs::read(&path).map_err(Failure::file(&path))?;
    Ok((String::from_utf8_lossy(&log).into_owned(), status.success()))
}

/// What libFuzzer says of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stats {
    /// How many inputs it ran.
    inputs: u64,
    /// How many edges of the control flow they reached.
    edges: u64,
    /// What went wrong, in its words.
    reason: Option<String>,
    /// The file with the input that caused it.
    input: Option<String>,
}

impl Stats {
    fn parse(log: &str) -> Self {
        let mut stats = Self::default();
        let mut lines = log.lines();
        while let Some(line) = lines.next() {
            if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
                stats.inputs = count.trim().parse().unwrap_or_default();
            } else if line.starts_with('#') {
                let mut words = line.split_whitespace().skip_while(|word| *word != "cov:");
                let edges = words.nth(1).and_then(|count| count.parse().ok());
                stats.edges = stats.edges.max(edges.unwrap_or_default());
            } else if line.contains("panicked at ") {
                stats.reason = lines.next().map(ToOwned::to_owned);
            } else if let Some((_, reason)) = line.split_once("ERROR: libFuzzer: ") {
                stats.reason.get_or_insert_with(|| reason.to_owned());
            } else if let Some((_, path)) = line.split_once("Test unit written to ") {
                stats.input = Some(path.to_owned());
            }
        }
        stats
    }

    /// Says why a run of a target failed, and how to repeat it; none if it did not.
    fn failure(&self, ended_well: bool, program: &Path) -> Option<String> {
        let reason = self.reason.as_deref().unwrap_or("it ended early");
        match &self.input {
            Some(input) => Some(format!(
                "{reason}; `{} {input}` repeats it",
                program.display()
            )),
            None if !ended_well => Some(format!("{reason}; `target/fuzz` has its log")),
            None if self.inputs == 0 || self.edges == 0 => {
                Some("no coverage was measured; `target/fuzz` has its log".into())
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::root::root;

    const PROGRAM: &str = "target/fuzz/x/release/units";

    #[test]
    fn inputs_and_edges_are_read_from_the_log() {
        let log = "INFO: Running with entropic power schedule (0xFF, 100).\n\
                   #2\tINITED cov: 50 ft: 51 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                   #1048576\tpulse  cov: 812 ft: 3000 corp: 300/20Kb lim: 4096 exec/s: 9000 rss: 90Mb\n\
                   #1100000\tDONE   cov: 813 ft: 3001 corp: 301/20Kb lim: 4096 exec/s: 9100 rss: 90Mb\n\
                   Done 1100000 runs in 121 second(s)\n\
                   stat::number_of_executed_units: 1100000\n\
                   stat::average_exec_per_sec:     9090\n";
        let stats = Stats::parse(log);
        assert_eq!((stats.inputs, stats.edges), (1_100_000, 813));
        assert_eq!(stats.failure(true, Path::new(PROGRAM)), None);
        let ended = stats.failure(false, Path::new(PROGRAM)).unwrap();
        assert!(ended.starts_with("it ended early"), "{ended}");
        let nothing = Stats::default().failure(true, Path::new(PROGRAM)).unwrap();
        assert!(nothing.contains("no coverage"), "{nothing}");
    }

    #[test]
    fn a_finding_is_named_with_its_input_and_how_to_repeat_it() {
        let log = "#2\tINITED cov: 50 ft: 51 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                   thread '<unnamed>' (7) panicked at crates/engine/src/fuzzing.rs:60:9:\n\
                   /etc/systemd/system is no place for a link to a.service\n\
                   note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\
                   ==7== ERROR: libFuzzer: deadly signal\n\
                   artifact_prefix='target/fuzz/findings/units/'; Test unit written to target/fuzz/findings/units/crash-1\n\
                   stat::number_of_executed_units: 77\n";
        let stats = Stats::parse(log);
        assert_eq!((stats.inputs, stats.edges), (77, 50));
        let failure = stats.failure(false, Path::new(PROGRAM)).unwrap();
        assert_eq!(
            failure,
            "/etc/systemd/system is no place for a link to a.service; \
             `target/fuzz/x/release/units target/fuzz/findings/units/crash-1` repeats it"
        );
        let slow = "==7== ERROR: libFuzzer: timeout after 10 seconds\n\
                    artifact_prefix='f/'; Test unit written to f/timeout-1\n";
        let failure = Stats::parse(slow).failure(false, Path::new(PROGRAM));
        assert!(failure.unwrap().starts_with("timeout after 10 seconds; "));
    }

    #[test]
    fn every_target_has_a_program_a_corpus_and_a_dictionary() {
        let fuzz = root().unwrap().join("fuzz");
        let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in TARGETS {
            assert!(manifest.contains(&format!("path = \"targets/{target}.rs\"")));
            for path in ["targets/{}.rs", "corpus/{}", "dictionaries/{}.dict"] {
                let path = fuzz.join(path.replace("{}", target));
                assert!(path.exists(), "{}", path.display());
            }
        }
    }

    #[test]
    fn what_is_fuzzed_is_built_from_the_versions_that_ship() {
        // What libFuzzer itself needs.
        const OWN: [&str; 4] = ["arbitrary", "bootlace-fuzz", "jobserver", "libfuzzer-sys"];
        let versions = |path: &str| {
            let text = fs::read_to_string(root().unwrap().join(path)).unwrap();
            let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for package in text.split("[[package]]").skip(1) {
                let field = |name: &str| {
                    let line = package.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap().trim_matches([' ', '=', '"']).to_owned()
                };
                let version = versions.entry(field("name")).or_default();
                version.push(field("version"));
            }
            versions
        };
        let (ours, fuzzed) = (versions("Cargo.lock"), versions("fuzz/Cargo.lock"));
        assert!(fuzzed.contains_key("bootlace-server"));
        for (name, versions) in fuzzed {
            let known =
                |version: &String| ours.get(&name).is_some_and(|ours| ours.contains(version));
            let is_known = OWN.contains(&name.as_str()) || versions.iter().all(known);
            assert!(is_known, "{name} {versions:?} is not in Cargo.lock");
        }
    }
}
