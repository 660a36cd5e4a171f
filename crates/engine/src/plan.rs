//! `plan`: what a run would do, found out without touching anything.

use bootlace_model::effect::{AlreadyRan, Effect};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::probe::Answer;
use bootlace_model::record::Outcome;
use bootlace_model::replay::RunState;
use bootlace_model::step::{Decision, PlanError, Step};
use bootlace_model::view::{PlanView, PlannedEffect, PlannedState, PlannedStep};

use crate::Engine;
use crate::answers::Foreseen;
use crate::effects::{Standing, standing};
use crate::folders::Folders;
use crate::step_work::refuse;
use crate::store::Store;

impl Engine<'_> {
    /// Answers the probes read-only and lists the effects that are still missing.
    pub fn plan(&self) -> Result<PlanView, Fault> {
        let chosen = self.options.choice.of(self.sequence)?;
        let state = self.unfinished_state()?;
        let mut foreseen = Foreseen::default();
        let mut facts = Facts::default();
        for (name, value) in &state.facts {
            facts.set(name.clone(), Answer::Json(value.clone()));
        }
        let mut steps = Vec::new();
        for (position, step) in self.sequence.steps.iter().enumerate() {
            let planned = self.plan_step(*step, &state, &mut facts, &mut foreseen);
            // What lies before the choice is planned only for the facts that it yields.
            if chosen.contains(&position) {
                steps.push(planned?);
            } else if position >= chosen.end {
                break;
            }
        }
        Ok(PlanView {
            sequence: self.sequence.name.into(),
            steps,
        })
    }

    /// Returns what the newest run's journal says, unless that run was taken back.
    fn unfinished_state(&self) -> Result<RunState, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let Some(run) = store.find(self.sequence.name, self.options.run.as_ref())? else {
            return Ok(RunState::default());
        };
        let state = store.read(&run, &mut |_, _| {})?;
        let undone = state.outcome == Some(Outcome::Undone);
        Ok(if undone { RunState::default() } else { state })
    }

    fn plan_step(
        &self,
        step: &dyn Step,
        state: &RunState,
        facts: &mut Facts,
        foreseen: &mut Foreseen,
    ) -> Result<PlannedStep, Fault> {
        let id = self.sequence.id(step.name());
        let row = |state, effects, reason| PlannedStep {
            id: step.name().into(),
            state,
            effects,
            reason,
        };
        if !step.about().built {
            return Ok(row(
                PlannedState::Unknown,
                vec![],
                Some("not built yet".into()),
            ));
        }
        let settled = state.is_settled(&id) && !self.options.replan;
        for ask in step.asks(self.settings) {
            let answer = foreseen
                .answer(self.host, &ask.probe)
                .map_err(|f| f.in_step(&id))?;
            facts.set(ask.fact, answer);
        }
        if settled {
            let reason = state
                .steps
                .get(&id)
                .and_then(|progress| progress.reason.clone());
            let kind = if reason.is_some() {
                PlannedState::Skipped
            } else {
                PlannedState::Done
            };
            return Ok(row(kind, vec![], reason));
        }
        let decision = match step.plan(self.settings, facts) {
            Ok(decision) => decision,
            Err(PlanError::Fact(missing)) => {
                return Ok(row(
                    PlannedState::Unknown,
                    vec![],
                    Some(missing.to_string()),
                ));
            }
            Err(PlanError::Fault(fault)) => return Err(fault.in_step(&id)),
        };
        let effects = match decision {
            Decision::Skip { reason } => {
                return Ok(row(PlannedState::Skipped, vec![], Some(reason)));
            }
            Decision::Do(effects) => effects,
        };
        let missing = self
            .missing(&effects, state, step)
            .map_err(|fault| fault.in_step(&id))?;
        foreseen.expect(&id, &missing);
        for ask in step.yields(self.settings) {
            facts.set(ask.fact, foreseen.answer(self.host, &ask.probe)?);
        }
        Ok(row(
            PlannedState::Todo,
            missing.into_iter().map(shown).collect(),
            None,
        ))
    }

    /// Keeps the effects that are not already so; refuses what a run would refuse.
    fn missing<'e>(
        &self,
        effects: &'e [Effect],
        state: &RunState,
        step: &dyn Step,
    ) -> Result<Vec<&'e Effect>, Fault> {
        let folders = Folders::new(self.host);
        let id = self.sequence.id(step.name());
        let mut missing = Vec::new();
        let mut conflicts = Vec::new();
        for effect in effects {
            match standing(&folders, effect)? {
                Standing::AlreadySo => {}
                Standing::Missing => {
                    let ran = state.commands_done.contains(&(id.clone(), effect.target()));
                    let repeatable = matches!(effect, Effect::RunCommand(run)
                        if matches!(run.already, AlreadyRan::Repeatable));
                    if !(ran && repeatable) {
                        missing.push(effect);
                    }
                }
                Standing::Conflict(fault) => {
                    if self.would_be_ours(&folders, state, effect)? {
                        missing.push(effect);
                    } else {
                        conflicts.push(fault);
                    }
                }
            }
        }
        refuse(conflicts)?;
        Ok(missing)
    }

    /// Tells whether a run may overwrite what is there, because this run wrote it.
    fn would_be_ours(
        &self,
        folders: &Folders<'_>,
        state: &RunState,
        effect: &Effect,
    ) -> Result<bool, Fault> {
        let (Some(run), Some(path)) = (&state.run, effect.path()) else {
            return Ok(false);
        };
        let open = |pending: &bootlace_model::replay::Pending| {
            pending.effect.kind == effect.kind() && pending.effect.target == effect.target()
        };
        if state.pending.values().any(open) {
            return Ok(true);
        }
        let now = folders.look(path)?;
        let written = crate::history::last_written(self, run, path)?;
        Ok(written.is_some_and(|written| written.same_but_for_labels(&now)))
    }
}

fn shown(effect: &Effect) -> PlannedEffect {
    PlannedEffect {
        kind: effect.kind(),
        target: effect.target(),
        detail: effect.detail(),
        command: effect.shell(),
    }
}
