//! What is wrong with a config: all of it, not only the first thing.

use super::tree::Origin;
use super::yaml::WHY_READABLE;
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

/// Makes one fault of all findings; none if there are none.
///
/// A single finding is the fault itself. Several are listed in reading order, each with its own advice.
pub(super) fn fault(mut findings: Vec<Finding>) -> Option<Fault> {
    findings.sort_by_key(|finding| finding.at.order());
    let first = findings.first()?;
    let place = first.at.place();
    if findings.len() == 1 {
        let fault = Fault::bad_input(&first.what).at(place);
        return Some(fault.because(first.why).hint(&first.hint));
    }
    let mut fault = Fault::bad_input(format!("the config has {} mistakes", findings.len()))
        .at(place)
        .because(WHY_READABLE)
        .hint("correct each of them, then run the same command again");
    let line = |Finding { at, what, hint, .. }: &Finding| format!("{}: {what}; {hint}", at.place());
    fault.details = findings.iter().map(line).collect();
    Some(fault)
}
