//! A run that is done as a whole or not at all.

use std::cell::RefCell;

use bootlace_model::fault::{Fault, FaultKind};

use crate::{Engine, Options, RunReport};

impl Engine<'_> {
    /// Performs the plan; if that fails, takes back what was done of it.
    ///
    /// Only the run that this call began or went on with is taken back: whoever is refused before
    /// that, because another process is at work or a check fails, has done nothing yet.
    /// A stop on request is no failure: what is done stays, and can be resumed.
    pub fn run_or_take_back(&self) -> Result<RunReport, Fault> {
        let begun = RefCell::new(None);
        let ended = self.run_noting(&self.options.choice, &begun);
        match (ended, begun.into_inner()) {
            (Err(fault), _) if fault.kind == FaultKind::Stopped => Err(fault),
            (Err(fault), None) => Err(without_resume(fault)),
            (Err(fault), Some(run)) => {
                let options = Options {
                    run: Some(run),
                    ..self.options.clone()
                };
                let engine = Engine {
                    options: &options,
                    ..*self
                };
                Err(engine.take_all_back(fault))
            }
            (ended, _) => ended,
        }
    }

    /// Takes back what was done before something failed, and says so.
    fn take_all_back(&self, fault: Fault) -> Fault {
        let mut fault = without_resume(fault);
        match self.undo() {
            Ok(undone) if undone.refused.is_empty() => {
                let text = "what was done before is taken back: everything is as it was";
                fault.details.push(text.into());
                fault.hint("when the cause is gone, do the same again")
            }
            Ok(undone) => {
                for left in undone.refused {
                    let text = format!("{} could not be taken back: {}", left.target, left.why);
                    fault.details.push(text);
                }
                fault.hint("`bootlace undo` tries again to take back what is left")
            }
            Err(second) => {
                let text = format!("and what was done before could not be taken back: {second}");
                fault.details.push(text);
                fault.hint("`bootlace undo` tries again to take it back")
            }
        }
    }
}

/// What could be tried again is of no use to a run that is taken back, or that there is not.
fn without_resume(mut fault: Fault) -> Fault {
    fault
        .hints
        .retain(|hint| !hint.contains("`bootlace resume"));
    fault
}
