//! `bootlace status`: where a run stands.

use bootlace_model::fault::Fault;
use bootlace_model::view::RunStateView;
use bootlace_report::next;

use crate::args::{OnRun, Output};
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::session::Session;

pub(crate) fn status(session: &mut Session, args: &OnRun) -> Result<Ending, Fault> {
    let work = session.by_journal(args)?;
    let view = work.engine(&Unobserved).status()?;
    let console = &session.console;
    let verbose = console.is_verbose();
    let text = |style: &_| bootlace_report::status::text(&view, style, verbose);
    console.show(&view, text)?;
    if console.output() == Output::Text {
        let hints = hints(session, view.state);
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::Done)
}

fn hints(session: &Session, state: RunStateView) -> Vec<(String, &'static str)> {
    let hint = |command: &str, does| (session.retype.line(command), does);
    match state {
        RunStateView::Running => vec![hint("log", "tells what happened so far")],
        RunStateView::Succeeded => vec![hint("verify", "checks that everything still holds")],
        RunStateView::Failed | RunStateView::Interrupted => vec![
            hint("resume", "goes on from here"),
            hint("undo", "takes back what was done so far"),
        ],
        RunStateView::Undone => vec![hint("run", "begins anew")],
    }
}
