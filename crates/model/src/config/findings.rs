//! What is wrong with a config: all of it, not only the first thing.

use super::tree::Origin;
use crate::fault::Fault;

/// One thing that is wrong, where, why that matters, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    at: Origin,
    what: String,
    why: &'static str,
    hint: String,
}

impl Finding {
    pub(super) fn new(
        at: &Origin,
        what: impl Into<String>,
        why: &'static str,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            at: at.clone(),
            what: what.into(),
            why,
            hint: hint.into(),
        }
    }
}

/// Makes one fault of all findings: the first in reading order leads, the others are details.
/// None if there are no findings.
pub(super) fn fault(mut findings: Vec<Finding>) -> Option<Fault> {
    findings.sort_by_key(|finding| finding.at.order());
    let mut findings = findings.into_iter();
    let first = findings.next()?;
    let fault = Fault::bad_input(first.what)
        .at(first.at.place())
        .because(first.why)
        .hint(first.hint);
    Some(
        findings.fold(fault, |fault, Finding { at, what, hint, .. }| {
            fault.detail(format!("{}: {what}; {hint}", at.place()))
        }),
    )
}
