//! Chores of this repository that are more than a line of shell: checks and generated files.
//!
//! `cargo run -p xtask -- COMMAND`; `make check` runs all that check. A command is a row in
//! [`COMMANDS`] and a file of its own.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool for developers: it reads the sources and talks to the terminal; nothing here ships"
)]

mod failure;
mod figures;
mod flaky;
mod generated;
mod layers;
mod metadata;
mod picture;
mod program;
mod reference;
mod root;
#[cfg(test)]
mod samples;
mod schemas;
mod scripts;
mod sizes;
mod soak;
mod test;

use std::process::ExitCode;

use failure::Failure;

/// One chore.
struct Command {
    /// What is typed.
    name: &'static str,
    /// One line for the list.
    about: &'static str,
    /// Does it; the arguments are those behind the name.
    run: fn(&[String]) -> Result<(), Failure>,
}

/// Every chore, in the order in which they are listed.
const COMMANDS: &[Command] = &[
    Command {
        name: "layers",
        about: "Check that crates depend on each other only in the direction of the architecture",
        run: layers::run,
    },
    Command {
        name: "sizes",
        about: "Check that no source file is too long to review",
        run: sizes::run,
    },
    Command {
        name: "schemas",
        about: "Write the JSON Schemas of all outputs and of the config; --check only compares",
        run: schemas::run,
    },
    Command {
        name: "reference",
        about: "Write the reference of steps, failures and commands; --check only compares",
        run: reference::run,
    },
    Command {
        name: "scripts",
        about: "Write the scripts that walk stage by stage; --check only compares",
        run: scripts::run,
    },
    Command {
        name: "figures",
        about: "Write the measured figures of the documentation; --check only compares",
        run: figures::run,
    },
    Command {
        name: "picture",
        about: "Draw real commands in a real terminal (tmux) as docs/pictures/: run, up",
        run: picture::run,
    },
    Command {
        name: "test",
        about: "Run tests part by part and sum up: lints, lab, quick, slow",
        run: test::run,
    },
    Command {
        name: "flaky",
        about: "Run tests again and again: sampled, timed, started, machines",
        run: flaky::run,
    },
    Command {
        name: "soak",
        about: "Try every fault, and record what was tried; `soak list` names the parts",
        run: soak::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print_commands();
        return ExitCode::from(2);
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no chore {name:?}");
        print_commands();
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {name}: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn print_commands() {
    eprintln!("usage: cargo run -p xtask -- COMMAND");
    for Command { name, about, .. } in COMMANDS {
        eprintln!("  {name:10} {about}");
    }
}
