//! `plan`: what a run would do, found out without touching anything.

use std::ops::Range;

use bootlace_model::effect::Effect;
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::probe::Answer;
use bootlace_model::replay::RunState;
use bootlace_model::step::{Decision, PlanError, Step};
use bootlace_model::view::{PlanView, PlannedEffect, PlannedState, PlannedStep, StepStateView};

use crate::Engine;
use crate::answers::Foreseen;
use crate::assess::{Past, assess};
use crate::folders::Folders;
use crate::store::Store;

impl Engine<'_> {
    /// Answers the probes read-only and lists the effects that are still missing.
    pub fn plan(&self) -> Result<PlanView, Fault> {
        self.plan_with(Detail::Everything)
    }

    /// Plans as [`Engine::plan`] does, but lists only the effects that change what is there already:
    /// of thousands of new files a list is as large as they are.
    pub fn plan_changes(&self) -> Result<PlanView, Fault> {
        self.plan_with(Detail::Changes)
    }

    fn plan_with(&self, detail: Detail) -> Result<PlanView, Fault> {
        let chosen = self.options.choice.of(self.sequence)?;
        let state = self.unfinished_state()?;
        // What a run would refuse, a plan refuses.
        let positions: Vec<usize> = chosen.clone().collect();
        self.check_unchanged(&state, &positions)?;
        Ok(PlanView {
            sequence: self.sequence.name.into(),
            summary: None,
            steps: self.plan_steps(chosen, &state, detail)?,
        })
    }

    /// Plans one step of a run that stands so, for whoever is asked before it begins.
    ///
    /// A plan that fails is told as the reason: the step itself fails in the same way once it
    /// begins, and is journalled then.
    pub(crate) fn plan_of(&self, position: usize, state: &RunState) -> PlannedStep {
        let planned = self.plan_steps(position..position + 1, state, Detail::Everything);
        let planned = planned.map(|steps| steps.into_iter().next());
        let unknown = |reason| PlannedStep {
            id: self.sequence.steps[position].name().into(),
            state: PlannedState::Unknown,
            effects: vec![],
            reason,
        };
        match planned {
            Ok(Some(step)) => step,
            Ok(None) => unknown(None),
            Err(fault) => unknown(Some(fault.to_string())),
        }
    }

    fn plan_steps(
        &self,
        chosen: Range<usize>,
        state: &RunState,
        detail: Detail,
    ) -> Result<Vec<PlannedStep>, Fault> {
        let mut foreseen = Foreseen::default();
        let mut facts = state.known();
        let mut steps = Vec::new();
        for (position, step) in self.sequence.steps.iter().enumerate() {
            let planned = self.plan_step(*step, state, &mut facts, &mut foreseen, detail);
            // What lies before the choice is planned only for the facts that it yields.
            if chosen.contains(&position) {
                steps.push(planned?);
            } else if position >= chosen.end {
                break;
            }
        }
        Ok(steps)
    }

    /// Returns what the newest run's journal says, unless that run was taken back.
    fn unfinished_state(&self) -> Result<RunState, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let Some(run) = store.find(self.sequence.name, self.options.run.as_ref())? else {
            return Ok(RunState::default());
        };
        let state = store.read(&run, &mut |_, _| {})?;
        let anew = self.begins_anew(&state);
        Ok(if anew { RunState::default() } else { state })
    }

    fn plan_step(
        &self,
        step: &dyn Step,
        state: &RunState,
        facts: &mut Facts,
        foreseen: &mut Foreseen,
        detail: Detail,
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
        if settled && let Some(progress) = state.steps.get(&id) {
            let kind = if progress.state == StepStateView::Skipped {
                PlannedState::Skipped
            } else {
                PlannedState::Done
            };
            return Ok(row(kind, vec![], progress.reason.clone()));
        }
        let decision = match step.plan(self.settings, facts) {
            Ok(decision) => decision,
            Err(PlanError::Fact(missing)) => {
                // What it yields is known once it has run, which is no defect but an answer.
                for ask in step.yields(self.settings) {
                    facts.set(ask.fact, Answer::KnownAfter(id.clone()));
                }
                return Ok(row(
                    PlannedState::Unknown,
                    vec![],
                    Some(missing.to_string()),
                ));
            }
            Err(PlanError::Fault(fault)) => return Err(fault.in_step(&id)),
        };
        let mut rest = None;
        let effects = match decision {
            Decision::Skip { reason } => {
                return Ok(row(PlannedState::Skipped, vec![], Some(reason)));
            }
            Decision::Do(effects) => effects,
            Decision::DoPart { effects, reason } => {
                rest = Some(reason);
                effects
            }
            Decision::DoFirst {
                effects,
                rest: what,
                opens,
            } => {
                foreseen.leave_open(&id, &opens);
                rest = Some(what);
                effects
            }
        };
        let assessment = assess(self, &Past::of(state, &id), &effects);
        let assessment = assessment.map_err(|fault| fault.in_step(&id))?;
        let missing: Vec<&Effect> = assessment.missing.iter().map(|at| &effects[*at]).collect();
        foreseen.expect(&id, &missing);
        for ask in step.yields(self.settings) {
            facts.set(ask.fact, foreseen.answer(self.host, &ask.probe)?);
        }
        let folders = Folders::new(self.host);
        let shown = missing
            .into_iter()
            .filter_map(|effect| shown(&folders, effect, detail).transpose());
        Ok(row(
            PlannedState::Todo,
            shown.collect::<Result<_, _>>()?,
            self.would_be_refused(step, state)?.or(rest),
        ))
    }
}

/// How much of a plan is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Everything,
    /// What is replaced, removed or added to.
    Changes,
}

fn shown(
    folders: &Folders<'_>,
    effect: &Effect,
    detail: Detail,
) -> Result<Option<PlannedEffect>, Fault> {
    let puts = matches!(effect, Effect::PutFile(_) | Effect::MakeLink(_));
    let replaces = match effect.path().filter(|_| puts) {
        None => false,
        Some(path) => match folders.holding(path)? {
            None => false,
            Some(dir) => dir.stat(path.name())?.is_some(),
        },
    };
    let changes = replaces || matches!(effect, Effect::DropPath(_) | Effect::AppendFile(_));
    if detail == Detail::Changes && !changes {
        return Ok(None);
    }
    Ok(Some(PlannedEffect {
        replaces,
        kind: effect.kind(),
        target: effect.target(),
        detail: effect.detail(),
        command: effect.shell(),
    }))
}
