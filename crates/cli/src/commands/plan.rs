//! `bootlace plan`: what a run would change.

use bootlace_model::fault::Fault;
use bootlace_report::outline::Outline;

use super::placement;
use crate::args::Plan;
use crate::error::Ending;
use crate::observer::Watcher;
use crate::session::Session;

pub(crate) fn plan(session: &mut Session, args: &Plan) -> Result<Ending, Fault> {
    let mut work = session.by_config(&args.on)?;
    placement::settle(&mut work, &args.placed)?;
    work.options.replan = args.replan;
    let watcher = Watcher::new(&session.console, &work.host, work.sequence);
    let view = work.engine(&watcher).plan()?;
    let outline = Outline::of(work.sequence);
    let verbose = session.console.is_verbose();
    let text = |style: &_| bootlace_report::plan::text(&view, &outline, style, verbose);
    session.console.show(&view, text)?;
    Ok(Ending::Done)
}
