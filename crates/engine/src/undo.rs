//! `undo`: takes back what a run did, newest first, and nothing that someone else did since.

mod forget_units;
mod forgotten;
mod judge;
mod put_back;

pub(crate) use judge::{Judgement, judge};

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::event::Event;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::StepId;
use bootlace_model::node::NodeState;
use bootlace_model::record::{Outcome, PolicyKind, Record, RecordedPolicy};
use bootlace_model::replay::{RunState, StepProgress};
use bootlace_model::step::{Choice, UndoPolicy};
use bootlace_model::view::{RefusedView, StepStateView, UndoView};

use crate::Engine;
use crate::effects::{LARGEST_GROUP, Staging};
use crate::folders::Folders;
use crate::history::{Deed, deeds, made_folders};
use crate::store::{OpenRun, Store, understood};

/// How far back it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// As far as there is a return, step by step as each of them says.
    Return,
    /// All the way, whatever is lost by it.
    Everything,
}

/// What undo has come to so far.
#[derive(Default)]
struct Progress {
    undone: u64,
    by_step: BTreeMap<StepId, u64>,
    refused: Vec<RefusedView>,
    /// Steps that cannot count as taken back.
    kept: BTreeSet<StepId>,
}

impl Progress {
    /// Says that a step was taken back but for some things.
    fn left_over(&self, step: &StepId) -> Record {
        let mut fault = Fault::refused("it was taken back in part").in_step(step);
        let of_step = self.refused.iter().filter(|left| left.step == step.step());
        fault.details = of_step
            .map(|left| format!("{} was left alone: {}", left.target, left.why))
            .collect();
        Record::Failed {
            step: step.clone(),
            fault,
        }
    }
}

impl Engine<'_> {
    /// Takes back what the run did, newest first. What is left alone is in the view.
    pub fn undo(&self) -> Result<UndoView, Fault> {
        // Deep down nobody knows which verb is at work; here it is undo that goes on.
        self.undo_chosen(Reach::Return).map_err(|mut fault| {
            for hint in &mut fault.hints {
                *hint = hint.replace("`bootlace resume`", "`bootlace undo`");
            }
            fault
        })
    }

    /// Takes everything back, also past the point of no return: what is in the cluster is lost.
    pub fn reset(&self) -> Result<UndoView, Fault> {
        self.undo_chosen(Reach::Everything).map_err(|mut fault| {
            for hint in &mut fault.hints {
                *hint = hint.replace("`bootlace resume`", "`bootlace reset`");
            }
            fault
        })
    }

    fn undo_chosen(&self, reach: Reach) -> Result<UndoView, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        let state = store.read(&run, &mut |_, _| {})?;
        if state.outcome == Some(Outcome::Undone) {
            return Ok(UndoView {
                run: run.to_string(),
                undone: 0,
                refused: vec![],
            });
        }
        understood(&state)?;
        let chosen = self.chosen_for_undo(&state)?;
        if reach == Reach::Return {
            self.check_return(&state)?;
        }
        self.check_dependents(&state, &chosen)?;
        let open = store.open(store.lock()?, &run)?;
        if open.journal.with_state(|now| *now != state) {
            // Another process worked on it between the look and the lock, so judge again.
            drop(open);
            return self.undo_chosen(reach);
        }
        let (tool, boot) = (self.options.tool.clone(), self.boot());
        let insecure = self.options.insecure.clone();
        open.journal.write(
            self.host,
            vec![Record::RunResumed {
                goal: None,
                config: None,
                tool,
                boot,
                insecure,
            }],
        )?;
        self.tidy(&open)?;
        let mut deeds = deeds(self, &run)?;
        let back: BTreeSet<&StepId> = chosen
            .iter()
            .filter(|step| reach == Reach::Everything || self.goes_back(&state, step))
            .collect();
        deeds.retain(|deed| back.contains(&deed.step));
        deeds.reverse();
        let mut progress = Progress::default();
        let forgotten = forgotten::take_forgotten(&mut deeds);
        // From here on the run does not go on, also if nothing else is taken back before a crash.
        let intents = forgotten
            .iter()
            .map(|deed| Record::UndoIntent { n: deed.n });
        open.journal.write(self.host, intents.collect())?;
        let undone = forgotten.iter().map(|_| put_back::Verdict::UNDONE);
        self.note(&open, &forgotten, undone.collect(), &mut progress)?;
        let mut rest = deeds.as_slice();
        while !rest.is_empty() {
            if self.host.stop_requested() {
                let fault = Fault::new(FaultKind::Stopped, "stopped on request");
                return Err(fault.hint("`bootlace undo` goes on from here"));
            }
            let group = group_length(rest);
            let (now, later) = rest.split_at(group);
            self.take_back(&open, now, &mut progress)?;
            rest = later;
        }
        self.remove_made_folders(&run)?;
        self.note_left_folders(&run, &deeds)?;
        self.finish_undo(&open, &chosen, progress)
    }

    /// Removes the folders that effects needed on their way, once nothing is in them.
    ///
    /// An earlier undo may have had to leave some of them, so those of effects that were taken back
    /// before count, too. A folder that an effect still in place is about is left to that effect.
    fn remove_made_folders(&self, run: &bootlace_model::ids::RunId) -> Result<(), Fault> {
        let made = made_folders(self, run)?;
        let folders = Folders::new(self.host);
        let mut staging = Staging::default();
        for path in made.iter().rev() {
            staging.stage_empty_removal(&folders, path, false)?;
        }
        staging.publish(self.host)?;
        Ok(())
    }

    /// Names the folders that the run made and that still hold something.
    fn note_left_folders(
        &self,
        run: &bootlace_model::ids::RunId,
        deeds: &[Deed],
    ) -> Result<(), Fault> {
        let made: BTreeSet<_> = deeds.iter().flat_map(|deed| &deed.before.parents).collect();
        let own = made_folders(self, run)?;
        let folders = Folders::new(self.host);
        for path in made.into_iter().filter(|path| own.contains(*path)) {
            let is_folder = matches!(folders.look(path)?, NodeState::Directory { .. });
            if is_folder
                && let Some(dir) = folders.open(path)?
                && let Some(first) = dir.list()?.first()
            {
                let text = format!("{path} stays, because it holds {first}");
                self.observer.on(&Event::Note { text });
            }
        }
        Ok(())
    }

    /// Takes one group back.
    fn take_back(
        &self,
        run: &OpenRun,
        group: &[Deed],
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let outcome = match group {
            [deed] if deed.effect.kind.is_act() => self.take_command_back(run, deed)?,
            _ => {
                let verdicts = self.put_back_all(run, group)?;
                self.forget_units(group)?;
                verdicts
            }
        };
        self.note(run, group, outcome, progress)
    }

    /// Puts a group back; if one of it cannot be, the others are all the same, one by one.
    fn put_back_all(&self, run: &OpenRun, group: &[Deed]) -> Result<Vec<put_back::Verdict>, Fault> {
        match self.put_back(run, group) {
            Err(fault) if fault.kind == FaultKind::StepFailed => {}
            ended => return ended,
        }
        self.tidy(run)?;
        let mut verdicts = Vec::with_capacity(group.len());
        for deed in group {
            match self.put_back(run, std::slice::from_ref(deed)) {
                Ok(verdict) => verdicts.extend(verdict),
                Err(fault) if fault.kind == FaultKind::StepFailed => {
                    self.tidy(run)?;
                    let target = deed.effect.target.clone();
                    verdicts.push(put_back::Verdict::Refused(target, fault.message));
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(verdicts)
    }

    /// Notes what came of taking effects back.
    fn note(
        &self,
        run: &OpenRun,
        group: &[Deed],
        verdicts: Vec<put_back::Verdict>,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let mut records = Vec::new();
        for (deed, why) in group.iter().zip(verdicts) {
            let n = deed.n;
            match why {
                put_back::Verdict::Undone { forced } => {
                    progress.undone += 1;
                    *progress.by_step.entry(deed.step.clone()).or_default() += 1;
                    records.push(Record::UndoDone { n, forced });
                }
                put_back::Verdict::Refused(target, why) => {
                    progress.kept.insert(deed.step.clone());
                    progress.refused.push(RefusedView {
                        step: deed.step.step().into(),
                        target: target.clone(),
                        why: why.clone(),
                    });
                    records.push(Record::UndoRefused { n, target, why });
                }
            }
        }
        run.journal.write(self.host, records)
    }

    fn finish_undo(
        &self,
        run: &OpenRun,
        chosen: &BTreeSet<StepId>,
        progress: Progress,
    ) -> Result<UndoView, Fault> {
        let begun: Vec<StepId> = run
            .journal
            .with_state(|state| state.steps.keys().cloned().collect());
        let mut records = Vec::new();
        let back = |step: &&StepId| chosen.contains(*step) && !progress.kept.contains(*step);
        // A step that only an older version of the tool had comes first.
        let position = |id: &StepId| {
            let mut steps = self.sequence.steps.iter();
            steps.position(|step| self.sequence.id(step.name()) == *id)
        };
        let mut newest_first = begun.clone();
        newest_first.sort_by_key(|id| std::cmp::Reverse(position(id).unwrap_or(usize::MAX)));
        for step in newest_first.iter().filter(back) {
            records.push(Record::StepUndone { step: step.clone() });
            let effects = progress.by_step.get(step).copied().unwrap_or(0);
            self.observer.on(&Event::StepUndone {
                step: step.clone(),
                effects,
            });
        }
        let all = records.len() == begun.len();
        // A step that is taken back in part does not stand any more; a run does it again.
        let in_part = begun.iter().filter(|step| progress.kept.contains(*step));
        records.extend(in_part.map(|step| progress.left_over(step)));
        let outcome = if all {
            Outcome::Undone
        } else {
            Outcome::Interrupted
        };
        records.push(Record::RunClosed { outcome });
        run.journal.write(self.host, records)?;
        if all {
            // Nothing refers to a before-image any more, and some of them may be secret.
            run.blobs.erase(self.host)?;
        }
        run.note_head()?;
        let Progress {
            undone, refused, ..
        } = progress;
        Ok(UndoView {
            run: run.id.to_string(),
            undone,
            refused,
        })
    }

    /// Lists the steps that are to be taken back, also those that only another version of the tool has.
    fn chosen_for_undo(&self, state: &RunState) -> Result<BTreeSet<StepId>, Fault> {
        let choice = &self.options.choice;
        let steps = self.sequence.steps[choice.of(self.sequence)?].iter();
        let mut chosen: BTreeSet<StepId> =
            steps.map(|step| self.sequence.id(step.name())).collect();
        if *choice == Choice::default() {
            chosen.extend(state.steps.keys().cloned());
        }
        Ok(chosen)
    }

    /// Returns how a step is taken back: as the journal says, which the version that ran it wrote.
    fn policy(&self, state: &RunState, id: &StepId) -> RecordedPolicy {
        let recorded = state.steps.get(id).and_then(|step| step.undo.clone());
        let step = || self.sequence.position(id.step());
        let own = || step().map(|position| self.sequence.steps[position].about().undo);
        recorded.unwrap_or_else(|| own().unwrap_or(UndoPolicy::Inverse).into())
    }

    /// Tells whether a step's effects are taken back at all.
    fn goes_back(&self, state: &RunState, id: &StepId) -> bool {
        let RecordedPolicy { policy, why } = self.policy(state, id);
        if policy != PolicyKind::ForwardOnly {
            return true;
        }
        if has_acted(state, id) {
            let text = format!("What {} did stays: {why}", id.step());
            self.observer.on(&Event::Note { text });
        }
        false
    }

    fn check_return(&self, state: &RunState) -> Result<(), Fault> {
        let Some((step, why)) = self.passed_no_return(state) else {
            return Ok(());
        };
        let message = format!(
            "{} was begun, and there is no way back from it",
            step.step()
        );
        Err(Fault::refused(message)
            .in_step(&step)
            .because(why)
            .hint("`bootlace reset` gives the machine back instead"))
    }

    /// Returns the last point of no return that a run has passed, and why there is none. One that this
    /// version does not have as a step comes after all others.
    pub(crate) fn passed_no_return(&self, state: &RunState) -> Option<(StepId, String)> {
        let begun = state.steps.keys().filter(|step| has_acted(state, step));
        let policies = begun.map(|step| (step, self.policy(state, step)));
        let points = policies.filter(|(_, it)| it.policy == PolicyKind::PointOfNoReturn);
        let position = |step: &StepId| self.sequence.position(step.step()).unwrap_or(usize::MAX);
        let last = points.max_by_key(|(step, _)| position(step));
        last.map(|(step, RecordedPolicy { why, .. })| (step.clone(), why))
    }

    fn check_dependents(&self, state: &RunState, chosen: &BTreeSet<StepId>) -> Result<(), Fault> {
        let is_known = |id: &StepId| self.sequence.position(id.step()).is_some();
        let mut left = state.steps.keys().filter(|id| !chosen.contains(*id));
        if let Some(step) = left.find(|id| !is_known(id) && has_acted(state, id)) {
            let message = format!("the step {} is of another version", step.step());
            return Err(Fault::new(FaultKind::Preflight, message)
                .because("It cannot be told which steps it stands on, so it goes with all of them.")
                .hint(format!(
                    "`bootlace undo {}` takes back all steps",
                    self.sequence.name
                )));
        }
        for step in self.sequence.steps {
            let id = self.sequence.id(step.name());
            if chosen.contains(&id) || !state.steps.contains_key(&id) {
                continue;
            }
            let needed = step.needs().iter().map(|need| self.sequence.id(need));
            let mut lost =
                needed.filter(|need| chosen.contains(need) && state.steps.contains_key(need));
            if let Some(need) = lost.next() {
                let name = self.sequence.name;
                let message = format!("{} stands on {}", step.name(), need.step());
                return Err(Fault::new(FaultKind::Preflight, message)
                    .in_step(&id)
                    .because(
                        "Taking back a step that others stand on would leave those without ground.",
                    )
                    .hint(format!(
                        "`bootlace undo {name} --from {}` takes back both",
                        need.step()
                    )));
            }
        }
        Ok(())
    }
}

/// Tells whether a step has begun to do something; one that was skipped as a whole has not.
fn has_acted(state: &RunState, id: &StepId) -> bool {
    let skipped = |progress: &StepProgress| progress.state == StepStateView::Skipped;
    let begun = state.steps.get(id);
    begun.is_some_and(|progress| state.touched.contains(id) || !skipped(progress))
}

/// Tells how many of the next effects are taken back together.
///
/// A command is alone. Two effects on the same path are not taken back together, because what the
/// newer one puts back is what the older one has to find.
fn group_length(deeds: &[Deed]) -> usize {
    let alone = |deed: &Deed| deed.effect.kind.is_act();
    if deeds.first().is_some_and(alone) {
        return 1;
    }
    let mut touched = BTreeSet::new();
    for (length, deed) in deeds.iter().take(LARGEST_GROUP).enumerate() {
        let paths: BTreeSet<_> = deed.before.nodes.iter().map(|node| &node.path).collect();
        if alone(deed) || !paths.is_disjoint(&touched) {
            return length;
        }
        touched.extend(paths);
    }
    deeds.len().min(LARGEST_GROUP)
}
