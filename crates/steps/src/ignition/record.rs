//! The record of the run, by which everything is taken back: nothing of a config may reach it.

use bootlace_model::effect::Origin;
use bootlace_model::path::TargetPath;

use super::findings::Findings;

/// Tells whether a place is the record's folder, or in it.
pub(super) fn is_inside(state: &TargetPath, real: &TargetPath) -> bool {
    real.below(state).is_some()
}

/// Tells whether a place is the record's folder, in it, or above it.
pub(super) fn is_reached(state: &TargetPath, real: &TargetPath) -> bool {
    is_inside(state, real) || state.below(real).is_some()
}

/// Notes that something would change the record.
pub(super) fn refuse(
    findings: &mut Findings,
    origin: &Origin,
    what: impl std::fmt::Display,
    state: &TargetPath,
) {
    let what = format!("{what} what lies in {state}, where the record of this run is kept");
    let hint = "choose another path, or keep the record elsewhere with --state";
    findings.add(origin, what, hint);
}
