//! `follow`: shows a run that another process works on, until that process is done.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::event::Event;
use bootlace_model::fault::Fault;
use bootlace_model::ids::{RunId, StepId};
use bootlace_model::record::{Line, Outcome, Record};
use bootlace_model::replay::RunState;
use bootlace_model::view::StepStateView;

use crate::port::HostError;
use crate::run::{join_faults, outcome_name};
use crate::status::millis_between;
use crate::store::Store;
use crate::{Engine, RunReport};

/// How often the journal is read.
const BETWEEN_READS: Duration = Duration::from_millis(200);

impl Engine<'_> {
    /// Shows the run that another process works on, and returns how it ended.
    ///
    /// None if no process works on a run, or if it ended without closing its run: then the run can go
    /// on here. All of it comes from the journal, so what a step waits for is not shown. A request to
    /// stop is passed on to the other process.
    pub fn follow(&self) -> Result<Option<RunReport>, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let Some(holder) = store.holder()? else {
            return Ok(None);
        };
        let text = format!("attached to {holder}");
        self.observer.on(&Event::Note { text });
        let mut follower = Follower::new(self);
        loop {
            // Looked at first: what was written before the lock was given back is read below.
            let is_held = store.holder()?.is_some();
            if let Some(run) = store.find(self.sequence.name, self.options.run.as_ref())? {
                follower.read(&store, &run)?;
            }
            if !is_held {
                return follower.report();
            }
            match self.host.sleep(BETWEEN_READS) {
                Err(HostError::Stopped) => store.interrupt_holder(BETWEEN_READS)?,
                slept => slept?,
            }
        }
    }

    /// Names the live process that works on the state folder, if there is one.
    pub fn holder(&self) -> Result<Option<String>, Fault> {
        Store::new(self.host, &self.settings.paths.state).holder()
    }
}

/// Turns the lines of a journal that grows into events.
struct Follower<'a> {
    engine: &'a Engine<'a>,
    state: RunState,
    /// How many lines were read.
    seen: u64,
    /// When the other process opened or resumed the run.
    began: jiff::Timestamp,
    /// How many effects of each step are done, and of how many.
    effects: BTreeMap<StepId, (u64, u64)>,
    steps_done: u64,
}

impl<'a> Follower<'a> {
    fn new(engine: &'a Engine<'a>) -> Self {
        Self {
            engine,
            state: RunState::default(),
            seen: 0,
            began: engine.host.now(),
            effects: BTreeMap::new(),
            steps_done: 0,
        }
    }

    /// Reads what was added, and shows it from the last time on that the run was opened or resumed.
    fn read(&mut self, store: &Store<'_>, run: &RunId) -> Result<(), Fault> {
        if self.state.run.as_ref().is_some_and(|known| known != run) {
            *self = Self::new(self.engine);
        }
        let (mut added, seen) = (Vec::new(), self.seen);
        store.read(run, &mut |_, line| {
            if line.seq >= seen {
                added.push(line.clone());
            }
        })?;
        self.seen += added.len() as u64;
        let begins = |line: &Line| {
            matches!(
                line.rec,
                Record::RunOpened { .. } | Record::RunResumed { .. }
            )
        };
        let first_shown = added.iter().rposition(begins).unwrap_or(0);
        for (n, line) in added.into_iter().enumerate() {
            let events = self.take(line)?;
            if n >= first_shown {
                for event in &events {
                    self.engine.observer.on(event);
                }
            }
        }
        Ok(())
    }

    /// Takes a line in and returns what it shows.
    fn take(&mut self, line: Line) -> Result<Vec<Event>, Fault> {
        let (at, record) = (line.at, line.rec.clone());
        let done = match &record {
            Record::Done { n, .. } => self.state.pending.get(n).cloned(),
            _ => None,
        };
        let illegal =
            |illegal: bootlace_model::replay::IllegalRecord| Fault::internal(illegal.to_string());
        self.state.apply(line).map_err(illegal)?;
        let event = match record {
            Record::RunOpened { .. } => return self.begin(at, false),
            Record::RunResumed { .. } => return self.begin(at, true),
            Record::StepStarted { step, .. } => {
                let mut steps = self.engine.sequence.steps.iter();
                let known = steps.find(|known| known.name() == step.step());
                let title = known.map_or("", |step| step.about().title).into();
                Event::StepStarted { step, title }
            }
            Record::StepPlanned { step, effects, .. } => {
                self.effects.insert(step.clone(), (0, effects));
                Event::StepPlanned { step, effects }
            }
            Record::Done { .. } => {
                let Some(pending) = done else {
                    return Ok(vec![]);
                };
                let (done, of) = self.effects.entry(pending.step.clone()).or_default();
                *done += 1;
                Event::StepAdvanced {
                    step: pending.step,
                    done: *done,
                    of: *of,
                    latest: pending.effect.target,
                }
            }
            Record::Verified {
                step,
                evidence,
                reason,
            } => {
                self.steps_done += 1;
                let started = self.state.steps.get(&step).map_or(at, |step| step.started);
                let millis = millis_between(started, at);
                Event::StepDone {
                    step,
                    millis,
                    evidence,
                    reason,
                }
            }
            Record::Skipped { step, reason } => Event::StepSkipped { step, reason },
            Record::Failed { step, fault } => Event::StepFailed { step, fault },
            Record::RunClosed { outcome } => match &self.state.run {
                Some(run) => Event::RunFinished {
                    run: run.clone(),
                    outcome: outcome_name(outcome).into(),
                    millis: millis_between(self.began, at),
                },
                None => return Ok(vec![]),
            },
            _ => return Ok(vec![]),
        };
        Ok(vec![event])
    }

    /// Begins to count, and tells what was done before.
    fn begin(&mut self, at: jiff::Timestamp, resumed: bool) -> Result<Vec<Event>, Fault> {
        (self.began, self.steps_done) = (at, 0);
        self.effects.clear();
        let Some(run) = self.state.run.clone() else {
            return Ok(vec![]);
        };
        let sequence = self.engine.sequence;
        let chosen = self.state.goal.of(sequence)?;
        let steps: Vec<StepId> = sequence.steps[chosen]
            .iter()
            .map(|step| sequence.id(step.name()))
            .collect();
        let kept = steps.iter().filter(|step| self.state.is_settled(step));
        let kept = kept.map(|step| Event::StepKept { step: step.clone() });
        let mut events: Vec<Event> = kept.collect();
        let sequence = sequence.name.to_owned();
        let started = Event::RunStarted {
            run,
            sequence,
            steps,
            resumed,
        };
        events.insert(0, started);
        Ok(events)
    }

    /// Says how the run ended, as the process that worked on it does.
    fn report(self) -> Result<Option<RunReport>, Fault> {
        let (Some(run), Some(outcome)) = (self.state.run, self.state.outcome) else {
            return Ok(None);
        };
        match outcome {
            Outcome::Undone => Ok(None),
            Outcome::Failed => {
                let steps = self.state.steps.into_values();
                let failed = steps.filter(|step| step.state == StepStateView::Failed);
                let without_reason =
                    || Fault::internal(format!("the run {run} failed and does not say why"));
                Err(join_faults(failed.filter_map(|step| step.fault))
                    .unwrap_or_else(without_reason))
            }
            Outcome::Succeeded | Outcome::Interrupted => Ok(Some(RunReport {
                run,
                outcome,
                steps_done: self.steps_done,
                effects_done: self.effects.values().map(|(done, _)| done).sum(),
                millis: self
                    .state
                    .last
                    .map_or(0, |last| millis_between(self.began, last)),
            })),
        }
    }
}
