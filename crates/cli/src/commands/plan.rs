//! `bootlace plan`: what a run would change.

use bootlace_model::fault::Fault;
use bootlace_report::outline::Outline;

use super::placement;
use crate::args::Plan;
use crate::error::Ending;
use crate::ignition_file;
use crate::observer::Watcher;
use crate::session::Session;

pub(crate) fn plan(session: &mut Session, args: &Plan) -> Result<Ending, Fault> {
    let mut work = session.by_config(&args.on)?;
    placement::settle(&mut work, &args.placed)?;
    ignition_file::settle(session, &mut work, &args.given)?;
    work.options.replan = args.replan;
    let watcher = Watcher::new(&session.console, &work.host, work.sequence);
    let mut view = work.engine(&watcher).plan()?;
    view.summary = ignition_file::summary(&work, Some(&view));
    let outline = Outline::of(work.sequence);
    let verbose = session.console.is_verbose();
    let text = |style: &_| {
        let summary = view.summary.as_ref();
        let summary = summary.map(|text| bootlace_report::ignition::summary(text, style) + "\n");
        let steps = bootlace_report::plan::text(&view, &outline, style, verbose);
        format!("{}{steps}", summary.unwrap_or_default())
    };
    session.console.show(&view, text)?;
    Ok(Ending::Done)
}
