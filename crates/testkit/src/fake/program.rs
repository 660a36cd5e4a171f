//! Scripted programs: what the fake host runs instead of real ones.

use std::sync::Arc;

use bootlace_engine::port::{Command, HostError, HostResult, Output};
use bootlace_model::path::TargetPath;

use super::errno::Errno;
use super::faults::OperationKind;
use super::state::{State, refusal};
use super::world::{World, lost_way};

/// What a scripted program does. It gives up with the error that the world gave it, so that a
/// crash in its middle ends it there.
pub type Script = dyn Fn(&Command<'_>, &mut World<'_>) -> HostResult<Output> + Send + Sync;

/// A program of the fake host.
#[derive(Clone)]
pub(crate) struct Program(pub(crate) Arc<Script>);

/// Makes the output of a program that succeeds.
pub fn printed(stdout: impl Into<Vec<u8>>) -> Output {
    Output {
        code: Some(0),
        stdout: stdout.into(),
        stderr: vec![],
    }
}

/// Makes the output of a program that ends with a code and complains.
pub fn failed(code: i32, stderr: impl Into<Vec<u8>>) -> Output {
    Output {
        code: Some(code),
        stdout: vec![],
        stderr: stderr.into(),
    }
}

impl State {
    /// Runs a scripted program.
    pub(crate) fn run(&mut self, command: &Command<'_>) -> HostResult<Output> {
        let line = bootlace_model::shell::line(command.argv.iter().map(String::as_str));
        let pass = self.begin(OperationKind::Run, &line)?;
        let begun = self.now;
        let output = if pass.is_partial() {
            Err(HostError::Crashed)
        } else {
            self.perform(command, &line)
        };
        let mut output = self.end(pass, output)?;
        if self.now.duration_since(begun).unsigned_abs() > command.within {
            let (what, within) = (line, command.within);
            return Err(HostError::TimedOut { what, within });
        }
        output.stdout.truncate(command.keep);
        let surplus = output.stderr.len().saturating_sub(command.keep);
        output.stderr.drain(..surplus);
        Ok(output)
    }

    fn perform(&mut self, command: &Command<'_>, line: &str) -> HostResult<Output> {
        let missing = || refusal(OperationKind::Run, line, Errno::ENOENT);
        let name = command.argv.first().map(String::as_str).unwrap_or_default();
        if name == "systemctl" && !self.programs.contains_key(name) {
            return self.systemctl(command);
        }
        let program = self.programs.get(name).cloned().ok_or_else(missing)?;
        if let Some(directory) = command.directory.map(TargetPath::as_str) {
            let found = self.disk.walk(directory);
            let found = found.map_err(|lost| lost_way("run", directory, lost))?;
            found.ok_or_else(missing)?;
        }
        let times = self.runs.entry(name.to_owned()).or_default();
        *times += 1;
        let times_run = *times;
        let mut world = World {
            state: self,
            counted: true,
            times_run,
        };
        match program.0(command, &mut world) {
            // A program that cannot write says so and ends; only a crash takes its word away.
            Err(error @ HostError::Io { .. }) => Ok(failed(1, error.to_string())),
            other => other,
        }
    }
}
