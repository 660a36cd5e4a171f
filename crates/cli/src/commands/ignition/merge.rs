//! `bootlace ignition merge`.

use std::path::PathBuf;

use bootlace_ignition::{Came, Config, Parsed};
use bootlace_model::fault::Fault;
use bootlace_model::view::{IgnitionOriginView, IgnitionTranscriptView};

use super::{convert, input};
use crate::error::Ending;
use crate::session::Session;

pub(crate) fn merge(
    session: &Session,
    files: &[PathBuf],
    transcript: bool,
) -> Result<Ending, Fault> {
    let mut configs = files.iter().map(|file| input::config(file));
    let Some(first) = configs.next() else {
        return Err(Fault::internal("nothing was given to merge"));
    };
    let (mut newest, mut merged) = first?;
    for config in configs {
        let (version, child) = config?;
        newest = newest.max(version);
        merged = Config::merge(&merged, &child);
    }
    // Each of them may be right, and both together wrong.
    let report = merged.validate();
    if report.is_fatal() {
        return Err(input::unusable(&Parsed {
            version: Some(newest),
            report,
            config: None,
        }));
    }
    if transcript {
        let view = view(&merged.transcript());
        session.console.show(&view, |_| text(&view))?;
    } else {
        convert::write(session, &merged, newest)?;
    }
    Ok(Ending::Done)
}

fn view(came: &[Came]) -> IgnitionTranscriptView {
    let origin = |came: &Came| IgnitionOriginView {
        path: came.path.clone(),
        source: came.from.source.to_string(),
        from: came.from.path.clone(),
        line: came.from.line,
        column: came.from.column,
    };
    IgnitionTranscriptView {
        values: came.iter().map(origin).collect(),
    }
}

fn text(view: &IgnitionTranscriptView) -> String {
    let width = view.values.iter().map(|value| value.path.len()).max();
    let width = width.unwrap_or(0);
    let line = |value: &IgnitionOriginView| {
        let IgnitionOriginView {
            path,
            source,
            from,
            line,
            ..
        } = value;
        format!("{path:width$}  {source}:{line} {from}\n")
    };
    view.values.iter().map(line).collect()
}
