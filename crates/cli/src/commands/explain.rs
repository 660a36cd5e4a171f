//! `bootlace explain`: what steps are for.

use bootlace_model::fault::Fault;
use bootlace_report::outline::Outline;

use crate::args::{Explain, OnRun};
use crate::error::Ending;
use crate::ignition_file;
use crate::observer::Unobserved;
use crate::session::Session;

pub(crate) fn explain(session: &mut Session, args: Explain) -> Result<Ending, Fault> {
    let on = OnRun {
        steps: args.steps,
        run: None,
    };
    let mut work = session.by_config(&on)?;
    ignition_file::settle_if_given(session, &mut work, &args.given)?;
    let view = work.engine(&Unobserved).explain()?;
    let outline = Outline::of(work.sequence);
    let verbose = session.console.is_verbose();
    let summary = ignition_file::summary(&work, None);
    let text = |style: &_| {
        let summary = summary.as_ref();
        let summary = summary.map(|text| bootlace_report::ignition::summary(text, style) + "\n");
        let steps = bootlace_report::explain::text(&view, &outline, style, verbose);
        format!("{}{steps}", summary.unwrap_or_default())
    };
    session.console.show(&view, text)?;
    Ok(Ending::Done)
}
