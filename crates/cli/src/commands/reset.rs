//! `bootlace reset`: gives a machine back after the point of no return.

use bootlace_model::fault::Fault;

use super::confirm::confirm;
use crate::args::{OnRun, Reset, Steps};
use crate::error::Ending;
use crate::observer::Watcher;
use crate::session::Session;
use crate::wire;

/// What is asked first.
const QUESTION: &str = "This stops the cluster on this machine and removes its data, its keys and its files. \
     It cannot be taken back.";

pub(crate) fn reset(session: &mut Session, args: Reset) -> Result<Ending, Fault> {
    let steps = Steps {
        sequence: "cluster".into(),
        from: None,
        to: None,
        only: None,
    };
    let run = args.run;
    let mut work = session.by_journal(&OnRun { steps, run })?;
    // Whoever gives a machine back does not want to keep what was edited on it since.
    work.options.force = true;
    if !args.yes {
        confirm(QUESTION, "bootlace reset --yes")?;
    }
    wire::stop_on_signals(&work.host)?;
    let console = &session.console;
    let watcher = Watcher::new(console, &work.host, work.sequence);
    let result = work.engine(&watcher).reset();
    watcher.finish();
    let view = result?;
    let text = |style: &_| bootlace_report::undo::text(&view, style);
    console.show(&view, text)?;
    Ok(if view.refused.is_empty() {
        Ending::Done
    } else {
        Ending::LeftAlone
    })
}
