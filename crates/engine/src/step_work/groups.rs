//! Taking the next effects that share a commit, and writing their intents.

use std::collections::{HashSet, VecDeque};

use bootlace_model::effect::Effect;
use bootlace_model::fault::Fault;
use bootlace_model::node::{Node, NodeState};
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Before, EffectRecord, Record};
use bootlace_model::replay::Pending;

use super::StepWork;
use crate::effects::{
    Class, Intended, LARGEST_GROUP, LARGEST_GROUP_BYTES, class, present, touches, weight,
};
use crate::folders::Folders;
use crate::history::Deed;
use crate::port::Host;
use crate::undo::{Judgement, judge};

/// The most bytes of before-images that one group holds in memory.
const MOST_KEPT: usize = 64 << 20;

impl StepWork<'_> {
    /// Takes the next group off the queue; returns when all its intents are durable.
    pub(super) fn intend(&self, queue: &mut VecDeque<usize>) -> Result<Vec<Intended<'_>>, Fault> {
        let folders = Folders::new(self.host());
        let past = self.past();
        let mut group: Vec<Taken<'_>> = Vec::new();
        let mut kept: Vec<Vec<u8>> = Vec::new();
        let (mut bytes, mut weighs) = (0, 0);
        let mut touched: HashSet<TargetPath> = HashSet::new();
        while let Some(&position) = queue.front() {
            let effect = &self.effects[position];
            weighs += weight(effect);
            if !joins(&group, effect) || bytes > MOST_KEPT {
                break;
            }
            if !group.is_empty() && weighs > LARGEST_GROUP_BYTES {
                break;
            }
            let paths = touches(&folders, effect)?;
            if paths.iter().any(|path| touched.contains(path)) || continues(effect, &touched) {
                break;
            }
            let (n, before) = match past.left_open(effect) {
                Some((n, pending)) if is_untouched(&folders, *n, pending)? => {
                    if !effect.edits().is_empty() {
                        self.engine
                            .clear_another_try(self.run, &unanswered(*n, pending))?;
                    }
                    (Some(*n), pending.before.clone())
                }
                _ => (
                    None,
                    capture(&folders, effect, &paths, &mut kept, &mut bytes)?,
                ),
            };
            touched.extend(paths);
            let record = recorded(self.host(), effect)?;
            group.push(Taken {
                n,
                effect,
                record,
                before,
            });
            queue.pop_front();
        }
        self.run.blobs.keep(self.host(), &kept)?;
        let group = self.journal_intents(group)?;
        self.run.journal.commit()?;
        Ok(group)
    }

    /// Writes the intents of effects that have none yet, and numbers them.
    fn journal_intents<'e>(&self, group: Vec<Taken<'e>>) -> Result<Vec<Intended<'e>>, Fault> {
        let fresh = || group.iter().filter(|taken| taken.n.is_none());
        let first = self.run.journal.append_numbered(self.host(), |first| {
            (first..)
                .zip(fresh())
                .map(|(n, taken)| Record::Intent {
                    n,
                    step: self.id.clone(),
                    effect: taken.record.clone(),
                    before: taken.before.clone(),
                })
                .collect()
        })?;
        let mut numbers = first..;
        let number = |taken: Taken<'e>| {
            let n = taken.n.or_else(|| numbers.next()).unwrap_or(u64::MAX);
            Intended {
                n,
                effect: taken.effect,
            }
        };
        Ok(group.into_iter().map(number).collect())
    }
}

/// An effect that was taken off the queue.
struct Taken<'e> {
    /// Its number, if an earlier try gave it one.
    n: Option<u64>,
    effect: &'e Effect,
    record: EffectRecord,
    before: Before,
}

/// Describes an effect for the journal, with how it is taken back from where the machine is now.
fn recorded(host: &dyn Host, effect: &Effect) -> Result<EffectRecord, Fault> {
    let mut record = EffectRecord::from(effect);
    if let Effect::StartUnit(start) = effect
        && start.anew.is_some()
        && host.is_live()
        && !host.unit(&start.unit)?.is_active
    {
        // What does not run is not started anew, but started.
        record.undo = Some(start.stop());
    }
    Ok(record)
}

/// Tells whether what an unanswered intent found is still there, or what it was to leave.
///
/// If not, somebody wrote there since the crash. Then the effect is intended anew, so that what
/// they wrote is kept for undo.
fn is_untouched(folders: &Folders<'_>, n: u64, pending: &Pending) -> Result<bool, Fault> {
    let deed = unanswered(n, pending);
    for node in &deed.before.nodes {
        let now = folders.look(&node.path)?;
        if matches!(judge(&deed, node, &now), Judgement::Edited(_)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns an unanswered intent as a deed of which nobody knows how far it came.
fn unanswered(n: u64, pending: &Pending) -> Deed {
    let Pending {
        step,
        effect,
        before,
    } = pending.clone();
    Deed {
        n,
        step,
        effect,
        before,
        after: None,
        undo_begun: false,
    }
}

/// Tells whether an effect may share the commit of those already taken.
fn joins(group: &[Taken<'_>], effect: &Effect) -> bool {
    let Some(first) = group.first() else {
        return true;
    };
    let (of_group, of_effect) = (class(first.effect), class(effect));
    of_group == of_effect && of_group != Class::Alone && group.len() < LARGEST_GROUP
}

/// Tells whether an effect gives a further name to what others of its group only make.
fn continues(effect: &Effect, touched: &HashSet<TargetPath>) -> bool {
    matches!(effect, Effect::MakeHardLink(link) if touched.contains(&link.existing))
}

/// Looks at what an effect will change, and keeps the contents of files.
fn capture(
    folders: &Folders<'_>,
    effect: &Effect,
    paths: &[TargetPath],
    kept: &mut Vec<Vec<u8>>,
    bytes: &mut usize,
) -> Result<Before, Fault> {
    let is_edited = |path: &TargetPath| {
        let mut edits = effect.edits().iter();
        edits.any(|edited| path.below(edited).is_some())
    };
    let is_act = effect.kind().is_act();
    let mut before = Before {
        present: present(folders.host(), effect)?,
        ..Before::default()
    };
    for path in paths {
        let keeps = effect.no_inverse().is_none() && (!is_act || is_edited(path));
        let (state, content) = folders.look_and_keep(path)?;
        if let NodeState::Other { what } = &state
            && keeps
        {
            return Err(
                Fault::refused(format!("{path} is {what}, which could not be put back"))
                    .in_file(path.as_str())
                    .because(format!("It would go because of {}.", effect.origin().name))
                    .hint(format!("look at it with `ls -l {path}` and move it away")),
            );
        }
        if let Some(content) = content.filter(|_| keeps) {
            *bytes += content.len();
            kept.push(content);
        }
        for parent in folders.missing_parents(path)? {
            if !before.parents.contains(&parent) {
                before.parents.push(parent);
            }
        }
        before.nodes.push(Node {
            path: path.clone(),
            state,
        });
    }
    Ok(before)
}
