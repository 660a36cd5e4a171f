//! `resume`: goes on with a run, unless what it was begun with has changed.

use std::cell::RefCell;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::RunId;
use bootlace_model::record::{Outcome, Record};
use bootlace_model::replay::{RunState, StepProgress};
use bootlace_model::step::Choice;
use bootlace_model::view::StepStateView;

use crate::store::{Store, understood};
use crate::{Engine, RunReport};

impl Engine<'_> {
    /// Goes on with an unfinished run; an error if there is none.
    /// Without a choice of steps it goes on towards what the run was last asked for.
    pub fn resume(&self) -> Result<RunReport, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        let state = store.read(&run, &mut |_, _| {})?;
        if state.outcome == Some(Outcome::Undone) {
            return Err(taken_back(&run, self.sequence.name));
        }
        let asked = &self.options.choice;
        self.run_towards(if *asked == Choice::default() {
            &state.goal
        } else {
            asked
        })
    }

    /// Goes on with a run whose journal says where it stands.
    pub(crate) fn go_on(
        &self,
        store: &Store<'_>,
        run: &RunId,
        state: &RunState,
        (goal, chosen): (&Choice, &[usize]),
        begun: &RefCell<Option<RunId>>,
    ) -> Result<RunReport, Fault> {
        understood(state)?;
        if state.undoing {
            return Err(half_undone(run, self.sequence.name));
        }
        self.check_unchanged(state, chosen)?;
        let complete = self.is_complete(state, chosen);
        // A crash may have come between the last step and the end: then the end is written now.
        let is_failed = |step: &StepProgress| step.state == StepStateView::Failed;
        let closed = match state.outcome {
            Some(Outcome::Succeeded) => true,
            // It may have failed although every step is done: the last end could not be made durable.
            Some(Outcome::Failed) => state.steps.values().any(is_failed),
            _ => false,
        };
        if complete && closed {
            let (outcome, run) = (Outcome::Succeeded, run.clone());
            return Ok(RunReport {
                run,
                outcome,
                steps_done: 0,
                effects_done: 0,
                millis: 0,
            });
        }
        let open = store.open(store.lock()?, run)?;
        if open.journal.with_state(|now| now != state) {
            // Another process worked on it between the look and the lock, so judge again.
            drop(open);
            return self.run_noting(goal, begun);
        }
        begun.replace(Some(run.clone()));
        // Every step that stands becomes outdated by it: a crash must not make it count as done.
        let config = self.options.replan.then(|| self.config());
        open.journal.write(
            self.host,
            vec![Record::RunResumed {
                goal: Some(goal.clone()),
                config,
                tool: self.options.tool.clone(),
                boot: self.boot(),
                insecure: self.options.insecure.clone(),
            }],
        )?;
        self.tidy(&open)?;
        self.work(&open, chosen, true)
    }

    /// Tells whether a run that stands so is over, and the next one is another.
    pub(crate) fn begins_anew(&self, state: &RunState) -> bool {
        match state.outcome {
            Some(Outcome::Undone) => true,
            Some(Outcome::Succeeded) => self.options.anew && state.config != self.config(),
            _ => false,
        }
    }

    /// Tells whether nothing is left to do of what was chosen.
    fn is_complete(&self, state: &RunState, chosen: &[usize]) -> bool {
        let settled = |position: &usize| {
            state.is_settled(&self.sequence.id(self.sequence.steps[*position].name()))
        };
        chosen.iter().all(settled) && !self.options.replan
    }

    /// Refuses to go on by other settings, or with another tool, than the run was begun with.
    pub(crate) fn check_unchanged(&self, state: &RunState, chosen: &[usize]) -> Result<(), Fault> {
        let Some(run) = &state.run else { return Ok(()) };
        if self.options.replan {
            self.check_replan(state, chosen)?;
        }
        let changes = self.changes(state);
        // A newer tool does not make a completed run incomplete; other settings may.
        let complete = self.is_complete(state, chosen);
        let same = changes.is_empty() || complete && state.config == self.config();
        if same || self.options.replan {
            Ok(())
        } else {
            Err(changed(run, changes))
        }
    }

    /// Refuses to plan again what a run made before its point of no return, once that is passed.
    fn check_replan(&self, state: &RunState, chosen: &[usize]) -> Result<(), Fault> {
        let name = |position: usize| self.sequence.steps[position].name();
        match (self.passed_no_return(state), chosen.first()) {
            (Some((step, _)), Some(first))
                if self
                    .sequence
                    .position(step.step())
                    .is_none_or(|point| *first <= point) =>
            {
                let message = format!(
                    "{} is behind us: {} cannot be planned again",
                    step.step(),
                    name(*first)
                );
                let mut fault = Fault::refused(message)
                    .in_step(&self.sequence.id(name(*first)))
                    .because(
                        "Secrets that were removed since would be made anew, and replace those \
                         that the living cluster is built on.",
                    );
                let point = self.sequence.position(step.step());
                if let Some(later) = point.and_then(|point| self.sequence.steps.get(point + 1)) {
                    fault = fault.hint(format!(
                        "`bootlace run {} --replan --from {}` does what comes later again",
                        self.sequence.name,
                        later.name()
                    ));
                }
                Err(fault.hint(
                    "what drifted is put back by hand; `bootlace explain` tells how each step \
                     is done by hand",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Lists what changed since the run was begun, as lines of a difference.
    fn changes(&self, state: &RunState) -> Vec<String> {
        let mut changes = Vec::new();
        if state.tool != self.options.tool {
            changes.push(format!("- tool: {}", state.tool));
            changes.push(format!("+ tool: {}", self.options.tool));
        }
        let now = self.config();
        if state.config != now {
            let pretty = |value| serde_json::to_string_pretty(value).unwrap_or_default();
            let (old, new) = (pretty(&state.config), pretty(&now));
            let diff = similar::TextDiff::from_lines(&old, &new);
            for change in diff.iter_all_changes() {
                let sign = match change.tag() {
                    similar::ChangeTag::Delete => '-',
                    similar::ChangeTag::Insert => '+',
                    similar::ChangeTag::Equal => continue,
                };
                changes.push(format!("{sign} {}", change.to_string().trim_end()));
            }
        }
        changes
    }
}

fn changed(run: &RunId, changes: Vec<String>) -> Fault {
    let mut fault = Fault::refused(format!("the config or the tool changed since {run} was begun"))
        .because("Steps that are done were done for the old settings; mixing both is a choice, not a default.")
        .hint("add --replan to go on with the new settings: every step is planned again")
        .hint("or put the old settings back, or `bootlace undo` first");
    fault.details = changes;
    fault
}

/// Says that a run cannot go on because it was taken back.
pub(crate) fn taken_back(run: &RunId, sequence: &str) -> Fault {
    let message = format!("the run {run} was taken back, so there is nothing to resume");
    Fault::new(FaultKind::Preflight, message).hint(format!("`bootlace run {sequence}` begins anew"))
}

fn half_undone(run: &RunId, sequence: &str) -> Fault {
    let message = format!("the run {run} is being taken back and cannot go on");
    Fault::new(FaultKind::Preflight, message)
        .because("A part of it is undone already, so its steps do not stand on firm ground.")
        .hint(format!(
            "`bootlace undo {sequence}` goes on with taking it back"
        ))
}
