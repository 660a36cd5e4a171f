//! The table of known failures, and who names them.

use std::collections::BTreeSet;

use bootlace_model::failure::KnownFailure;

use crate::SEQUENCES;
use crate::failures::{FAILURES, KNOWN};

fn named() -> BTreeSet<&'static str> {
    let steps = SEQUENCES.iter().flat_map(|sequence| sequence.steps);
    steps
        .flat_map(|step| step.about().failures.iter().copied())
        .collect()
}

fn all() -> impl Iterator<Item = &'static KnownFailure> {
    SEQUENCES.iter().flat_map(|sequence| sequence.failures)
}

#[test]
fn every_code_that_a_step_names_has_a_meaning_and_every_meaning_is_named() {
    let known: BTreeSet<&str> = all().map(|failure| failure.code).collect();
    assert_eq!(known, named());
    assert_eq!(known.len(), all().count(), "a code stands there twice");
    for sequence in SEQUENCES {
        let sorted = sequence.failures.is_sorted_by_key(|failure| failure.code);
        assert!(sorted, "people look a code up");
    }
}

#[test]
fn meanings_are_phrases() {
    for failure in all() {
        for phrase in [failure.shows, failure.cause, failure.remedy] {
            let code = failure.code;
            assert!(!phrase.trim().is_empty(), "{code}");
            assert!(!phrase.ends_with('.'), "{code}: {phrase}");
            assert_eq!(phrase.matches('`').count() % 2, 0, "{code}: {phrase}");
        }
        let begins = failure.cause.chars().next().unwrap();
        assert!(!begins.is_uppercase(), "{}", failure.cause);
    }
}

#[test]
fn what_ends_a_wait_is_a_known_failure_of_the_steps_that_wait() {
    let sequence = crate::sequence("cluster").unwrap();
    for name in ["start-control-plane", "add-ons"] {
        let step = sequence.steps[sequence.position(name).unwrap()];
        for line in KNOWN {
            let row = FAILURES.iter().find(|failure| failure.code == line.code);
            assert_eq!(row.unwrap().cause, line.cause);
            let is_named = step.about().failures.contains(&line.code);
            assert!(is_named, "{name} does not name {}", line.code);
        }
    }
}
