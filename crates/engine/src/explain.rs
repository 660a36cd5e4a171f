//! `explain`: what steps are for; needs no world.

use bootlace_model::fault::Fault;
use bootlace_model::step::{Step, UndoPolicy};
use bootlace_model::view::{ExplainView, ExplainedExpectation, ExplainedStep, ExplainedUndo};

use crate::Engine;

impl Engine<'_> {
    /// Tells what the chosen steps are for; needs no world.
    pub fn explain(&self) -> Result<ExplainView, Fault> {
        let chosen = self.options.choice.of(self.sequence)?;
        let steps = self.sequence.steps[chosen]
            .iter()
            .map(|step| self.explained(*step))
            .collect();
        Ok(ExplainView {
            sequence: self.sequence.name.into(),
            steps,
        })
    }

    pub(crate) fn explained(&self, step: &dyn Step) -> ExplainedStep {
        let about = step.about();
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let expects =
            step.expects(self.settings)
                .into_iter()
                .map(|expectation| ExplainedExpectation {
                    what: expectation.claim.what(),
                    within_seconds: expectation.within.as_secs(),
                    because: expectation.because.into(),
                    until: expectation.until.map(ToOwned::to_owned),
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
        }
    }
}
