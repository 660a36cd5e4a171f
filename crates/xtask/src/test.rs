//! Runs the tests part by part, goes on after failures, and sums up at the end.

pub(crate) mod output;
mod summary;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bootlace_test_notes::Note;

use crate::failure::Failure;
use crate::root::root;
use output::{Binary, Output};
pub(crate) use summary::{End, duration};
use summary::{Outcome, summary};

/// Tests of this name are started by other tests, as processes that can be killed or moved.
pub(crate) const HELPERS: &str = "helper_";

/// One part of `make test`.
struct Part {
    name: &'static str,
    command: &'static [&'static str],
    /// Whether it prints test results.
    has_tests: bool,
    /// The part without which it is in vain.
    needs: Option<&'static str>,
}

/// All parts, in order.
const PARTS: &[Part] = &[
    Part {
        name: "lints",
        command: &["make", "--no-print-directory", "lints"],
        has_tests: false,
        needs: None,
    },
    Part {
        name: "lab",
        command: &["make", "--no-print-directory", "lab", "FOR=test"],
        has_tests: false,
        needs: None,
    },
    Part {
        name: "quick",
        command: &["cargo", "test", "--workspace", "--locked", "--no-fail-fast"],
        has_tests: true,
        needs: None,
    },
    Part {
        name: "slow",
        command: &[
            "cargo",
            "test",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--",
            "--ignored",
            "--skip",
            HELPERS,
        ],
        has_tests: true,
        needs: Some("lab"),
    },
];

/// Runs the parts that are named, or all.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let known = |name: &String| PARTS.iter().any(|part| part.name == name);
    if let Some(unknown) = arguments.iter().find(|name| !known(name)) {
        return Err(Failure::Usage(unknown.clone()));
    }
    let chosen =
        |part: &&Part| arguments.is_empty() || arguments.iter().any(|name| name == part.name);
    let top = root()?;
    let seed = seed();
    let mut outcomes: Vec<Outcome> = vec![];
    for part in PARTS.iter().filter(chosen) {
        let is_broken = |need: &&str| {
            let mut earlier = outcomes.iter();
            earlier.any(|outcome| outcome.part == *need && outcome.has_failed())
        };
        outcomes.push(match part.needs.filter(is_broken) {
            Some(need) => Outcome {
                part: part.name,
                end: End::NotRun(need),
                ..Outcome::default()
            },
            None => run_part(part, &top, &seed)?,
        });
    }
    print!("{}", summary(&outcomes, &seed));
    let failed = outcomes.iter().filter(|outcome| outcome.has_failed());
    let failed: Vec<String> = failed.map(|outcome| outcome.part.to_owned()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::Found {
        summary: "parts that failed:".into(),
        findings: failed,
        hint: "`cargo test`, the words in front of a test's name, `-- --include-ignored` and its name run it alone",
    })
}

fn run_part(part: &Part, top: &Path, seed: &str) -> Result<Outcome, Failure> {
    println!("\n==> test: {}", part.name);
    let began = Instant::now();
    let mut command = Command::new(part.command[0]);
    command.args(&part.command[1..]).current_dir(top);
    seeded(&mut command, seed);
    if part.needs == Some("lab") {
        command.env("BOOTLACE_BIN", top.join("target/release/bootlace"));
    }
    let ran = run_noting(command, &top.join("target/test-notes").join(part.name))?;
    let mut end = ran.end;
    if part.has_tests && end == End::Passed && ran.binaries.iter().all(|binary| binary.passed == 0)
    {
        end = End::Failed("no test ran".into());
    }
    Ok(Outcome {
        part: part.name,
        took: began.elapsed(),
        end,
        binaries: if part.has_tests { ran.binaries } else { vec![] },
        notes: ran.notes,
    })
}

/// Tells tests the seed; proptest, which some of them use, has a variable of its own.
pub(crate) fn seeded(command: &mut Command, seed: &str) {
    command.env("BOOTLACE_SEED", seed);
    command.env("PROPTEST_RNG_SEED", seed);
}

/// What came of a command that runs tests.
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) binaries: Vec<Binary>,
    pub(crate) notes: Vec<Note>,
}

/// Runs cargo to its end, shows what it prints, and collects results and notes.
pub(crate) fn run_noting(command: Command, notes: &Path) -> Result<Ran, Failure> {
    follow(Output::default(), command, notes)
}

/// The same for a test binary, which does not print its own name as cargo does.
pub(crate) fn run_noting_as(name: &str, command: Command, notes: &Path) -> Result<Ran, Failure> {
    let mut output = Output::default();
    output.line(&format!("     Running {name}"));
    follow(output, command, notes)
}

fn follow(mut output: Output, mut command: Command, notes: &Path) -> Result<Ran, Failure> {
    let folder = notes.parent().unwrap_or(notes);
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    fs::write(notes, "").map_err(Failure::file(notes))?;
    command.env(bootlace_test_notes::FILE, notes);
    let shown = format!("{command:?}");
    let failed = |error: std::io::Error| Failure::Program {
        command: shown.clone(),
        reason: error.to_string(),
    };
    // One pipe for both, so that results stay behind the line that names their binary.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let other = writer.try_clone().map_err(failed)?;
    let mut child = command
        .stdout(writer)
        .stderr(other)
        .spawn()
        .map_err(failed)?;
    // The command holds the writing ends of the pipe, which would never end.
    drop(command);
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        output.line(text.trim_end());
        line.clear();
    }
    let status = child.wait().map_err(failed)?;
    let text = fs::read_to_string(notes).map_err(Failure::file(notes))?;
    Ok(Ran {
        end: if status.success() {
            End::Passed
        } else {
            End::Failed(status.to_string())
        },
        binaries: output.end(),
        notes: text.lines().filter_map(Note::parse).collect(),
    })
}

/// Returns the seed of all samples: the one that is given, or a new one.
pub(crate) fn seed() -> String {
    std::env::var("BOOTLACE_SEED").unwrap_or_else(|_| {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        (now.as_micros() % 1_000_000).to_string()
    })
}

/// Returns the number that a variable of the environment sets, or another one without it.
pub(crate) fn number(variable: &str, otherwise: u64) -> Result<u64, Failure> {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .map_err(|_| Failure::Usage(format!("{variable}={text}"))),
        Err(_) => Ok(otherwise),
    }
}
