//! Running programs, and clearing away what they made.

use std::collections::BTreeSet;
use std::time::Duration;

use bootlace_model::effect::{Product, RunCommand};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::shell;

use super::perform::Staging;
use super::writes::{Shape, Write, tree_below};
use crate::folders::Folders;
use crate::port::{Command, Host, HostError, HostResult, Output};

/// How much of a program's output is kept.
const KEEP: usize = 64 << 10;
/// How many lines of complaint are shown.
const SHOWN_LINES: usize = 8;

/// The longest command that stands in a message as it is.
const SHOWN_COMMAND: usize = 160;
/// How long a program that edits may go on after a stop was asked for; those of accounts need less
/// than a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a container that is in the way may take to go.
const REMOVAL: Duration = Duration::from_secs(30);

/// Runs a program and fails with its last words if it fails.
pub(crate) fn run_program(host: &dyn Host, command: &Command<'_>) -> Result<Output, Fault> {
    let output = host.run(command);
    judge(output, &line_of(command.argv))
}

fn line_of(argv: &[String]) -> String {
    format!("`{}`", shell::line(argv.iter().map(String::as_str)))
}

/// Fails with the last words of a program that failed.
fn judge(output: HostResult<Output>, called: &str) -> Result<Output, Fault> {
    let output = match output {
        Err(HostError::TimedOut { within, .. }) => {
            let what = called.to_owned();
            return Err(Fault::from(HostError::TimedOut { what, within })
                .because("It was ended with all that it started, so that it cannot go on unseen.")
                .hint("when the cause is gone, `bootlace resume` goes on from here"));
        }
        output => output?,
    };
    if output.code == Some(0) {
        return Ok(output);
    }
    let how = output.code.map_or("was killed by a signal".into(), |code| {
        format!("ended with {code}")
    });
    let mut fault = Fault::new(FaultKind::StepFailed, format!("{called} {how}"));
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
    clear(host, run)?;
    let (argv, directory, within) = (&run.argv, run.directory.as_ref(), run.within);
    let line = format!("`{}`", shell::line(run.shown()));
    let called = if line.len() > SHOWN_COMMAND {
        &run.name
    } else {
        &line
    };
    let command = Command {
        argv,
        env,
        directory,
        within,
        keep: KEEP,
        input: run.input.as_ref(),
    };
    let output = if run.edits.is_empty() {
        host.run(&command)
    } else {
        // Cut off, it would leave locks and half-written copies beside what it edits.
        host.run_patiently(&command, PATIENCE)
    };
    let ran = judge(output.map(|output| without(output, &run.hidden)), called);
    // A container outlives the program that started it, unless it is removed.
    let cleared = remove_containers(host, run);
    match (ran, cleared) {
        (Ok(_), cleared) => cleared,
        (Err(fault), Ok(())) => Err(fault),
        (Err(mut fault), Err(left)) => {
            fault
                .details
                .push(format!("and its container may still be there: {left}"));
            Err(fault)
        }
    }
}

/// Takes what nobody shall read out of what a program printed.
fn without(mut output: Output, hidden: &[String]) -> Output {
    for stream in [&mut output.stdout, &mut output.stderr] {
        for secret in hidden.iter().filter(|secret| !secret.is_empty()) {
            let said = String::from_utf8_lossy(stream);
            *stream = said.replace(secret, "…").into_bytes();
        }
    }
    output
}

/// Removes what an earlier try of the same command left.
fn clear(host: &dyn Host, run: &RunCommand) -> Result<(), Fault> {
    remove_containers(host, run)?;
    let folders = Folders::new(host);
    for folder in &run.empties {
        let below = tree_below(&folders, folder)?;
        let mut staging = Staging::default();
        for path in below.into_iter().skip(1).rev() {
            let write = Write {
                path,
                shape: Shape::Nothing,
            };
            staging.stage(&folders, &write, String::new())?;
        }
        staging.publish(host)?;
    }
    Ok(())
}

/// Removes the containers of a command, and the files in which their ids are noted.
fn remove_containers(host: &dyn Host, run: &RunCommand) -> Result<(), Fault> {
    for product in &run.products {
        if let Product::Container { id_file, .. } = product {
            host.remove_product(product, REMOVAL)?;
            remove_tree(host, id_file)?;
        }
    }
    Ok(())
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
