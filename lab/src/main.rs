//! Prepares the lab and says where it is.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the command line of a tool for developers"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use bootlace_lab::{Lab, LabError, ProgramFolders, Wanted, prepare};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            for hint in error.hints() {
                eprintln!("  hint: {hint}");
            }
            ExitCode::from(if matches!(error, LabError::Usage(_)) {
                2
            } else {
                1
            })
        }
    }
}

fn run(arguments: &[String]) -> Result<(), LabError> {
    match arguments.split_first() {
        Some((command, rest)) if command == "prepare" => prepare(&wanted(rest)?),
        Some((command, [])) if command == "show" => show(),
        Some((command, _)) => Err(LabError::Usage(format!(
            "`lab {command}` is not understood"
        ))),
        None => Err(LabError::Usage("nothing was asked for".into())),
    }
}

fn wanted(arguments: &[String]) -> Result<Wanted, LabError> {
    let mut wanted = Wanted::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--programs-only" => wanted.programs_only = true,
            "--with-ignition" => wanted.with_ignition = true,
            "--with-conformance" => wanted.with_conformance = true,
            "--bootlace" => {
                let file = arguments.next();
                let file = file.ok_or_else(|| LabError::Usage("--bootlace needs a file".into()))?;
                wanted.bootlace = Some(PathBuf::from(file));
            }
            other => return Err(LabError::Usage(format!("`{other}` is not understood"))),
        }
    }
    Ok(wanted)
}

/// Prints where everything is; only programs if only they were prepared.
fn show() -> Result<(), LabError> {
    let programs = ProgramFolders::load()?;
    let shown = match Lab::load() {
        Ok(lab) => serde_json::to_string_pretty(&lab),
        Err(_) => serde_json::to_string_pretty(&programs),
    };
    let shown = shown.map_err(|error| LabError::Usage(error.to_string()))?;
    println!("{shown}");
    Ok(())
}
