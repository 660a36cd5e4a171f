//! Real Ignition as the referee of `bootlace ignition apply`: the same verdicts, the same trees.
//!
//! Configs and roots are made by a seed that is printed; `BOOTLACE_SEED` repeats a row, `BOOTLACE_SOAK` makes a
//! longer one.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test runs the program that it compares with, and may fail loudly"
)]

mod sources;
mod trees;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bootlace_lab::IgnitionPrograms;
use bootlace_testkit::ignition::real::RealIgnition;

/// Finds real Ignition.
fn referee() -> RealIgnition {
    let programs = IgnitionPrograms::load().unwrap();
    RealIgnition::new(&programs.ignition(), &programs.validate()).unwrap()
}

/// The program under test.
fn bootlace() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_bootlace")),
        PathBuf::from,
    )
}

/// Applies a config to a root with the program under test; an error is what it printed.
fn apply(config: &Path, root: &Path) -> Result<(), String> {
    let output = Command::new(bootlace())
        .args(["ignition", "apply", "--root"])
        .args([root, config])
        // Beside the root, so that what is compared is what the config made.
        .arg("--state")
        .arg(root.with_file_name("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&said).into_owned())
}
