//! `bootlace up` and `bootlace down`: a local cluster on a machine of its own.

#![expect(
    clippy::disallowed_methods,
    reason = "the local cluster's folder belongs to this computer, not to the target of the port"
)]

mod enter;
mod lab;
mod machine;
mod process;
pub(crate) mod programs;

use std::path::{Path, PathBuf};

pub(crate) use enter::enter;

use bootlace_machines::{MachineError, Machines};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::shell;
use bootlace_model::view::UpView;

use super::confirm::confirm;
use crate::args::{Down, Forward, In, Up};
use crate::error::Ending;
use crate::session::Session;

/// What `down` asks while `up` is running.
const QUESTION: &str =
    "`bootlace up` is still bringing this cluster up. Going on stops it and removes the cluster.";

/// Brings the cluster up, or finds it up.
pub(crate) fn up(session: &Session, args: &Up) -> Result<Ending, Fault> {
    if args.nodes != 1 {
        let message = "a local cluster of several machines is not built yet";
        return Err(Fault::new(FaultKind::Preflight, message)
            .hint("leave out --nodes; `kubeadm join` adds machines of your own"));
    }
    if let Some(config) = session.globals.config.first() {
        let message = format!(
            "the local cluster has a config of its own, not {}",
            config.display()
        );
        return Err(Fault::new(FaultKind::Usage, message)
            .because(
                "A cluster that looks like the one that was asked for and is another misleads.",
            )
            .hint("leave out --config and BOOTLACE_CONFIG")
            .hint("`bootlace run cluster --config FILE` is for machines of your own"));
    }
    let why_not = bootlace_machines::why_not();
    match (args.place, why_not) {
        (None | Some(In::Machine), None) => machine::up(session, args),
        (Some(In::Machine), Some(reason)) => {
            let message = format!("this computer cannot start machines: {reason}");
            Err(Fault::new(FaultKind::Preflight, message)
                .hint("`bootlace up --in process` needs neither root nor systemd-nspawn"))
        }
        (None, Some(reason)) => {
            let text = format!("This computer cannot start machines: {reason}.\n");
            session.console.say(&text);
            process::up(session, args)
        }
        (Some(In::Process), _) => process::up(session, args),
    }
}

/// Removes all that `up` made, and nothing else.
pub(crate) fn down(session: &Session, args: &Down) -> Result<Ending, Fault> {
    let is_meant = |place: In| args.place.is_none_or(|meant| meant == place);
    let is_busy = is_meant(In::Process) && process::is_busy(session)?
        || is_meant(In::Machine) && machine::is_busy(&folder(session))?;
    if is_busy && !args.yes {
        confirm(QUESTION, &line(session, "down --yes", args.place))?;
    }
    let processes = is_meant(In::Process) && process::down(session)?;
    let machines = is_meant(In::Machine) && machines_down(session)?;
    session.console.say(if processes || machines {
        "The local cluster is gone.\n"
    } else {
        "Nothing to remove: no local cluster is there.\n"
    });
    Ok(Ending::Done)
}

/// Removes the machines of `up`; false if there are none.
fn machines_down(session: &Session) -> Result<bool, Fault> {
    let folder = folder(session);
    if !folder.exists() {
        return Ok(false);
    }
    let machines = Machines::open(&folder).map_err(fault)?;
    machines.clean().map_err(fault)?;
    remove(&folder)?;
    Ok(true)
}

/// Tells how to ask inside the machine of `up`, if there is one: its run is not among those here,
/// and one that someone begins here instead would change this computer.
pub(super) fn hint_inside(session: &Session, command: &str) -> Result<Option<String>, Fault> {
    if !machine::is_running(&folder(session))? {
        return Ok(None);
    }
    let shell = line(session, "shell", None);
    Ok(Some(format!(
        "`{shell} -- bootlace {command}` runs it inside the machine of `bootlace up`"
    )))
}

/// Prints how to reach the cluster, as data or as a line for a shell.
fn show(session: &Session, place: In, kubeconfig: &Path) -> Result<(), Fault> {
    let kubeconfig = kubeconfig.display().to_string();
    let line = format!("export KUBECONFIG={}\n", shell::quote(&kubeconfig));
    let place = match place {
        In::Machine => "machine",
        In::Process => "process",
    };
    let view = UpView {
        kubeconfig,
        place: place.into(),
    };
    session.console.show(&view, |_| line)
}

/// Returns the line that calls `up` or `down` for the same cluster.
fn line(session: &Session, command: &str, place: Option<In>) -> String {
    let mut words = vec![format!("bootlace {command}")];
    if place == Some(In::Process) {
        words.push("--in process".into());
    }
    if let Some(state) = &session.globals.state {
        words.push("--state".into());
        words.push(shell::quote(&state.display().to_string()));
    }
    words.join(" ")
}

/// Says that `up` stopped on request, and what to type.
fn stopped(session: &Session, place: In) -> Fault {
    let line = |command| line(session, command, Some(place));
    let message = "`bootlace up` was stopped before the cluster was up";
    Fault::new(FaultKind::Stopped, message)
        .because("what was done is journalled, and nothing is half done")
        .hint(format!("`{}` goes on from here", line("up")))
        .hint(format!("`{}` removes what was made so far", line("down")))
}

/// Becomes the forwarder through which the cluster is reached; started by `up`.
pub(crate) fn forward(args: &Forward) -> Result<Ending, Fault> {
    let machines = Machines::open(&args.folder).map_err(fault)?;
    let forwarded = machines.run_forwarder(args.listen, args.target, |_| {});
    forwarded.map_err(fault)?;
    Ok(Ending::Done)
}

/// Returns the folder in which the local cluster lives.
fn folder(session: &Session) -> PathBuf {
    let state = session.globals.state.clone();
    state
        .unwrap_or_else(|| PathBuf::from("/var/lib/bootlace"))
        .join("up")
}

fn remove(folder: &Path) -> Result<(), Fault> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let message = format!("cannot remove {}: {error}", folder.display());
            Err(Fault::new(FaultKind::StepFailed, message))
        }
        _ => Ok(()),
    }
}

/// Turns what a machine refused into what a person is told.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn fault(error: MachineError) -> Fault {
    let kind = match error {
        MachineError::Deadline { .. } => FaultKind::Deadline,
        _ => FaultKind::StepFailed,
    };
    let mut fault = Fault::new(kind, error.to_string());
    fault.hints = error.hints();
    fault
}
