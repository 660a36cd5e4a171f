//! `bootlace status`: where a run stands.

use bootlace_engine::Ways;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::view::{RunStateView, RunSummary};
use bootlace_report::next;
use clap::Args;

use super::up;
use crate::args::{OnRun, Output, Steps};
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::paths::Places;
use crate::session::Session;
use crate::wire;

/// `status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The sequence of steps: cluster or ignition [default: that of the only run]
    #[arg(value_name = "SEQUENCE")]
    sequence: Option<String>,
    /// The first step
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
    /// The last step
    #[arg(long, value_name = "STEP")]
    to: Option<String>,
    /// The only step
    #[arg(long, value_name = "STEP", conflicts_with_all = ["from", "to"])]
    only: Option<String>,
    /// Which run [default: the newest of the sequence]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

impl Status {
    /// Says of which run of which sequence.
    fn on(self, sequence: String) -> OnRun {
        OnRun {
            steps: Steps {
                sequence,
                from: self.from,
                to: self.to,
                only: self.only,
            },
            run: self.run,
        }
    }
}

pub(crate) fn status(session: &mut Session, args: Status) -> Result<Ending, Fault> {
    let sequence = match (&args.sequence, &args.run) {
        (Some(sequence), _) => sequence.clone(),
        (None, run) => sequence_of_run(session, run.as_deref())?,
    };
    let work = session.by_journal(&args.on(sequence))?;
    let engine = work.engine(&Unobserved);
    let view = engine.status()?;
    let console = &session.console;
    let verbose = console.is_verbose();
    let text = |style: &_| bootlace_report::status::text(&view, style, verbose);
    console.show(&view, text)?;
    if console.output() == Output::Text {
        let hints = match view.unknown {
            Some(_) => vec![(session.retype.line("log"), TOLD)],
            None => hints(session, view.state, engine.ways()?),
        };
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::Done)
}

/// Finds the sequence of the run that is meant: the one that is named, else the only one.
fn sequence_of_run(session: &Session, named: Option<&str>) -> Result<String, Fault> {
    let places = Places::new(&session.globals)?;
    let host = wire::host(&places, &[]);
    let runs = bootlace_engine::runs(&host, &places.paths.state, wire::sequences())?.runs;
    let is_meant = |run: &&RunSummary| named.is_none_or(|named| run.run == named);
    let meant: Vec<&RunSummary> = runs.iter().filter(is_meant).collect();
    match (meant.as_slice(), named) {
        ([only], _) => Ok(only.sequence.clone()),
        ([], Some(named)) => {
            let message = format!("there is no run {named}");
            Err(Fault::new(FaultKind::Preflight, message).hint("`bootlace runs` lists the runs"))
        }
        ([], None) => {
            let inside = up::hint_inside(session, "status")?;
            let hint = inside.unwrap_or_else(|| "`bootlace run cluster` begins one".into());
            Err(Fault::new(FaultKind::Preflight, "there is no run yet")
                .in_file(places.paths.state.as_str())
                .hint(hint))
        }
        (several, _) => {
            let message = format!("there are {} runs, and none is named", several.len());
            let fault = Fault::new(FaultKind::Usage, message)
                .hint("`bootlace status SEQUENCE` shows the newest run of a sequence");
            Err(several.iter().fold(fault, |fault, run| {
                fault.hint(format!("`bootlace status --run {}`", run.run))
            }))
        }
    }
}

/// What `log` is good for.
const TOLD: &str = "tells what happened so far";

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
        RunStateView::Running | RunStateView::Unknown => vec![hint("log", TOLD)],
        RunStateView::Succeeded => vec![hint("verify", "checks that everything still holds")],
        RunStateView::Failed | RunStateView::Interrupted => vec![
            hint("resume", "goes on from here"),
            hint("undo", "takes back what was done so far"),
        ],
        RunStateView::Undone => vec![hint("run", "begins anew")],
    }
}
