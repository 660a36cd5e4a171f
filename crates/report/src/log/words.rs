//! Records in words.

use bootlace_model::record::{Outcome, Record};

use crate::theme::Sign;
use crate::words::{count, number_of};

/// Tells what a record says of the step that it is about.
pub(super) fn of_step(record: &Record, verbose: bool) -> (Sign, String) {
    match record {
        Record::StepStarted { .. } => (Sign::Active, "started".into()),
        Record::StepPlanned { effects, .. } => {
            (Sign::Todo, format!("{} missing", count(*effects, "effect")))
        }
        Record::FactLearned { fact, value, .. } if verbose => {
            (Sign::Item, format!("learned {fact} = {value}"))
        }
        Record::FactLearned { fact, .. } => (Sign::Item, format!("learned {fact}")),
        Record::Verified {
            evidence, reason, ..
        } => {
            let proofs = count(number_of(evidence), "proof");
            let reason = reason.as_ref();
            let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
            (Sign::Good, format!("verified by {proofs}{reason}"))
        }
        Record::Skipped { reason, .. } => (Sign::Skipped, format!("skipped: {reason}")),
        Record::Failed { fault, .. } => (Sign::Bad, format!("failed: {}", fault.message)),
        Record::UndoRefused { target, why, .. } => {
            (Sign::Bad, format!("{target} was left alone: {why}"))
        }
        Record::StepUndone { .. } => (Sign::Undone, "undone".into()),
        other => of_run(other),
    }
}

/// Tells what a record says of the whole run, or that this version does not know it.
pub(super) fn of_run(record: &Record) -> (Sign, String) {
    match record {
        Record::RunOpened {
            run,
            sequence,
            tool,
            ..
        } => {
            let words = format!("run {run} of {sequence} opened by bootlace {tool}");
            (Sign::Active, words)
        }
        Record::RunResumed { config, tool, .. } => {
            let changed = config.as_ref().map_or("", |_| ", with changed settings");
            let words = format!("run resumed by bootlace {tool}{changed}");
            (Sign::Active, words)
        }
        Record::TailCut { bytes } => {
            let bytes = count(*bytes, "byte");
            let words = format!("{bytes} of torn lines were cut off after a crash");
            (Sign::Warn, words)
        }
        Record::RunClosed { outcome } => closed(*outcome),
        Record::Foreign(foreign) => {
            let words = format!("not understood by this version: {}", foreign.what);
            (Sign::Unknown, words)
        }
        // Records of a step are told with it.
        _ => (Sign::Item, String::new()),
    }
}

fn closed(outcome: Outcome) -> (Sign, String) {
    let (sign, word) = match outcome {
        Outcome::Succeeded => (Sign::Good, "succeeded"),
        Outcome::Failed => (Sign::Bad, "failed"),
        Outcome::Interrupted => (Sign::Warn, "interrupted"),
        Outcome::Undone => (Sign::Undone, "undone"),
    };
    (sign, format!("run {word}"))
}
