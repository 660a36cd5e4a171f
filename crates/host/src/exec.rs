//! Runs programs of this machine.
//!
//! Also with another root than `/` a program is one of this machine and sees this machine; only its
//! working folder lies inside that root. It gets its arguments as they are, without a shell, and an
//! almost empty environment, so that it does the same for everyone.

mod capture;
mod lookup;
mod watch;

use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::Duration;

use bootlace_engine::port::{Command, HostError, HostResult, LARGEST_INPUT, Output};
use bootlace_model::shell;

use crate::clock::StopHandle;
use crate::error::{refused, senseless};

use self::lookup::SAFE_PATH;
use self::watch::{End, Running};

/// Runs a program in a folder to its end, and ends it with its children when time is up, or when it
/// goes on for longer than the patience after a stop was asked for.
pub(crate) fn run(
    command: &Command<'_>,
    folder: &OwnedFd,
    stop: &StopHandle,
    patience: Duration,
) -> HostResult<Output> {
    let Some(name) = command.argv.first() else {
        return Err(senseless("run", "a program", "no program is named"));
    };
    if stop.is_requested() {
        return Err(HostError::Stopped);
    }
    let failed = |error| refused("run", name.as_str(), error);
    let program = lookup::find(name).map_err(failed)?;
    let input = input(command).map_err(failed)?;
    let child = prepare(command, name, &program, folder)
        .stdin(input)
        .spawn()
        .map_err(failed)?;
    let mut running = Running::new(child, command.keep);
    match running.watch(command.within, stop, patience) {
        Ok(End::Exited) => running.finish().map_err(failed),
        ended => {
            running.end().map_err(failed)?;
            match ended.map_err(failed)? {
                End::Stopped => Err(HostError::Stopped),
                _ => Err(HostError::TimedOut {
                    what: shell::line(command.argv.iter().map(String::as_str)),
                    within: command.within,
                }),
            }
        }
    }
}

/// Returns the program's standard input. The pipe is filled before the program starts, so a program that
/// never reads cannot block the caller.
fn input(command: &Command<'_>) -> std::io::Result<Stdio> {
    let Some(input) = command.input else {
        return Ok(Stdio::null());
    };
    if input.expose().len() > LARGEST_INPUT {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let (read, mut write) = std::io::pipe()?;
    write.write_all(input.expose())?;
    Ok(read.into())
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place where programs are started"
)]
fn prepare(
    command: &Command<'_>,
    name: &str,
    program: &std::path::Path,
    folder: &OwnedFd,
) -> std::process::Command {
    let mut prepared = std::process::Command::new(program);
    prepared
        .arg0(name)
        .args(&command.argv[1..])
        .env_clear()
        .env("PATH", SAFE_PATH)
        .env("LANG", "C.UTF-8")
        .env(
            "HOME",
            std::env::var_os("HOME").unwrap_or_else(|| "/root".into()),
        )
        .envs(command.env.iter().copied())
        // Through the handle, so that it is the folder that was looked up and no other.
        .current_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that it can be ended with all its children.
        .process_group(0);
    prepared
}

#[cfg(test)]
mod tests;
