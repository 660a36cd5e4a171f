//! `bootlace ignition validate`.

use std::path::Path;

use bootlace_ignition::{Config, Parsed};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::view::IgnitionReportView;

use super::input;
use crate::args::Output;
use crate::error::Ending;
use crate::session::Session;

pub(crate) fn validate(session: &Session, file: &Path) -> Result<Ending, Fault> {
    let (name, parsed) = input::parsed(file)?;
    if session.console.output() != Output::Text {
        session
            .console
            .show(&view(&name, &parsed), |_| String::new())?;
        return Ok(match parsed.config {
            Some(_) => Ending::Done,
            None => Ending::Code(FaultKind::BadInput.exit_code()),
        });
    }
    let Some(config) = &parsed.config else {
        return Err(input::unusable(&parsed));
    };
    let contents = contents(config);
    let view = view(&name, &parsed);
    let text = bootlace_report::ignition::text(&view, &contents, session.console.stderr());
    session.console.say(&text);
    Ok(Ending::Done)
}

/// Tells in a few words what a config is about.
fn contents(config: &Config) -> String {
    let counts = config.counts();
    let counts = [
        (counts.files, "file", "files"),
        (counts.directories, "directory", "directories"),
        (counts.links, "link", "links"),
        (counts.units, "unit", "units"),
        (counts.users, "user", "users"),
        (counts.groups, "group", "groups"),
    ];
    let words = counts.into_iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> = words
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    if words.is_empty() {
        return "it asks for nothing".into();
    }
    words.join(", ")
}

fn view(name: &str, parsed: &Parsed) -> IgnitionReportView {
    IgnitionReportView {
        source: name.to_owned(),
        version: parsed.version.map(|version| version.to_string()),
        valid: parsed.config.is_some(),
        findings: parsed.report.findings.iter().map(input::finding).collect(),
    }
}
