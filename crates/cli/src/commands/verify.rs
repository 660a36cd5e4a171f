//! `bootlace verify`: does everything that was done still hold?

use bootlace_engine::Ways;
use bootlace_model::fault::Fault;
use bootlace_model::view::{RunStateView, VerifyView};
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
    if console.output() == Output::Text {
        let hints = hints(session, &view, work.engine(&watcher).ways()?);
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(if view.ok {
        Ending::Done
    } else {
        Ending::DoesNotHold
    })
}

fn hints(session: &Session, view: &VerifyView, ways: Ways) -> Vec<(String, &'static str)> {
    let hint = |command: &str, does| (session.retype.line(command), does);
    let has_drifted = view
        .checks
        .iter()
        .any(|check| !check.ok && !check.unfinished);
    let can_go_on = matches!(view.state, RunStateView::Interrupted | RunStateView::Failed);
    match (has_drifted, can_go_on) {
        _ if ways.going_back => vec![hint("undo", "goes on with taking it back")],
        (true, _) if ways.past_return => {
            vec![hint("explain", "tells how each step is done by hand")]
        }
        (true, _) => vec![
            hint("plan --replan", "shows what is missing"),
            hint("resume --replan", "puts back what is missing"),
        ],
        (false, true) => vec![
            hint("resume", "goes on from here"),
            hint("status", "tells how far the run is"),
        ],
        (false, false) => vec![],
    }
}
