//! `bootlace supervise`: static pods as plain processes. A run starts it; people seldom do.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_supervisor::{Place, SupervisorError};

use crate::args::Supervise;
use crate::error::Ending;
use crate::paths::{self, Places};
use crate::session::Session;
use crate::wire;

/// How long all processes together may take to end: each of them is killed long before.
const ENDS: Duration = Duration::from_mins(2);

pub(crate) fn supervise(session: &Session, args: &Supervise) -> Result<Ending, Fault> {
    let root = Places::new(&session.globals)?.root;
    if args.check {
        let works = bootlace_supervisor::is_running(&root).map_err(fault)?;
        return Ok(if works {
            Ending::Done
        } else {
            Ending::DoesNotHold
        });
    }
    if args.stop {
        stop(&root)?;
        return Ok(Ending::Done);
    }
    let programs = args.programs.iter();
    let programs = programs.map(|folder| paths::resolve(folder, "--programs"));
    let programs = programs.collect::<Result<_, _>>()?;
    let place = Place { root, programs };
    if args.serve {
        serve(&place)?;
    } else {
        start(&place)?;
    }
    Ok(Ending::Done)
}

/// Starts a supervisor unless one works, and returns when one does.
pub(crate) fn start(place: &Place) -> Result<(), Fault> {
    let own = std::env::current_exe().map_err(|error| {
        let message = format!("cannot find the program that is running: {error}");
        Fault::internal(message)
    })?;
    let mut command = command(&own);
    command.args(["supervise", "--serve", "--root"]);
    command.arg(&place.root);
    for folder in &place.programs {
        command.arg("--programs").arg(folder);
    }
    bootlace_supervisor::start(place, &mut command).map_err(fault)?;
    Ok(())
}

/// Ends the supervisor of a root and all its processes.
pub(crate) fn stop(root: &Path) -> Result<(), Fault> {
    bootlace_supervisor::stop(root, ENDS).map_err(fault)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the supervisor outlives this process, which nothing that the port runs does"
)]
fn command(own: &Path) -> Command {
    let mut command = Command::new(own);
    // Nobody's proxies or Go settings shall change what a control plane does.
    command.env_clear();
    for name in ["PATH", "HOME", "LANG"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Becomes the supervisor, away from the terminal that it was started from.
fn serve(place: &Place) -> Result<(), Fault> {
    rustix::process::setsid().map_err(|errno| {
        Fault::internal(format!("cannot leave the terminal: {errno}"))
            .because("a supervisor that ends with its terminal takes the control plane with it")
    })?;
    let stop = wire::stop_handle()?;
    bootlace_supervisor::serve(place, &|| stop.is_requested()).map_err(fault)
}

/// Turns what a supervisor refused into what a person is told.
fn fault(error: SupervisorError) -> Fault {
    let kind = match &error {
        SupervisorError::Late { .. } => FaultKind::Deadline,
        SupervisorError::Busy { .. } => FaultKind::Preflight,
        _ => FaultKind::StepFailed,
    };
    let fault = Fault::new(kind, error.to_string());
    match error {
        SupervisorError::Busy { root } => fault.hint(format!(
            "`bootlace supervise --stop --root {}` ends it",
            root.display()
        )),
        _ => fault,
    }
}
