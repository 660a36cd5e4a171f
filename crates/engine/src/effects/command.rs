//! Running programs, and clearing away what they made.

use std::collections::BTreeSet;

use bootlace_model::effect::RunCommand;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::shell;

use super::perform::Staging;
use super::writes::{Shape, Write, tree_below};
use crate::folders::Folders;
use crate::port::{Command, Host, Output};

/// How much of a program's output is kept.
const KEEP: usize = 64 << 10;
/// How many lines of complaint are shown.
const SHOWN_LINES: usize = 8;

/// Runs a program and fails with its last words if it fails.
pub(crate) fn run_program(host: &dyn Host, command: &Command<'_>) -> Result<Output, Fault> {
    let output = host.run(command)?;
    if output.code == Some(0) {
        return Ok(output);
    }
    let line = shell::line(command.argv.iter().map(String::as_str));
    let how = output.code.map_or("was killed by a signal".into(), |code| {
        format!("ended with {code}")
    });
    let mut fault = Fault::new(FaultKind::StepFailed, format!("`{line}` {how}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown = lines.len().saturating_sub(SHOWN_LINES);
    fault.details = lines[shown..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect();
    Err(fault.hint("when the cause is gone, `bootlace resume` goes on from here"))
}

/// Performs the effect.
pub(super) fn run_effect(host: &dyn Host, run: &RunCommand) -> Result<(), Fault> {
    let env = run
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let (argv, directory, within) = (&run.argv, run.directory.as_ref(), run.within);
    run_program(
        host,
        &Command {
            argv,
            env,
            directory,
            within,
            keep: KEEP,
        },
    )
    .map(|_| ())
}

/// Removes a path with all that is in it.
pub(crate) fn remove_tree(host: &dyn Host, path: &TargetPath) -> Result<(), Fault> {
    remove_tree_but(host, path, &BTreeSet::new())
}

/// Removes a path with all that is in it, but for some paths and the folders that hold them.
pub(crate) fn remove_tree_but(
    host: &dyn Host,
    path: &TargetPath,
    kept: &BTreeSet<TargetPath>,
) -> Result<(), Fault> {
    let folders = Folders::new(host);
    let mut staging = Staging::default();
    let stays = |path: &TargetPath| kept.iter().any(|kept| kept.below(path).is_some());
    let below = tree_below(&folders, path)?.into_iter().rev();
    for path in below.filter(|path| !stays(path)) {
        let write = Write {
            path,
            shape: Shape::Nothing,
        };
        staging.stage(&folders, &write, String::new())?;
    }
    staging.publish(host)?;
    Ok(())
}
