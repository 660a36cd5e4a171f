//! `bootlace explain`: what steps are for.

use bootlace_model::fault::Fault;
use bootlace_report::outline::Outline;

use crate::args::{Explain, OnRun};
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::session::Session;

pub(crate) fn explain(session: &mut Session, args: Explain) -> Result<Ending, Fault> {
    let on = OnRun {
        steps: args.steps,
        run: None,
    };
    let work = session.by_config(&on)?;
    let view = work.engine(&Unobserved).explain()?;
    let outline = Outline::of(work.sequence);
    let verbose = session.console.is_verbose();
    let text = |style: &_| bootlace_report::explain::text(&view, &outline, style, verbose);
    session.console.show(&view, text)?;
    Ok(Ending::Done)
}
