//! `bootlace status`: where a run stands.

use bootlace_engine::Ways;
use bootlace_model::fault::Fault;
use bootlace_model::view::RunStateView;
use bootlace_report::next;

use crate::args::{OnRun, Output};
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::session::Session;

pub(crate) fn status(session: &mut Session, args: &OnRun) -> Result<Ending, Fault> {
    let work = session.by_journal(args)?;
    let engine = work.engine(&Unobserved);
    let view = engine.status()?;
    let console = &session.console;
    let verbose = console.is_verbose();
    let text = |style: &_| bootlace_report::status::text(&view, style, verbose);
    console.show(&view, text)?;
    if console.output() == Output::Text {
        let hints = hints(session, view.state, engine.ways()?);
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::Done)
}

fn hints(session: &Session, state: RunStateView, ways: Ways) -> Vec<(String, &'static str)> {
    let hint = |command: &str, does| (session.retype.line(command), does);
    let back = if ways.past_return { "reset" } else { "undo" };
    match state {
        RunStateView::Failed | RunStateView::Interrupted if ways.going_back => {
            vec![hint(back, "goes on with taking it back")]
        }
        RunStateView::Failed | RunStateView::Interrupted if ways.past_return => vec![
            hint("resume", "goes on from here"),
            hint("reset", "gives the machine back"),
        ],
        RunStateView::Running => vec![hint("log", "tells what happened so far")],
        RunStateView::Succeeded => vec![hint("verify", "checks that everything still holds")],
        RunStateView::Failed | RunStateView::Interrupted => vec![
            hint("resume", "goes on from here"),
            hint("undo", "takes back what was done so far"),
        ],
        RunStateView::Undone => vec![hint("run", "begins anew")],
    }
}
