//! What of a step's wishes is missing, what is already so, and what must not be overwritten.
//!
//! `plan` and `run` both ask here, so that a plan cannot show anything but what a run does.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bootlace_model::effect::{AlreadyRan, Effect, EffectKind};
use bootlace_model::fault::Fault;
use bootlace_model::ids::{RunId, StepId};
use bootlace_model::path::TargetPath;
use bootlace_model::replay::{Pending, RunState};

use crate::Engine;
use crate::effects::{Standing, standing};
use crate::folders::Folders;
use crate::history::last_written;

/// What a crash left open, by what it was about.
pub(crate) type OpenIntents = BTreeMap<(String, String), (u64, Pending)>;

/// What the journal says about earlier tries of a step.
#[derive(Debug)]
pub(crate) struct Past {
    run: Option<RunId>,
    /// Intents that nothing answered.
    pub(crate) open: OpenIntents,
    /// Commands that ran to their end, by name.
    commands: BTreeSet<String>,
    /// Paths that were removed.
    drops: BTreeSet<String>,
    /// The newest effect that was performed.
    newest: Option<u64>,
    /// Whether something lives that this run has started.
    is_living: bool,
}

/// What has to be done for a step, by position among its wishes.
#[derive(Debug, Default)]
pub(crate) struct Assessment {
    /// To be performed, in order.
    pub(crate) missing: Vec<usize>,
    /// Already so, with the number of the intent that a crash left unanswered.
    pub(crate) found: Vec<(u64, usize)>,
}

impl Past {
    /// Collects what a run's state says about a step.
    pub(crate) fn of(state: &RunState, step: &StepId) -> Self {
        let mine = state
            .pending
            .iter()
            .filter(|(_, pending)| pending.step == *step);
        let open = mine.map(|(n, pending)| {
            (
                name_of(pending.effect.kind, &pending.effect.target),
                (*n, pending.clone()),
            )
        });
        let ran = state.commands_done.iter().filter(|(of, _)| of == step);
        let dropped = state.drops_done.iter().filter(|(of, _)| of == step);
        Self {
            run: state.run.clone(),
            open: open.collect(),
            commands: ran.map(|(_, name)| name.clone()).collect(),
            drops: dropped.map(|(_, path)| path.clone()).collect(),
            newest: state.newest_done.get(step).copied(),
            is_living: !state.living.is_empty(),
        }
    }

    /// Returns what a crash left open of an effect, if performing it now would still be that.
    ///
    /// A removal that comes after what was made again is another one: by its old number it would
    /// seem to come before.
    pub(crate) fn left_open(&self, effect: &Effect) -> Option<&(u64, Pending)> {
        let is_drop = matches!(effect, Effect::DropPath(_));
        let is_last = |n: u64| self.newest.is_none_or(|newest| newest < n);
        self.intent(effect).filter(|(n, _)| !is_drop || is_last(*n))
    }

    fn ran(&self, effect: &Effect) -> bool {
        // What runs on is looked at, as images are, and waits are waited again after a reboot.
        let tells = match effect {
            Effect::RunCommand(run) => !matches!(run.already, AlreadyRan::While(_)),
            Effect::ApplyObjects(_) => true,
            Effect::StartUnit(start) => start.anew.is_some(),
            _ => false,
        };
        tells && self.commands.contains(&effect.target())
    }

    fn intent(&self, effect: &Effect) -> Option<&(u64, Pending)> {
        self.open.get(&name_of(effect.kind(), &effect.target()))
    }
}

/// Looks which of a step's wishes are missing; refuses what must not be overwritten.
pub(crate) fn assess(
    engine: &Engine<'_>,
    past: &Past,
    effects: &[Effect],
) -> Result<Assessment, Fault> {
    let folders = Folders::new(engine.host);
    let mut assessment = Assessment::default();
    let mut renewed: HashSet<&TargetPath> = HashSet::new();
    let mut conflicts: Vec<Fault> = Vec::new();
    let mut dropped: Vec<&TargetPath> = Vec::new();
    for (position, effect) in effects.iter().enumerate() {
        let intent = past.intent(effect);
        let stale = sources(effect).iter().any(|path| renewed.contains(path));
        if is_below(effect, &dropped) {
            // What is there now goes before this effect has its turn.
            assessment.missing.push(position);
            renewed.extend(effect.path());
            continue;
        }
        let missing = match standing(&folders, effect)? {
            // It fits what is there, but not what that is about to become.
            Standing::AlreadySo if stale => {
                matches!(effect, Effect::PutFile(_)) || is_ours(engine, past, &folders, effect)?
            }
            // Whether a program that edits came to its end cannot be seen from a part of its work.
            Standing::AlreadySo if intent.is_some() && !effect.edits().is_empty() => true,
            Standing::AlreadySo => false,
            Standing::Missing if is_lost(engine, past, effect)? => {
                conflicts.push(lost(effect));
                false
            }
            Standing::Missing if made_way(past, effect, &effects[position..]) => false,
            Standing::Missing => !past.ran(effect),
            Standing::Conflict(fault) => {
                let ours = is_ours(engine, past, &folders, effect)?;
                if !ours {
                    conflicts.push(fault);
                }
                ours
            }
        };
        if missing {
            assessment.missing.push(position);
            renewed.extend(effect.path());
            if let Effect::DropPath(drop) = effect {
                dropped.push(&drop.path);
            }
        } else {
            assessment.found.extend(intent.map(|(n, _)| (*n, position)));
        }
    }
    refuse(conflicts)?;
    Ok(assessment)
}

/// Tells whether a removal was done to make way for what the same step puts there: then what is
/// there now is the step's own.
fn made_way(past: &Past, effect: &Effect, later: &[Effect]) -> bool {
    let Effect::DropPath(drop) = effect else {
        return false;
    };
    let fills = |other: &Effect| {
        let is_drop = matches!(other, Effect::DropPath(_));
        let path = other.path().filter(|_| !is_drop);
        path.is_some_and(|path| path.below(&drop.path).is_some())
    };
    past.drops.contains(drop.path.as_str()) && later.iter().any(fills)
}

/// Tells whether an effect writes to what an earlier effect of the same step removes.
fn is_below(effect: &Effect, dropped: &[&TargetPath]) -> bool {
    let writes = !matches!(effect, Effect::DropPath(_));
    let path = effect.path().filter(|_| writes);
    path.is_some_and(|path| dropped.iter().any(|drop| path.below(drop).is_some()))
}

/// Tells whether a key is gone that this run has made, and on which something stands that runs.
fn is_lost(engine: &Engine<'_>, past: &Past, effect: &Effect) -> Result<bool, Fault> {
    let (Effect::MakeKey(make), Some(run)) = (effect, &past.run) else {
        return Ok(false);
    };
    if !past.is_living || past.intent(effect).is_some() {
        return Ok(false);
    }
    let written = last_written(engine, run, &make.path)?;
    Ok(written.is_some_and(|written| written.exists()))
}

fn lost(effect: &Effect) -> Fault {
    let key = effect.target();
    Fault::refused(format!(
        "the key {key} is gone, and a control plane that stands on it runs"
    ))
    .because("Another one would be trusted by nobody who holds a certificate of the first.")
    .hint("put it back; the control plane has its copies in /etc/kubernetes/pki")
    .hint("or `bootlace undo cluster` and begin anew")
}

/// Tells whether this run wrote what is there, and nobody changed it since.
fn is_ours(
    engine: &Engine<'_>,
    past: &Past,
    folders: &Folders<'_>,
    effect: &Effect,
) -> Result<bool, Fault> {
    if past.intent(effect).is_some() {
        return Ok(true);
    }
    let (Some(run), Some(path)) = (&past.run, effect.path()) else {
        return Ok(false);
    };
    let now = folders.look(path)?;
    let written = last_written(engine, run, path)?;
    Ok(written.is_some_and(|written| written.same_but_for_labels(&now)))
}

/// Lists the files that an effect is made of.
fn sources(effect: &Effect) -> Vec<&TargetPath> {
    match effect {
        Effect::PutFile(put) => put.body.sources().collect(),
        Effect::IssueCertificate(issue) => {
            let issuer = issue.issuer.iter();
            let issuer = issuer.flat_map(|issuer| [&issuer.certificate, &issuer.key]);
            issuer.chain([&issue.key]).collect()
        }
        _ => vec![],
    }
}

/// Names an effect within its step.
pub(crate) fn name_of(kind: EffectKind, target: &str) -> (String, String) {
    (format!("{kind:?}"), target.to_owned())
}

/// Refuses with the first conflict, and the others as its details.
fn refuse(conflicts: Vec<Fault>) -> Result<(), Fault> {
    let mut conflicts = conflicts.into_iter();
    let Some(mut first) = conflicts.next() else {
        return Ok(());
    };
    first.details.extend(conflicts.map(|other| other.message));
    Err(first)
}
