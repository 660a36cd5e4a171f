//! `bootlace shell`: a shell, or one command, inside a machine of `up`.

use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use bootlace_machines::{Machine, MachineName, Machines};
use bootlace_model::fault::{Fault, FaultKind};

use super::{fault, folder, line};
use crate::args::Shell;
use crate::environment;
use crate::error::Ending;
use crate::session::Session;

/// A login shell that a terminal controls: it gets a terminal of the machine's own, because a process
/// inside cannot take charge of one that belongs to a session outside.
const LOGIN: [&str; 7] = [
    "systemd-run",
    "--quiet",
    "--pty",
    "--collect",
    "--setenv=HOME=/root",
    "--working-directory=/root",
    "/bin/bash",
];
/// A shell that reads commands from a pipe or a file.
const PIPED: [&str; 1] = ["/bin/bash"];

/// Becomes a shell or a command inside a machine.
pub(crate) fn enter(session: &Session, args: &Shell) -> Result<Ending, Fault> {
    let machine = find(session, args.machine.as_deref())?;
    let mut command = match args.command.as_slice() {
        [] if std::io::stdin().is_terminal() => machine.command(&LOGIN),
        [] => machine.command(&PIPED),
        words => machine.command(words),
    }
    .map_err(fault)?;
    if let Some(terminal) = environment::of_stdout().term {
        command.env("TERM", terminal);
    }
    // Nothing is left to do here, and signals reach the program inside.
    let error = command.stdin(Stdio::inherit()).exec();
    let message = format!("cannot enter the machine {}: {error}", machine.name());
    Err(Fault::new(FaultKind::StepFailed, message))
}

/// Finds the machine that is meant: the one that is named, else the first.
fn find(session: &Session, named: Option<&str>) -> Result<Machine, Fault> {
    let folder = folder(session);
    let machines = if folder.exists() {
        let machines = Machines::open(&folder).map_err(fault)?;
        machines.list().map_err(fault)?
    } else {
        vec![]
    };
    let there: Vec<String> = machines.iter().map(|it| it.name().to_string()).collect();
    let is_meant = |machine: &Machine| named.is_none_or(|name| machine.name().as_str() == name);
    let Some(machine) = machines.into_iter().find(is_meant) else {
        return Err(missing(session, named, &there));
    };
    if machine.is_running().map_err(fault)? {
        return Ok(machine);
    }
    let message = format!("the machine {} is not running", machine.name());
    let up = line(session, "up", None);
    Err(Fault::new(FaultKind::Preflight, message).hint(format!("`{up}` boots it")))
}

fn missing(session: &Session, named: Option<&str>, there: &[String]) -> Fault {
    let Some(named) = named.filter(|_| !there.is_empty()) else {
        let up = line(session, "up", None);
        return Fault::new(
            FaultKind::Preflight,
            "there is no local cluster with machines",
        )
        .hint(format!("`{up}` makes one"));
    };
    let message = match MachineName::new(named) {
        Ok(_) => format!("there is no machine {named}"),
        Err(error) => error.to_string(),
    };
    Fault::new(FaultKind::Usage, message).hint(format!("machines: {}", there.join(", ")))
}
