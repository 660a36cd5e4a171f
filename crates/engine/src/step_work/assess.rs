//! Journalling what a step is about to do, and what a crash only left unsaid.

use std::collections::VecDeque;

use bootlace_model::effect::Effect;
use bootlace_model::fault::Fault;
use bootlace_model::ids::Hashing;
use bootlace_model::node::Node;
use bootlace_model::record::Record;

use super::StepWork;
use crate::assess::{Past, assess};
use crate::effects::touches;
use crate::folders::Folders;

impl StepWork<'_> {
    /// Returns the effects to perform, by position; journals those that a crash only left unsaid.
    pub(super) fn assess(&self) -> Result<VecDeque<usize>, Fault> {
        let past = self.past();
        let assessment = assess(self.engine, &past, &self.effects)?;
        let mut wishes = Hashing::default();
        for effect in &self.effects {
            wishes.update(wish(effect).as_bytes());
        }
        let plan = wishes.finish();
        let effects = assessment.missing.len() as u64;
        let mut records = vec![Record::StepPlanned {
            step: self.id.clone(),
            plan,
            effects,
        }];
        let folders = Folders::new(self.host());
        for (n, position) in assessment.found {
            let mut after = Vec::new();
            for path in touches(&folders, &self.effects[position])? {
                let state = folders.look(&path)?;
                after.push(Node { path, state });
            }
            records.push(Record::Done {
                n,
                after,
                found: true,
            });
        }
        self.write(records)?;
        Ok(assessment.missing.into())
    }

    /// Collects what the journal says about earlier tries of this step.
    pub(super) fn past(&self) -> Past {
        self.run
            .journal
            .with_state(|state| Past::of(state, &self.id))
    }
}

/// Describes a wish, for the plan's digest: a changed wish is a changed plan.
fn wish(effect: &Effect) -> String {
    let digest = effect
        .digest()
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    format!(
        "{:?}\0{}\0{}\0{digest}\n",
        effect.kind(),
        effect.target(),
        effect.detail()
    )
}
