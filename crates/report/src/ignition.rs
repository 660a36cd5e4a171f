//! What was found in an Ignition config, for people.

use bootlace_model::view::{IgnitionFindingView, IgnitionReportView};

use crate::page::{Page, wrap};
use crate::style::Style;
use crate::theme::{Sign, Tone};

/// Lays out what was found in a config that can be used; `contents` says what it is about.
pub fn text(view: &IgnitionReportView, contents: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    let version = view.version.as_deref().unwrap_or("?");
    page.led(
        0,
        Tone::Good,
        "Valid",
        &format!("Ignition {version}; {contents}."),
    );
    for finding in &view.findings {
        page.item(2, Sign::Item, &line(finding));
    }
    page.finish()
}

/// Lays out what a config comes to, in lines that fit.
pub fn summary(text: &str, style: &Style) -> String {
    let lines = wrap(text, style.width);
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// Writes a finding on a line: where, what, and what to change.
pub fn line(finding: &IgnitionFindingView) -> String {
    let IgnitionFindingView {
        severity,
        message,
        path,
        line,
        column,
        advice,
        ..
    } = finding;
    let path = match path.as_str() {
        "" => String::new(),
        path => format!("{path}: "),
    };
    let severity = match severity.as_str() {
        "error" => String::new(),
        other => format!("{other}: "),
    };
    format!("{line}:{column} {severity}{path}{message}; {advice}")
}
