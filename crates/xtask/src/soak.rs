//! The long form of the fault tests, part by part, and the record of what was tried.

mod fuzz;
mod record;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use bootlace_test_notes::Note;

use crate::failure::Failure;
use crate::root::root;
use crate::test::{self, End, HELPERS, duration};
use record::{Entry, Tried};

/// One part: what tries everything of a kind.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// What it tries, for the list and the record.
    pub(crate) about: &'static str,
    method: Method,
}

/// How a part tries it.
enum Method {
    /// Runs tests that say how much they tried.
    Tests {
        /// How cargo is told which test binary.
        target: &'static [&'static str],
        /// Which of its tests, by a part of their names.
        tests: &'static [&'static str],
    },
    /// Runs the fuzz targets.
    Fuzz,
}

/// What came of a part.
#[derive(Debug, Default)]
struct Outcome {
    tried: Vec<Tried>,
    failed: Vec<String>,
}

/// All parts. Together they take less than two hours on two cores.
pub(crate) const PARTS: &[Part] = &[
    Part {
        name: "records",
        about: "a crash after every journal record and every journal sync, then resume",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &["a_crash_after_many_records"],
        },
    },
    Part {
        name: "operations",
        about: "a crash before, within and after operations of every sequence, then resume",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &[
                "a_crash_at_many_operations",
                "a_crash_at_many_places",
                "a_stop_is_resumed",
                "killed_anywhere",
            ],
        },
    },
    Part {
        name: "undo",
        about: "a crash in a run or in undo, then undo",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &["undo::many"],
        },
    },
    Part {
        name: "failures",
        about: "a failed operation, then undo or resume",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &["failures::many", "failures::after_a_failed_sync"],
        },
    },
    Part {
        name: "reset",
        about: "a crash or a failed operation in reset, then reset again",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &["reset::many"],
        },
    },
    Part {
        name: "orders",
        about: "orders of steps, random walks, clocks that step",
        method: Method::Tests {
            target: &["--test", "crash"],
            tests: &["interleavings::", "many_random_walks", "clock::"],
        },
    },
    Part {
        name: "ignition",
        about: "random Ignition configs, compared with real Ignition",
        method: Method::Tests {
            target: &["--test", "referee", "--test", "ignition"],
            tests: &[],
        },
    },
    Part {
        name: "sigkill",
        about: "SIGKILL of the real program at random moments of run and undo",
        method: Method::Tests {
            target: &["--test", "sigkill"],
            tests: &[],
        },
    },
    Part {
        name: "disks",
        about: "a power cut at every write to ext4, btrfs and XFS, and disks that fail or are full",
        method: Method::Tests {
            target: &["--test", "power"],
            tests: &[],
        },
    },
    Part {
        name: "kills",
        about: "SIGKILL aimed at every step on a real machine; start-control-plane is always hit inside",
        method: Method::Tests {
            target: &["--test", "machines"],
            tests: &["killed::"],
        },
    },
    Part {
        name: "power",
        about: "a machine that loses its power while the control plane starts",
        method: Method::Tests {
            target: &["--test", "machines"],
            tests: &["power::"],
        },
    },
    Part {
        name: "restarts",
        about: "every part of a cluster restarted, a reboot, and Services asked after each",
        method: Method::Tests {
            target: &["--test", "machines"],
            tests: &["restarts::", "routes::"],
        },
    },
    Part {
        name: "faults",
        about: "control planes that cannot start",
        method: Method::Tests {
            target: &["--test", "machines"],
            tests: &["faults::started"],
        },
    },
    Part {
        name: "dying",
        about: "containerd, etcd and the API server killed during the hand-over",
        method: Method::Tests {
            target: &["--test", "machines"],
            tests: &["faults::dying"],
        },
    },
    Part {
        name: "fuzz",
        about: "coverage-guided fuzzing of Accept, paths, tokens, Ignition and units, two minutes each",
        method: Method::Fuzz,
    },
];

/// Runs the part that is named, or all; `list` lists them.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let top = root()?;
    let chosen: Vec<&Part> = match arguments {
        [] => PARTS.iter().collect(),
        [list] if list == "list" => {
            for part in PARTS {
                println!("  {:10} {}", part.name, part.about);
            }
            return Ok(());
        }
        [write] if write == "record" => return record::write(&top),
        names => names
            .iter()
            .map(|name| {
                let part = PARTS.iter().find(|part| part.name == name);
                part.ok_or_else(|| Failure::Usage(name.clone()))
            })
            .collect::<Result<_, _>>()?,
    };
    let seed = test::seed();
    let mut failed = vec![];
    for part in chosen {
        let entry = run_part(part, &top, &seed)?;
        if !entry.failed.is_empty() {
            failed.push(format!("{}: {}", part.name, entry.failed.join(", ")));
        }
        record::keep(&top, part.name, entry)?;
    }
    record::write(&top)?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::Found {
        summary: format!("parts that failed with BOOTLACE_SEED={seed}:"),
        findings: failed,
        hint: "`make soak PART=NAME` runs one part again",
    })
}

fn run_part(part: &Part, top: &Path, seed: &str) -> Result<Entry, Failure> {
    println!("\n==> soak: {}: {}", part.name, part.about);
    let began = Instant::now();
    let outcome = match part.method {
        Method::Tests { target, tests } => run_tests(part.name, target, tests, top, seed)?,
        Method::Fuzz => fuzz::run(top, seed)?,
    };
    let Outcome { tried, mut failed } = outcome;
    if tried.is_empty() && failed.is_empty() {
        failed.push("no test said what it tried".into());
    }
    let took = began.elapsed();
    println!("==> soak: {} took {}", part.name, duration(took));
    Ok(Entry {
        commit: record::commit(top)?,
        date: record::ask(top, "date", &["-u", "+%Y-%m-%d %H:%M UTC"])?,
        minutes: (took.as_secs_f64() / 6.0).round() / 10.0,
        seed: seed.to_owned(),
        tried: record::sum(tried),
        failed,
    })
}

fn run_tests(
    part: &str,
    target: &[&str],
    tests: &[&str],
    top: &Path,
    seed: &str,
) -> Result<Outcome, Failure> {
    let mut command = Command::new("cargo");
    command
        .args(["test", "--workspace", "--locked", "--no-fail-fast"])
        .args(target);
    command
        .args(["--", "--include-ignored", "--skip", HELPERS])
        .args(tests);
    command.env("BOOTLACE_SOAK", "1");
    test::seeded(&mut command, seed);
    command
        .env("BOOTLACE_BIN", top.join("target/release/bootlace"))
        .current_dir(top);
    let ran = test::run_noting(command, &top.join("target/test-notes").join(part))?;
    let mut failed: Vec<String> = ran
        .binaries
        .iter()
        .flat_map(|binary| binary.failed.clone())
        .collect();
    if let (End::Failed(reason), true) = (&ran.end, failed.is_empty()) {
        failed.push(reason.clone());
    }
    let tried = ran.notes.into_iter().filter_map(|note| match note {
        Note::Tried { what, count, .. } => Some(Tried { what, count }),
        Note::Skipped { .. } => None,
    });
    Ok(Outcome {
        tried: tried.collect(),
        failed,
    })
}
