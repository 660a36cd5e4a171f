//! `bootlace reset`: gives a machine back after the point of no return.

use std::io::{BufRead as _, IsTerminal as _, Read as _};

use bootlace_model::fault::{Fault, FaultKind};

use crate::args::{OnRun, Reset, Steps};
use crate::error::Ending;
use crate::observer::Watcher;
use crate::session::Session;
use crate::wire;

/// The longest answer that is read.
const LONGEST: u64 = 1024;

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
        ask(session)?;
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

/// Asks whether all shall be lost; no answer is a no.
fn ask(session: &Session) -> Result<(), Fault> {
    let refused = || {
        let message = "nothing was removed: the question was not answered with yes";
        Fault::refused(message).hint("`bootlace reset --yes` does not ask")
    };
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(refused());
    }
    session.console.say(
        "This stops the cluster on this machine and removes its data, its keys and its files.\n\
         It cannot be taken back. Type yes to go on:\n",
    );
    let mut answer = String::new();
    let read = stdin.lock().take(LONGEST).read_line(&mut answer);
    read.map_err(|error| Fault::new(FaultKind::Usage, format!("cannot read the answer: {error}")))?;
    if answer.trim() == "yes" {
        Ok(())
    } else {
        Err(refused())
    }
}
