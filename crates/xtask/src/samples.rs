//! What `explain` could say, for tests of what is made from it.

use bootlace_model::view::{
    ExplainView, ExplainedCheck, ExplainedExpectation, ExplainedFailure, ExplainedStep,
    ExplainedUndo,
};

/// An expectation without a time.
pub(crate) fn expectation(what: &str, because: &str) -> ExplainedExpectation {
    ExplainedExpectation {
        what: what.into(),
        within_seconds: 0,
        because: because.into(),
        until: None,
        unless: vec![],
        verify_only: false,
    }
}

/// A step that has something of everything.
pub(crate) fn step(id: &str) -> ExplainedStep {
    let mut waits = expectation("c holds", "one");
    waits.unless = vec!["d fails".into()];
    ExplainedStep {
        id: id.into(),
        title: "Do it".into(),
        why: "Because of `a b`.".into(),
        reads: vec![],
        writes: vec!["ASSETS/*.yaml".into()],
        command: "touch x\n".into(),
        expects: vec![
            expectation("a holds", "one"),
            expectation("b holds", "two"),
            waits,
        ],
        undo: ExplainedUndo {
            policy: "forward-only".into(),
            why: "It is gone.".into(),
        },
        failures: vec!["F-01".into()],
        needs: vec!["first".into()],
        built: false,
        checks: vec![ExplainedCheck {
            name: "Swap".into(),
            why: "It is slow.".into(),
            hint: "`swapoff -a`".into(),
        }],
    }
}

/// A sequence of one step.
pub(crate) fn explained() -> ExplainView {
    ExplainView {
        sequence: "demo".into(),
        steps: vec![step("second")],
        failures: vec![ExplainedFailure {
            code: "F-01".into(),
            shows: "it hangs".into(),
            cause: "a <b>".into(),
            remedy: "`c`".into(),
        }],
    }
}
