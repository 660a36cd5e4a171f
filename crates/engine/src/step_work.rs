//! One step at work: plan, perform group by group, verify, learn.
//!
//! Work goes forward in turns. Threads take turns until a step is done; a test takes turns of
//! several steps in an order that its seed decides, and so reproduces every interleaving.

mod assess;
mod groups;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use bootlace_model::effect::{Effect, EffectKind};
use bootlace_model::event::Event;
use bootlace_model::expect::{CheckedBy, Expectation};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::StepId;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Answer;
use bootlace_model::record::Record;
use bootlace_model::replay::RunState;
use bootlace_model::step::{Decision, Step};

use crate::effects::perform;
use crate::port::Host;
use crate::store::OpenRun;
use crate::symptoms::Earlier;
use crate::waiting::Patience;
use crate::{Engine, answers, claims, symptoms, waiting};

/// How long to wait before looking again whether an expectation holds.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// After how many looks to look for causes that are already visible.
const LOOKS: u32 = 5;

/// What a turn came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// There is more to do.
    More,
    /// The step is verified or skipped.
    Over,
}

/// A step at work.
pub(crate) struct StepWork<'a> {
    engine: &'a Engine<'a>,
    run: &'a OpenRun,
    step: &'a dyn Step,
    id: StepId,
    position: usize,
    /// What was last said to be waited for.
    waiting_for: Option<String>,
    /// What was wrong when that wait began.
    earlier: Earlier,
    /// How often an expectation was looked at in vain.
    looks: u32,
    /// Whether this try has waited for something by an effect.
    has_waited: bool,
    phase: Phase,
    began: Duration,
    effects: Vec<Effect>,
    /// Why a part is not done, if a part is not.
    rest_skipped: Option<String>,
    /// Whether the step decides the rest when these effects are done.
    rest_open: bool,
    total: u64,
    pub(crate) performed: u64,
}

enum Phase {
    Begin,
    Perform(VecDeque<usize>),
    Verify {
        left: VecDeque<Expectation>,
        since: Duration,
        evidence: Vec<String>,
    },
}

impl<'a> StepWork<'a> {
    pub(crate) fn new(engine: &'a Engine<'a>, run: &'a OpenRun, position: usize) -> Self {
        let step = engine.sequence.steps[position];
        Self {
            engine,
            run,
            step,
            id: engine.sequence.id(step.name()),
            position,
            waiting_for: None,
            earlier: Earlier::default(),
            looks: 0,
            has_waited: false,
            phase: Phase::Begin,
            began: engine.host.steady(),
            effects: vec![],
            rest_skipped: None,
            rest_open: false,
            total: 0,
            performed: 0,
        }
    }

    /// Goes one turn forward; a failure is journalled before it is returned.
    pub(crate) fn turn(&mut self) -> Result<Turn, Fault> {
        let result = if self.host().stop_requested() {
            Err(Fault::new(FaultKind::Stopped, "stopped on request"))
        } else {
            match std::mem::replace(&mut self.phase, Phase::Begin) {
                Phase::Begin => self.begin(),
                Phase::Perform(queue) => self.perform(queue),
                Phase::Verify {
                    left,
                    since,
                    evidence,
                } => self.verify(left, since, evidence),
            }
        };
        result.map_err(|fault| self.failed(fault))
    }

    /// Tells whether nothing is left to do but to wait.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting_for.is_some() && matches!(self.phase, Phase::Verify { .. })
    }

    fn host(&self) -> &'a dyn Host {
        self.engine.host
    }

    fn write(&self, records: Vec<Record>) -> Result<(), Fault> {
        self.run.journal.write(self.host(), records)
    }

    fn begin(&mut self) -> Result<Turn, Fault> {
        let (id, title) = (self.id.clone(), self.step.about().title.to_owned());
        self.engine.observer.on(&Event::StepStarted {
            step: id.clone(),
            title,
        });
        self.run.journal.append(
            self.host(),
            vec![Record::StepStarted {
                step: id.clone(),
                undo: Some(self.step.about().undo.into()),
            }],
        )?;
        self.run
            .journal
            .with_state(|state| self.engine.preflight_again(self.position, state))?;
        let facts = self.facts()?;
        let decision = self.step.plan(self.engine.settings, &facts);
        self.take_up(decision.map_err(plan_fault)?)
    }

    /// Asks for the rest, now that what it depends on is there.
    fn decide_rest(&mut self) -> Result<Turn, Fault> {
        self.rest_open = false;
        let facts = self.facts()?;
        let decision = self.step.plan_rest(self.engine.settings, &facts);
        self.take_up(decision.map_err(plan_fault)?)
    }

    /// Takes up what the step decided.
    fn take_up(&mut self, decision: Decision) -> Result<Turn, Fault> {
        let id = self.id.clone();
        match decision {
            Decision::Skip { reason } => {
                self.write(vec![Record::Skipped {
                    step: id.clone(),
                    reason: reason.clone(),
                }])?;
                self.engine
                    .observer
                    .on(&Event::StepSkipped { step: id, reason });
                Ok(Turn::Over)
            }
            decision => {
                self.effects = match decision {
                    Decision::DoPart { effects, reason } => {
                        self.rest_skipped = Some(reason);
                        effects
                    }
                    Decision::DoFirst { effects, .. } => {
                        self.rest_open = true;
                        effects
                    }
                    Decision::Do(effects) => effects,
                    Decision::Skip { .. } => vec![],
                };
                let queue = self.assess()?;
                self.total = self.performed + queue.len() as u64;
                let effects = self.total;
                self.engine
                    .observer
                    .on(&Event::StepPlanned { step: id, effects });
                self.phase = Phase::Perform(queue);
                Ok(Turn::More)
            }
        }
    }

    /// Collects what earlier steps yielded and what this step asks itself.
    fn facts(&self) -> Result<bootlace_model::fact::Facts, Fault> {
        let mut facts = self.run.journal.with_state(RunState::known);
        for ask in self.step.asks(self.engine.settings) {
            facts.set(ask.fact, answers::answer(self.host(), &ask.probe)?);
        }
        Ok(facts)
    }

    fn perform(&mut self, mut queue: VecDeque<usize>) -> Result<Turn, Fault> {
        if queue.is_empty() {
            // What was done has to be durable before it is relied on.
            self.run.journal.commit()?;
            if self.rest_open {
                return self.decide_rest();
            }
            let known = self.run.journal.with_state(RunState::known);
            let expected = self.step.expects(self.engine.settings, &known).into_iter();
            let left = expected.filter(|it| it.checked_by == CheckedBy::Run);
            let left = left.collect();
            self.phase = Phase::Verify {
                left,
                since: self.host().steady(),
                evidence: vec![],
            };
            return Ok(Turn::More);
        }
        let group = self.intend(&mut queue)?;
        let latest = group
            .last()
            .map(|intended| intended.effect.target())
            .unwrap_or_default();
        if let [alone] = group.as_slice()
            && let Some(within) = alone.effect.within()
        {
            let what = alone.effect.target();
            let until = self.host().now() + within;
            self.engine.observer.on(&Event::StepWaiting {
                step: self.id.clone(),
                what,
                until,
            });
        }
        let waits = group.iter().find_map(|intended| match intended.effect {
            Effect::Await(wait) => Some(wait),
            _ => None,
        });
        if let Some(wait) = waits
            && !self.has_waited
        {
            // What fails later was started by this try itself, and ends it.
            symptoms::start_afresh(self.host(), wait)?;
        }
        let waits = waits.is_some();
        let unsynced = || self.run.journal.with_state(folders_in_the_making);
        let afters = perform(self.host(), &self.run.id, &group, unsynced)?;
        let done = group.iter().zip(afters);
        let done = done.map(|(intended, after)| Record::Done {
            n: intended.n,
            after,
            found: false,
        });
        let done: Vec<Record> = done.collect();
        self.performed += done.len() as u64;
        self.has_waited |= waits;
        self.run.journal.append(self.host(), done)?;
        self.engine.observer.on(&Event::StepAdvanced {
            step: self.id.clone(),
            done: self.performed,
            of: self.total,
            latest,
        });
        self.phase = Phase::Perform(queue);
        Ok(Turn::More)
    }

    fn verify(
        &mut self,
        mut left: VecDeque<Expectation>,
        since: Duration,
        mut evidence: Vec<String>,
    ) -> Result<Turn, Fault> {
        while let Some(expectation) = left.pop_front() {
            let what = expectation.claim.what();
            let finding = claims::evaluate(self.host(), &expectation.claim)?;
            if finding.holds {
                evidence.push(format!("{what}: {}", finding.found));
                continue;
            }
            let time_left = (since + expectation.within).checked_sub(self.host().steady());
            let patience = Patience {
                claim: &expectation.claim,
                within: expectation.within,
                because: expectation.because,
                symptoms: &expectation.symptoms,
            };
            let Some(time_left) = time_left.filter(|_| !finding.hopeless) else {
                return Err(waiting::unmet(&patience, &finding));
            };
            if self.waiting_for.as_ref() != Some(&what) {
                self.waiting_for = Some(what.clone());
                self.earlier = Earlier::look(self.host(), patience.symptoms)?;
                self.engine.observer.on(&Event::StepWaiting {
                    step: self.id.clone(),
                    what,
                    until: self.host().now() + time_left,
                });
            }
            self.looks += 1;
            if self.looks.is_multiple_of(LOOKS)
                && let Some(fault) = symptoms::first(self.host(), patience.symptoms, &self.earlier)?
            {
                return Err(fault.because(expectation.because));
            }
            self.host().sleep(LOOK_AGAIN.min(expectation.within))?;
            left.push_front(expectation);
            self.phase = Phase::Verify {
                left,
                since,
                evidence,
            };
            return Ok(Turn::More);
        }
        self.learn(evidence)
    }

    fn learn(&mut self, evidence: Vec<String>) -> Result<Turn, Fault> {
        let mut records = Vec::new();
        for ask in self.step.yields(self.engine.settings) {
            let Answer::Json(value) = answers::answer(self.host(), &ask.probe)? else {
                let message = format!("the fact {} is no JSON value", ask.fact);
                return Err(Fault::internal(message));
            };
            let (step, fact) = (self.id.clone(), ask.fact.to_owned());
            records.push(Record::FactLearned { step, fact, value });
        }
        let reason = self.rest_skipped.take();
        records.push(Record::Verified {
            step: self.id.clone(),
            evidence: evidence.clone(),
            reason: reason.clone(),
        });
        self.write(records)?;
        let millis = millis_since(self.began, self.host());
        self.engine.observer.on(&Event::StepDone {
            step: self.id.clone(),
            millis,
            evidence,
            reason,
        });
        Ok(Turn::Over)
    }

    fn failed(&self, fault: Fault) -> Fault {
        let mut fault = fault.in_step(&self.id);
        if fault.kind == FaultKind::Stopped {
            return fault;
        }
        let record = Record::Failed {
            step: self.id.clone(),
            fault: fault.clone(),
        };
        // If only its end could not be made durable, the step is done: to call it failed behind that
        // would make a later try run its commands again.
        let is_done = self
            .run
            .journal
            .with_state(|state| state.is_settled(&self.id));
        if !is_done && let Err(second) = self.write(vec![record]) {
            // The first fault is what matters; that it could not be journalled must be said, too.
            fault
                .details
                .push(format!("and it could not be journalled: {second}"));
        }
        self.engine.observer.on(&Event::StepFailed {
            step: self.id.clone(),
            fault: fault.clone(),
        });
        fault
    }
}

/// Lists the folders that unanswered intents may have made without syncing their names.
fn folders_in_the_making(state: &RunState) -> BTreeSet<TargetPath> {
    let mut folders = BTreeSet::new();
    for pending in state.pending.values() {
        folders.extend(pending.before.parents.iter().cloned());
        if pending.effect.kind == EffectKind::MakeDirectory {
            let nodes = pending.before.nodes.iter();
            folders.extend(nodes.map(|node| node.path.clone()));
        }
    }
    folders
}

/// Returns the milliseconds that have passed since something began.
pub(crate) fn millis_since(began: Duration, host: &dyn Host) -> u64 {
    let took = host.steady().saturating_sub(began);
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// Turns a step's refusal to decide into a fault.
pub(crate) fn plan_fault(error: bootlace_model::step::PlanError) -> Fault {
    match error {
        bootlace_model::step::PlanError::Fault(fault) => *fault,
        bootlace_model::step::PlanError::Fact(missing) => Fault::internal(missing.to_string()),
    }
}
