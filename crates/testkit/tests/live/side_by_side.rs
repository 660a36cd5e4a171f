//! A step that fails while another one waits.

use std::time::Duration;

use bootlace_engine::Engine;
use bootlace_engine::port::Host as _;
use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::step::{About, Decision, PlanError, Sequence, Step, UndoPolicy};
use bootlace_testkit::env::{self, Unseen};
use bootlace_testkit::fake::FakeHost;

use super::single::{LONG, at};

static ABOUT: About = About {
    title: "Do what a test wants",
    why: "Only tests run it.",
    reads: &[],
    writes: &[],
    command: "true",
    undo: UndoPolicy::Inverse,
    failures: &[],
    built: true,
};

struct Waits;
struct Fails;

impl Step for Waits {
    fn name(&self) -> &'static str {
        "waits"
    }
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn needs(&self) -> &'static [&'static str] {
        &[]
    }
    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        Ok(Decision::Do(vec![]))
    }
    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        let path = at("/never");
        vec![Expectation::now(Claim::Directory { path }, "A test waits for it.").within(LONG)]
    }
}

impl Step for Fails {
    fn name(&self) -> &'static str {
        "fails"
    }
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn needs(&self) -> &'static [&'static str] {
        &[]
    }
    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let fault = Fault::new(FaultKind::StepFailed, "a test wants it");
        Err(PlanError::Fault(Box::new(fault)))
    }
    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        vec![]
    }
}

static SEQUENCE: Sequence = Sequence {
    name: "side",
    about: "Does what a test wants.",
    steps: &[&Waits, &Fails],
    failures: &[],
    replaced_later: &[],
};

#[test]
fn a_step_that_waits_does_not_keep_a_failure_from_being_told() {
    for interleave in [Some(1), Some(2), None] {
        let host = FakeHost::new(1);
        let mut options = env::options(1);
        options.interleave = interleave;
        let began = host.now();
        let fault = Engine {
            host: &host,
            sequence: &SEQUENCE,
            settings: &env::settings(),
            observer: &Unseen,
            options: &options,
        }
        .run()
        .unwrap_err();
        assert_eq!(fault.message, "a test wants it");
        let took = host.now().duration_since(began).unsigned_abs();
        // The fake clock runs ahead of a thread that has not had its turn.
        let soon = interleave.map_or(LONG, |_| Duration::from_secs(10));
        assert!(took < soon, "{interleave:?}: {took:?}");
    }
}
