//! `run`: performs the plan, from the beginning or from where an earlier process left off.

use std::cell::RefCell;
use std::time::Duration;

use bootlace_model::event::Event;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::{RunId, StepId};
use bootlace_model::record::{Outcome, Record};
use bootlace_model::step::Choice;

use crate::schedule::{self, Tally};
use crate::step_work::millis_since;
use crate::store::{OpenRun, Store, understood};
use crate::{Engine, RunReport};

impl Engine<'_> {
    /// Performs the plan; goes on with an unfinished run, does nothing for a completed one.
    /// A failed step is an error; a stop on request is a report with that outcome.
    pub fn run(&self) -> Result<RunReport, Fault> {
        self.run_towards(&self.options.choice)
    }

    /// Performs the plan of the steps that a goal names.
    pub(crate) fn run_towards(&self, goal: &Choice) -> Result<RunReport, Fault> {
        self.run_noting(goal, &RefCell::new(None))
    }

    /// Like [`Engine::run_towards`], and notes the run once it is this call's to work on.
    pub(crate) fn run_noting(
        &self,
        goal: &Choice,
        begun: &RefCell<Option<RunId>>,
    ) -> Result<RunReport, Fault> {
        let chosen: Vec<usize> = goal.of(self.sequence)?.collect();
        let store = Store::new(self.host, &self.settings.paths.state);
        let found = store.find(self.sequence.name, self.options.run.as_ref())?;
        // Refusing comes before the first touch: a refused run leaves no trace.
        let state = match &found {
            None => None,
            Some(run) => Some(store.read(run, &mut |_, _| {})?),
        };
        if let (Some(named), Some(state)) = (&self.options.run, &state)
            && state.outcome == Some(Outcome::Undone)
        {
            // To begin anew is fine, but not beside another run that may still stand.
            return Err(crate::resume::taken_back(named, self.sequence.name));
        }
        if let Some(state) = state
            .as_ref()
            .filter(|state| state.outcome != Some(Outcome::Undone))
        {
            // A new run would be built on what this version does not know.
            understood(state)?;
        }
        let state = state.filter(|state| !self.begins_anew(state));
        let is_settled = |id: &StepId| state.as_ref().is_some_and(|state| state.is_settled(id));
        self.check_built(&chosen, is_settled)?;
        self.check_needs(&chosen, |id| {
            state.as_ref().is_some_and(|state| state.stands(id))
        })?;
        self.preflight(&chosen, state.as_ref())?;
        if let (Some(run), Some(state)) = (&found, &state) {
            return self.go_on(&store, run, state, (goal, &chosen), begun);
        }
        let lock = store.lock()?;
        if store.find(self.sequence.name, self.options.run.as_ref())? != found {
            // Another process began and ended a run between the look and the lock.
            drop(lock);
            return self.run_noting(goal, begun);
        }
        store.remove_unbegun()?;
        let open = store.create(lock, self.sequence.name, |id| self.opened(id, goal))?;
        begun.replace(Some(open.id.clone()));
        self.work(&open, &chosen, false)
    }

    fn opened(&self, id: &RunId, goal: &Choice) -> Record {
        Record::RunOpened {
            run: id.clone(),
            sequence: self.sequence.name.into(),
            goal: goal.clone(),
            config: self.config(),
            tool: self.options.tool.clone(),
            boot: self.boot(),
            insecure: self.options.insecure.clone(),
        }
    }

    /// Works on the chosen steps that are not done, and closes the run.
    pub(crate) fn work(
        &self,
        run: &OpenRun,
        chosen: &[usize],
        resumed: bool,
    ) -> Result<RunReport, Fault> {
        let began = self.host.steady();
        let id = |position: usize| self.sequence.id(self.sequence.steps[position].name());
        let steps: Vec<StepId> = chosen.iter().map(|position| id(*position)).collect();
        let sequence = self.sequence.name.to_owned();
        self.observer.on(&Event::RunStarted {
            run: run.id.clone(),
            sequence,
            steps,
            resumed,
        });
        let (kept, todo): (Vec<usize>, Vec<usize>) = chosen.iter().partition(|position| {
            run.journal
                .with_state(|state| state.is_settled(&id(**position)))
                && !self.options.replan
        });
        for position in kept {
            self.observer.on(&Event::StepKept { step: id(position) });
        }
        let tally = schedule::work(self, run, &todo);
        self.close(run, tally, began)
    }

    fn close(&self, run: &OpenRun, tally: Tally, began: Duration) -> Result<RunReport, Fault> {
        let outcome = match (&tally.faults[..], tally.stopped) {
            ([], false) => Outcome::Succeeded,
            ([], true) => Outcome::Interrupted,
            _ => Outcome::Failed,
        };
        let closed = run
            .journal
            .write(self.host, vec![Record::RunClosed { outcome }])
            .and_then(|()| run.note_head());
        // What could not be journalled is not claimed.
        let outcome = closed.as_ref().map_or(Outcome::Failed, |()| outcome);
        let millis = millis_since(began, self.host);
        self.observer.on(&Event::RunFinished {
            run: run.id.clone(),
            outcome: outcome_name(outcome).into(),
            millis,
        });
        if let Some(fault) = join_faults(tally.faults) {
            return Err(fault);
        }
        closed?;
        Ok(RunReport {
            run: run.id.clone(),
            outcome,
            steps_done: tally.steps,
            effects_done: tally.effects,
            millis,
        })
    }

    fn check_built(
        &self,
        chosen: &[usize],
        is_settled: impl Fn(&StepId) -> bool,
    ) -> Result<(), Fault> {
        let unbuilt = chosen
            .iter()
            .map(|position| self.sequence.steps[*position])
            .find(|step| !step.about().built && !is_settled(&self.sequence.id(step.name())));
        let Some(step) = unbuilt else { return Ok(()) };
        let name = self.sequence.name;
        let message = format!("the step {} is not built yet", step.name());
        let mut fault = Fault::new(FaultKind::Preflight, message)
            .in_step(&self.sequence.id(step.name()))
            .because("A run is refused as a whole before it would stop half-way, so nothing was touched.");
        let built: Vec<&str> = self
            .sequence
            .steps
            .iter()
            .take_while(|step| step.about().built)
            .map(|step| step.name())
            .collect();
        if let Some(last) = built.last() {
            fault = fault.hint(format!(
                "`bootlace run {name} --to {last}` runs what is built"
            ));
        }
        Err(fault.hint(format!(
            "`bootlace explain {name} --only {}` tells what it will do",
            step.name()
        )))
    }

    fn check_needs(&self, chosen: &[usize], stands: impl Fn(&StepId) -> bool) -> Result<(), Fault> {
        for position in chosen {
            let step = self.sequence.steps[*position];
            for need in step.needs() {
                let among = chosen
                    .iter()
                    .any(|other| self.sequence.steps[*other].name() == *need);
                if among || stands(&self.sequence.id(need)) {
                    continue;
                }
                let name = self.sequence.name;
                let message = format!("{} needs {need}, which has not run", step.name());
                return Err(Fault::new(FaultKind::Preflight, message)
                    .in_step(&self.sequence.id(step.name()))
                    .because("A step works only on inputs that an earlier step made and verified.")
                    .hint(format!(
                        "`bootlace run {name} --to {}` runs all that it needs",
                        step.name()
                    )));
            }
        }
        Ok(())
    }

    /// Returns the settings as the journal keeps them.
    pub(crate) fn config(&self) -> serde_json::Value {
        serde_json::to_value(self.settings).unwrap_or_default()
    }

    /// Identifies this boot; a machine that cannot tell has one boot for ever.
    pub(crate) fn boot(&self) -> bootlace_model::ids::BootId {
        self.host
            .boot_id()
            .unwrap_or_else(|_| bootlace_model::ids::BootId::new("unknown"))
    }
}

/// Makes one fault of those of several steps: the first one, with the others as details.
pub(crate) fn join_faults(faults: impl IntoIterator<Item = Fault>) -> Option<Fault> {
    let mut faults = faults.into_iter();
    let mut first = faults.next()?;
    first.details.extend(faults.map(|other| match &other.step {
        Some(step) => format!("{} failed, too: {other}", step.step()),
        None => other.to_string(),
    }));
    Some(first)
}

/// Names an outcome the way events do.
pub(crate) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Interrupted => "interrupted",
        Outcome::Undone => "undone",
    }
}
