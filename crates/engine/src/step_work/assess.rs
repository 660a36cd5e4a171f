//! What of a step's wishes is missing, what is already so, and what must not be overwritten.

use std::collections::{BTreeMap, HashSet, VecDeque};

use bootlace_model::effect::{Effect, EffectKind};
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::node::Node;
use bootlace_model::path::TargetPath;
use bootlace_model::record::Record;
use bootlace_model::replay::Pending;

use super::StepWork;
use crate::effects::{Standing, standing, touches};
use crate::folders::Folders;

/// What a crash left open, by what it was about.
pub(super) type OpenIntents = BTreeMap<(String, String), (u64, Pending)>;

impl StepWork<'_> {
    /// Returns the effects to perform, by position; journals those that a crash only left unsaid.
    pub(super) fn assess(&self) -> Result<VecDeque<usize>, Fault> {
        let folders = Folders::new(self.host());
        let open = self.open_intents();
        let mut queue = VecDeque::new();
        let mut queued: HashSet<&TargetPath> = HashSet::new();
        let mut found = Vec::new();
        let mut conflicts: Vec<Fault> = Vec::new();
        for (position, effect) in self.effects.iter().enumerate() {
            let intent = open.get(&name_of(effect.kind(), &effect.target()));
            let ran = self.ran_already(effect);
            let renewed = sources(effect).iter().any(|path| queued.contains(path));
            match standing(&folders, effect)? {
                // It fits what is there, but not what that is about to become.
                Standing::AlreadySo if renewed && self.may_renew(&folders, effect, intent)? => {
                    queue.push_back(position);
                }
                Standing::AlreadySo => found.extend(intent.map(|(n, _)| (*n, effect))),
                Standing::Missing if ran => {}
                Standing::Missing => queue.push_back(position),
                Standing::Conflict(fault) => {
                    if intent.is_some() || self.is_ours(&folders, effect)? {
                        queue.push_back(position);
                    } else {
                        conflicts.push(fault);
                    }
                }
            }
            if queue.back() == Some(&position) {
                queued.extend(effect.path());
            }
        }
        refuse(conflicts)?;
        self.note_plan(&folders, &queue, &found)?;
        Ok(queue)
    }

    /// Tells whether something that is already so may be made again.
    fn may_renew(
        &self,
        folders: &Folders<'_>,
        effect: &Effect,
        intent: Option<&(u64, Pending)>,
    ) -> Result<bool, Fault> {
        let is_file = matches!(effect, Effect::PutFile(_));
        Ok(is_file || intent.is_some() || self.is_ours(folders, effect)?)
    }

    /// Returns this step's intents that nothing answered.
    pub(super) fn open_intents(&self) -> OpenIntents {
        self.run.journal.with_state(|state| {
            let mine = state
                .pending
                .iter()
                .filter(|(_, pending)| pending.step == self.id);
            mine.map(|(n, pending)| {
                let name = name_of(pending.effect.kind, &pending.effect.target);
                (name, (*n, pending.clone()))
            })
            .collect()
        })
    }

    /// Tells whether a command ran to its end in an earlier try of this very step.
    fn ran_already(&self, effect: &Effect) -> bool {
        let Effect::RunCommand(run) = effect else {
            return false;
        };
        let name = (self.id.clone(), run.name.clone());
        self.run
            .journal
            .with_state(|state| state.commands_done.contains(&name))
    }

    /// Tells whether this run wrote what is there, and nobody changed it since.
    fn is_ours(&self, folders: &Folders<'_>, effect: &Effect) -> Result<bool, Fault> {
        let Some(path) = effect.path() else {
            return Ok(false);
        };
        let now = folders.look(path)?;
        let written = crate::history::last_written(self.engine, &self.run.id, path)?;
        Ok(written.is_some_and(|written| written.same_but_for_labels(&now)))
    }

    fn note_plan(
        &self,
        folders: &Folders<'_>,
        queue: &VecDeque<usize>,
        found: &[(u64, &Effect)],
    ) -> Result<(), Fault> {
        let wishes: Vec<String> = self.effects.iter().map(wish).collect();
        let plan = Digest::of_parts(wishes.iter().map(String::as_bytes));
        let effects = queue.len() as u64;
        let mut records = vec![Record::StepPlanned {
            step: self.id.clone(),
            plan,
            effects,
        }];
        for (n, effect) in found {
            let mut after = Vec::new();
            for path in touches(folders, effect)? {
                let state = folders.look(&path)?;
                after.push(Node { path, state });
            }
            records.push(Record::Done {
                n: *n,
                after,
                found: true,
            });
        }
        self.write(records)
    }
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

/// Describes a wish, for the plan's digest: a changed wish is a changed plan.
fn wish(effect: &Effect) -> String {
    let digest = effect
        .digest()
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    format!(
        "{:?}\0{}\0{}\0{digest}\n",
        effect.kind(),
        effect.target(),
        effect.detail()
    )
}

/// Names an effect within its step.
pub(super) fn name_of(kind: EffectKind, target: &str) -> (String, String) {
    (format!("{kind:?}"), target.to_owned())
}

/// Refuses with the first conflict, and the others as its details.
pub(crate) fn refuse(conflicts: Vec<Fault>) -> Result<(), Fault> {
    let mut conflicts = conflicts.into_iter();
    let Some(mut first) = conflicts.next() else {
        return Ok(());
    };
    first.details.extend(conflicts.map(|other| other.message));
    Err(first)
}
