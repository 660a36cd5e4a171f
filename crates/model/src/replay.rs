//! Folding the journal: one total function from a state and a line to the next state.

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::EffectKind;
use crate::fact::Facts;
use crate::fault::Fault;
use crate::ids::{BootId, RunId, StepId};
use crate::probe::Answer;
use crate::record::{
    Before, EffectRecord, Foreign, ForeignKind, Line, Outcome, Record, RecordedPolicy,
};
use crate::step::Choice;
use crate::view::StepStateView;

/// Where a step stands according to the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct StepProgress {
    /// Where it stands.
    pub state: StepStateView,
    /// When it began last.
    pub started: jiff::Timestamp,
    /// When it ended.
    pub ended: Option<jiff::Timestamp>,
    /// What proved it.
    pub evidence: Vec<String>,
    /// Why it was skipped, or what it leaves undone on purpose.
    pub reason: Option<String>,
    /// Why it failed.
    pub fault: Option<Fault>,
    /// Whether everything was to be planned again since it ended, and its turn did not come yet.
    pub outdated: bool,
    /// Whether it was verified before it began last.
    pub was_done: bool,
    /// How it is taken back; journals of early versions do not say.
    pub undo: Option<RecordedPolicy>,
}

impl StepProgress {
    fn begun(at: jiff::Timestamp) -> Self {
        Self {
            state: StepStateView::Running,
            started: at,
            ended: None,
            evidence: vec![],
            reason: None,
            fault: None,
            outdated: false,
            was_done: false,
            undo: None,
        }
    }

    /// Tells whether it was verified at least once, also if a later attempt failed or was cut off.
    pub fn has_been_done(&self) -> bool {
        match self.state {
            StepStateView::Done => true,
            StepStateView::Running | StepStateView::Failed => self.was_done,
            StepStateView::Todo | StepStateView::Skipped => false,
        }
    }
}

/// An intent that nothing has answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Of which step.
    pub step: StepId,
    /// Which effect.
    pub effect: EffectRecord,
    /// What was there before.
    pub before: Before,
}

/// The first record of a journal that this version does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The line it is on, counted from 1.
    pub line: u64,
    /// What is not understood.
    pub what: String,
    /// The version of the tool that wrote it.
    pub tool: String,
}

/// What the journal says of a run. Its size does not grow with the number of effects.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunState {
    /// The run's id.
    pub run: Option<RunId>,
    /// The sequence's name.
    pub sequence: String,
    /// When it was opened.
    pub opened: Option<jiff::Timestamp>,
    /// Which steps were asked for last.
    pub goal: Choice,
    /// The settings in force.
    pub config: serde_json::Value,
    /// The version of the tool that the steps were planned by.
    pub tool: String,
    /// The boot in which it was worked on last.
    pub boot: Option<BootId>,
    /// What was switched off that protects, at any time of the run.
    pub insecure: Vec<String>,
    /// The steps that were begun.
    pub steps: BTreeMap<StepId, StepProgress>,
    /// What steps yielded.
    pub facts: BTreeMap<String, serde_json::Value>,
    /// Which step yielded each of them.
    pub fact_steps: BTreeMap<String, StepId>,
    /// Intents without an answer, by number.
    pub pending: BTreeMap<u64, Pending>,
    /// Commands that ran to their end in steps that are not verified yet.
    pub commands_done: BTreeSet<(StepId, String)>,
    /// Paths that were removed in steps that are not verified yet.
    pub drops_done: BTreeSet<(StepId, String)>,
    /// The newest effect of each step that was performed.
    pub newest_done: BTreeMap<StepId, u64>,
    /// Steps that started a unit or gave an API its objects: something lives that stands on earlier steps.
    pub living: BTreeSet<StepId>,
    /// Steps of which at least one effect was intended: what they find may be their own.
    pub touched: BTreeSet<StepId>,
    /// The number of the next effect.
    pub next_effect: u64,
    /// How the run was closed, unless it was opened again since.
    pub outcome: Option<Outcome>,
    /// Whether taking back was begun and not ended, so that nothing may go on.
    pub undoing: bool,
    /// What undo left alone at its last try: target and why.
    pub refused: Vec<(String, String)>,
    /// When the last line was written.
    pub last: Option<jiff::Timestamp>,
    /// The version of the tool that wrote the last line.
    pub writer: String,
    /// What another version wrote and this one does not understand: nothing more may be written then.
    pub unknown: Option<Unknown>,
    /// Whether the run was closed in a way that this version does not know.
    pub closed_unknown: bool,
}

/// Says that a line cannot follow the lines before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {seq}: {reason}")]
pub struct IllegalRecord {
    /// Which line.
    pub seq: u64,
    /// Why not.
    pub reason: String,
}

impl RunState {
    /// Returns what steps yielded so far.
    pub fn known(&self) -> Facts {
        let mut known = Facts::default();
        for (name, value) in &self.facts {
            known.set(name.clone(), Answer::Json(value.clone()));
        }
        known
    }

    /// Takes one line in, or says why it cannot follow.
    pub fn apply(&mut self, line: Line) -> Result<(), IllegalRecord> {
        let (seq, at) = (line.seq, line.at);
        let illegal = |reason: String| IllegalRecord { seq, reason };
        if self.run.is_none() && !opens_run(&line.rec) {
            return Err(illegal(
                "the journal does not begin with the opening of a run".into(),
            ));
        }
        self.last = Some(at);
        match line.rec {
            Record::RunOpened {
                run,
                sequence,
                goal,
                config,
                tool,
                boot,
                insecure,
            } => {
                if self.run.is_some() {
                    return Err(illegal("a second run is opened in the same journal".into()));
                }
                self.run = Some(run);
                self.sequence = sequence;
                self.goal = goal;
                self.opened = Some(at);
                self.config = config;
                self.writer.clone_from(&tool);
                self.tool = tool;
                self.boot = Some(boot);
                self.insecure = insecure;
            }
            Record::RunResumed {
                goal,
                config,
                tool,
                boot,
                insecure,
            } => {
                self.goal = goal.unwrap_or(std::mem::take(&mut self.goal));
                self.writer.clone_from(&tool);
                if let Some(config) = config {
                    self.plan_again(config, tool);
                }
                self.boot = Some(boot);
                for name in insecure {
                    if !self.insecure.contains(&name) {
                        self.insecure.push(name);
                    }
                }
                self.outcome = None;
                self.closed_unknown = false;
            }
            Record::StepStarted { step, undo } => self.apply_start(step, undo, at),
            Record::Intent {
                n,
                step,
                effect,
                before,
            } => {
                if n < self.next_effect {
                    return Err(illegal(format!("effect {n} is intended a second time")));
                }
                self.next_effect = n + 1;
                self.touched.insert(step.clone());
                self.pending.insert(
                    n,
                    Pending {
                        step,
                        effect,
                        before,
                    },
                );
            }
            Record::Done { n, .. } => {
                let pending = self.pending.remove(&n);
                // Its intent may be one that is not understood.
                if pending.is_none() && self.unknown.is_none() {
                    return Err(illegal(format!("effect {n} is done without an intent")));
                }
                self.apply_done(n, pending);
            }
            Record::FactLearned { step, fact, value } => {
                self.fact_steps.insert(fact.clone(), step);
                self.facts.insert(fact, value);
            }
            ended @ (Record::Verified { .. } | Record::Skipped { .. } | Record::Failed { .. }) => {
                self.apply_end(ended, at);
            }
            undo @ (Record::UndoIntent { .. }
            | Record::UndoDone { .. }
            | Record::UndoRefused { .. }
            | Record::StepUndone { .. }) => self.apply_undo(undo),
            Record::RunClosed { outcome } => {
                self.outcome = Some(outcome);
                self.undoing = false;
            }
            Record::Foreign(foreign) => self.apply_foreign(foreign, seq, at),
            Record::StepPlanned { .. } | Record::TailCut { .. } => {}
        }
        Ok(())
    }

    fn apply_start(&mut self, step: StepId, undo: Option<RecordedPolicy>, at: jiff::Timestamp) {
        let before = self.steps.get(&step);
        let was_done = before.is_some_and(StepProgress::has_been_done);
        let progress = StepProgress {
            was_done,
            undo,
            ..StepProgress::begun(at)
        };
        self.steps.insert(step, progress);
    }

    /// Takes in what can be told of a record that is not understood.
    fn apply_foreign(&mut self, Foreign { kind, what }: Foreign, seq: u64, at: jiff::Timestamp) {
        match kind {
            ForeignKind::RunOpened {
                run,
                sequence,
                tool,
            } => {
                if self.run.is_none() {
                    (self.run, self.sequence, self.opened) = (Some(run), sequence, Some(at));
                    self.writer.clone_from(&tool);
                    self.tool = tool;
                }
            }
            ForeignKind::RunResumed { tool } => {
                self.writer = tool;
                (self.outcome, self.closed_unknown) = (None, false);
            }
            ForeignKind::StepStarted { step } => self.apply_start(step, None, at),
            ForeignKind::Intent { n, step } => {
                self.next_effect = self.next_effect.max(n + 1);
                self.touched.insert(step);
            }
            ForeignKind::Verified { step } => self.end(&step, at, StepStateView::Done),
            ForeignKind::Skipped { step } => self.end(&step, at, StepStateView::Skipped),
            ForeignKind::Failed { step, fault } => {
                self.begun(&step, at).fault = Some(*fault);
                self.end(&step, at, StepStateView::Failed);
            }
            ForeignKind::RunClosed => (self.outcome, self.closed_unknown) = (None, true),
            ForeignKind::Other => {}
        }
        let tool = &self.writer;
        self.unknown.get_or_insert_with(|| Unknown {
            line: seq + 1,
            what,
            tool: tool.clone(),
        });
    }

    fn apply_done(&mut self, n: u64, pending: Option<Pending>) {
        let Some(Pending { step, effect, .. }) = pending else {
            return;
        };
        let newest = self.newest_done.entry(step.clone()).or_default();
        *newest = n.max(*newest);
        if matches!(
            effect.kind,
            EffectKind::StartUnit | EffectKind::ApplyObjects
        ) {
            self.living.insert(step.clone());
        }
        if effect.kind.is_act() {
            self.commands_done.insert((step, effect.target));
        } else if effect.kind == EffectKind::DropPath {
            self.drops_done.insert((step, effect.target));
        }
    }

    /// Takes new settings in: until a step ends again, it is one of the old settings.
    fn plan_again(&mut self, config: serde_json::Value, tool: String) {
        self.config = config;
        self.tool = tool;
        for progress in self.steps.values_mut() {
            progress.outdated = true;
        }
    }

    fn apply_end(&mut self, record: Record, at: jiff::Timestamp) {
        match record {
            Record::Verified {
                step,
                evidence,
                reason,
            } => {
                let progress = self.begun(&step, at);
                progress.evidence = evidence;
                progress.reason = reason;
                self.end(&step, at, StepStateView::Done);
            }
            Record::Skipped { step, reason } => {
                self.begun(&step, at).reason = Some(reason);
                self.end(&step, at, StepStateView::Skipped);
            }
            Record::Failed { step, fault } => {
                self.begun(&step, at).fault = Some(fault);
                self.end(&step, at, StepStateView::Failed);
            }
            _ => {}
        }
    }

    fn apply_undo(&mut self, record: Record) {
        match record {
            Record::UndoIntent { .. } => {
                self.undoing = true;
                self.refused.clear();
            }
            Record::UndoDone { n, .. } => {
                self.pending.remove(&n);
            }
            Record::UndoRefused { target, why, .. } => self.refused.push((target, why)),
            Record::StepUndone { step } => {
                self.commands_done.retain(|(of, _)| *of != step);
                self.drops_done.retain(|(of, _)| *of != step);
                let gone = |fact: &String| self.fact_steps.get(fact) == Some(&step);
                self.facts.retain(|fact, _| !gone(fact));
                self.touched.remove(&step);
                self.living.remove(&step);
                self.newest_done.remove(&step);
                self.steps.remove(&step);
            }
            _ => {}
        }
    }

    /// Tells whether a step is verified or skipped for the settings in force, so that nothing is
    /// left to do in it.
    pub fn is_settled(&self, step: &StepId) -> bool {
        let outdated = self.steps.get(step).is_some_and(|step| step.outdated);
        self.stands(step) && !outdated
    }

    /// Tells whether a step is verified or skipped, so that later steps may count on it.
    pub fn stands(&self, step: &StepId) -> bool {
        let state = self.steps.get(step).map(|progress| progress.state);
        matches!(state, Some(StepStateView::Done | StepStateView::Skipped))
    }

    fn begun(&mut self, step: &StepId, at: jiff::Timestamp) -> &mut StepProgress {
        self.steps
            .entry(step.clone())
            .or_insert_with(|| StepProgress::begun(at))
    }

    fn end(&mut self, step: &StepId, at: jiff::Timestamp, state: StepStateView) {
        if state != StepStateView::Failed {
            self.commands_done.retain(|(of, _)| of != step);
            self.drops_done.retain(|(of, _)| of != step);
        }
        let progress = self.begun(step, at);
        progress.state = state;
        progress.ended = Some(at);
    }
}

/// Tells whether a record may be the first of a journal.
fn opens_run(record: &Record) -> bool {
    match record {
        Record::RunOpened { .. } => true,
        Record::Foreign(foreign) => matches!(foreign.kind, ForeignKind::RunOpened { .. }),
        _ => false,
    }
}
