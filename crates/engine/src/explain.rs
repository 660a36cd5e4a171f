//! `explain`: what steps are for; needs no world.

use bootlace_model::expect::CheckedBy;
use bootlace_model::fact::Facts;
use bootlace_model::failure::KnownFailure;
use bootlace_model::fault::Fault;
use bootlace_model::step::{Step, UndoPolicy};
use bootlace_model::symptom::Symptom;
use bootlace_model::view::{
    ExplainView, ExplainedCheck, ExplainedExpectation, ExplainedFailure, ExplainedStep,
    ExplainedUndo,
};

use crate::Engine;

impl Engine<'_> {
    /// Tells what the chosen steps are for; needs no world.
    pub fn explain(&self) -> Result<ExplainView, Fault> {
        let chosen = self.options.choice.of(self.sequence)?;
        let steps = self.sequence.steps[chosen].iter();
        let steps: Vec<ExplainedStep> = steps.map(|step| self.explained(*step)).collect();
        let failures = self.failures(&steps);
        Ok(ExplainView {
            sequence: self.sequence.name.into(),
            steps,
            failures,
        })
    }

    /// Tells what the codes mean that steps name.
    fn failures(&self, steps: &[ExplainedStep]) -> Vec<ExplainedFailure> {
        let is_named = |known: &&KnownFailure| {
            let names = |step: &ExplainedStep| step.failures.iter().any(|code| code == known.code);
            steps.iter().any(names)
        };
        let known = self.sequence.failures.iter().filter(is_named);
        known
            .map(|known| ExplainedFailure {
                code: known.code.into(),
                shows: known.shows.into(),
                cause: known.cause.into(),
                remedy: known.remedy.into(),
            })
            .collect()
    }

    pub(crate) fn explained(&self, step: &dyn Step) -> ExplainedStep {
        let about = step.about();
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let expects = step
            .expects(self.settings, &Facts::default())
            .into_iter()
            .map(|expectation| ExplainedExpectation {
                what: expectation.claim.what(),
                within_seconds: expectation.within.as_secs(),
                because: expectation.because.into(),
                until: expectation.until.map(ToOwned::to_owned),
                unless: expectation.symptoms.iter().map(Symptom::what).collect(),
                verify_only: expectation.checked_by == CheckedBy::Verify,
            });
        let checks = step.checks(self.settings).into_iter();
        let checks = checks.map(|check| ExplainedCheck {
            name: check.name,
            why: check.why.into(),
            hint: check.hint,
        });
        let (policy, why) = match about.undo {
            UndoPolicy::Inverse => (
                "inverse",
                "Each effect is taken back from what was seen just before it.",
            ),
            UndoPolicy::ForwardOnly { why } => ("forward-only", why),
            UndoPolicy::PointOfNoReturn { why } => ("point-of-no-return", why),
        };
        ExplainedStep {
            id: step.name().into(),
            title: about.title.into(),
            why: about.why.into(),
            reads: owned(about.reads),
            writes: owned(about.writes),
            command: about.command.into(),
            expects: expects.collect(),
            undo: ExplainedUndo {
                policy: policy.into(),
                why: why.into(),
            },
            failures: owned(about.failures),
            needs: owned(step.needs()),
            built: about.built,
            checks: checks.collect(),
        }
    }
}
