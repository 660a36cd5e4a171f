//! `bootlace undo`: take back what a run did.

use bootlace_model::fault::Fault;
use bootlace_report::next;

use crate::args::{Output, Undo};
use crate::error::Ending;
use crate::observer::Watcher;
use crate::session::Session;
use crate::wire;

pub(crate) fn undo(session: &mut Session, args: &Undo) -> Result<Ending, Fault> {
    let mut work = session.by_journal(&args.on)?;
    work.options.force = args.force;
    wire::stop_on_signals(&work.host)?;
    let console = &session.console;
    let watcher = Watcher::new(console, &work.host, work.sequence);
    let undone = work.engine(&watcher).undo();
    watcher.finish();
    let view = undone?;
    let text = |style: &_| bootlace_report::undo::text(&view, style);
    console.show(&view, text)?;
    if view.refused.is_empty() {
        return Ok(Ending::Done);
    }
    if console.output() == Output::Text {
        let retype = &session.retype;
        let hints = [
            (
                retype.line("undo"),
                "tries again once they are as the run left them",
            ),
            (
                retype.line("undo --force"),
                "takes them back, too, and loses the edits",
            ),
        ];
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::LeftAlone)
}
