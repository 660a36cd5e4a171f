//! Scripted programs: what the fake host runs instead of real ones.

use std::sync::Arc;

use bootlace_engine::port::{Command, HostError, HostResult, Output};

use super::errno::Errno;
use super::faults::OperationKind;
use super::state::{State, refusal};
use super::world::World;

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
        let kind = OperationKind::Run;
        let line = bootlace_model::shell::line(command.argv.iter().map(String::as_str));
        let pass = self.begin(kind, &line)?;
        let name = command.argv.first().map(String::as_str).unwrap_or_default();
        let Some(program) = self.programs.get(name).cloned() else {
            return Err(refusal(kind, &line, Errno::ENOENT));
        };
        if let Some(directory) = command.directory {
            match self.disk.walk(directory.as_str()) {
                Ok(Some(_)) => {}
                Ok(None) => return Err(refusal(kind, &line, Errno::ENOENT)),
                Err(lost) => return Err(super::world::lost_way("run", directory.as_str(), lost)),
            }
        }
        let begun = self.now;
        let mut output = None;
        let times = self.runs.entry(name.to_owned()).or_default();
        *times += 1;
        let times_run = *times;
        if !pass.is_partial() {
            let mut world = World {
                state: self,
                counted: true,
                times_run,
            };
            output = Some(program.0(command, &mut world)?);
        }
        self.end(pass)?;
        if self.now.duration_since(begun).unsigned_abs() > command.within {
            return Err(HostError::TimedOut {
                what: line,
                within: command.within,
            });
        }
        // Only a disturbed operation is partial, and that one ended above.
        let mut output = output.ok_or(HostError::Crashed)?;
        output.stdout.truncate(command.keep);
        let surplus = output.stderr.len().saturating_sub(command.keep);
        output.stderr.drain(..surplus);
        Ok(output)
    }
}
