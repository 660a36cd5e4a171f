//! `bootlace verify`: does everything that was done still hold?

use bootlace_model::fault::Fault;
use bootlace_report::next;

use super::placement;
use crate::args::{Given, OnRun, Output, Placed};
use crate::error::Ending;
use crate::ignition_file;
use crate::observer::Watcher;
use crate::session::Session;

pub(crate) fn verify(session: &mut Session, args: &OnRun) -> Result<Ending, Fault> {
    let mut work = session.by_config(args)?;
    placement::settle(&mut work, &Placed::default())?;
    ignition_file::settle(session, &mut work, &Given::default())?;
    let console = &session.console;
    let watcher = Watcher::new(console, &work.host, work.sequence);
    let view = work.engine(&watcher).verify()?;
    let verbose = console.is_verbose();
    let steps: Vec<&str> = view
        .checks
        .iter()
        .map(|check| check.step.as_str())
        .collect();
    let limits = bootlace_steps::limits(&work.settings, &steps);
    let limits = limits.map_or(String::new(), |limits| format!("{limits}\n"));
    let text = |style: &_| bootlace_report::verify::text(&view, style, verbose) + &limits;
    console.show(&view, text)?;
    if view.ok {
        return Ok(Ending::Done);
    }
    if console.output() == Output::Text {
        let line = |command: &str| session.retype.line(command);
        let hints = if work.engine(&watcher).is_past_return()? {
            vec![(line("explain"), "tells how each step is done by hand")]
        } else {
            vec![
                (line("plan --replan"), "shows what is missing"),
                (line("resume --replan"), "puts back what is missing"),
            ]
        };
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::DoesNotHold)
}
