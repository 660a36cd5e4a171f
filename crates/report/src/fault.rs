//! A fault for people: what happened, where, why it matters, what to type next.

use bootlace_model::fault::{Fault, FaultKind};

use crate::page::{Label, Page};
use crate::style::Style;
use crate::theme::{Sign, Tone};

/// The most findings that are listed one by one.
const MOST_DETAILS: usize = 20;

/// Lays out a fault.
pub fn text(fault: &Fault, style: &Style) -> String {
    let mut page = Page::new(style);
    write(&mut page, 0, fault);
    page.finish()
}

/// Lays out a fault inside another page.
pub(crate) fn write(page: &mut Page<'_>, indent: usize, fault: &Fault) {
    let (word, tone) = word(fault.kind);
    page.led(indent, tone, word, &fault.message);
    write_parts(page, indent + 2, fault);
}

fn write_parts(page: &mut Page<'_>, indent: usize, fault: &Fault) {
    let label = |text| Label {
        indent,
        text,
        column: 8,
    };
    if let Some(place) = &fault.place {
        page.labelled(&label("where"), &place.to_string());
    }
    if let Some(step) = &fault.step {
        page.labelled(&label("step"), step.as_str());
    }
    if let Some(because) = &fault.because {
        page.labelled(&label("why"), because);
    }
    for detail in fault.details.iter().take(MOST_DETAILS) {
        page.item(indent, Sign::Item, detail);
    }
    if fault.details.len() > MOST_DETAILS {
        let more = format!("and {} more", fault.details.len() - MOST_DETAILS);
        page.item(indent, Sign::Item, &more);
    }
    for (n, hint) in fault.hints.iter().enumerate() {
        page.labelled(&label(if n == 0 { "next" } else { "" }), hint);
    }
}

fn word(kind: FaultKind) -> (&'static str, Tone) {
    match kind {
        FaultKind::Stopped => ("stopped", Tone::Warn),
        FaultKind::Refused => ("refused", Tone::Bad),
        FaultKind::Internal
        | FaultKind::Usage
        | FaultKind::BadInput
        | FaultKind::Preflight
        | FaultKind::StepFailed
        | FaultKind::VerifyFailed
        | FaultKind::Deadline => ("error", Tone::Bad),
    }
}
