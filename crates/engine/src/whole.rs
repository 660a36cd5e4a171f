//! A run that is done as a whole or not at all.

use bootlace_model::fault::{Fault, FaultKind};

use crate::{Engine, RunReport};

impl Engine<'_> {
    /// Performs the plan; if that fails, takes back what was done of it.
    ///
    /// A stop on request is no failure: what is done stays, and can be resumed.
    pub fn run_or_take_back(&self) -> Result<RunReport, Fault> {
        match self.run() {
            Err(fault) if fault.kind != FaultKind::Stopped => Err(self.take_all_back(fault)),
            ended => ended,
        }
    }

    /// Takes back what was done before something failed, and says so.
    fn take_all_back(&self, mut fault: Fault) -> Fault {
        // What could be tried again is of no use to a run that is taken back.
        fault
            .hints
            .retain(|hint| !hint.contains("`bootlace resume`"));
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
