//! `bootlace runs`: all runs of a state folder.

use bootlace_model::fault::Fault;

use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;
use crate::wire;

pub(crate) fn runs(session: &Session) -> Result<Ending, Fault> {
    let places = Places::new(&session.globals)?;
    let host = wire::host(&places, &[]);
    let view = bootlace_engine::runs(&host, &places.paths.state, wire::sequences())?;
    let text = |style: &_| bootlace_report::runs::text(&view, style);
    session.console.show(&view, text)?;
    Ok(Ending::Done)
}
