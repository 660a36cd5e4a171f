//! What a run did, read again from its journal.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::effect::EffectKind;
use bootlace_model::fault::Fault;
use bootlace_model::ids::{RunId, StepId};
use bootlace_model::node::{Node, NodeState};
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Before, EffectRecord, Record};

use crate::Engine;
use crate::store::Store;

/// One effect of a run that was not taken back.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    pub(crate) n: u64,
    pub(crate) step: StepId,
    pub(crate) effect: EffectRecord,
    pub(crate) before: Before,
    /// What was there afterwards; none if a crash left it unsaid.
    pub(crate) after: Option<Vec<Node>>,
    /// Whether taking it back was begun before.
    pub(crate) undo_begun: bool,
}

impl Deed {
    /// Tells whether an act edits what is at a path, in contrast to making it.
    pub(crate) fn edits(&self, path: &TargetPath) -> bool {
        let mut products = self.effect.products.iter();
        self.effect.kind.is_act() && !products.any(|product| product.path() == Some(path))
    }

    /// Tells whether it is an act that edits something.
    pub(crate) fn is_editor(&self) -> bool {
        self.before.nodes.iter().any(|node| self.edits(&node.path))
    }
}

/// Lists the effects of a run that were not taken back, oldest first.
pub(crate) fn deeds(engine: &Engine<'_>, run: &RunId) -> Result<Vec<Deed>, Fault> {
    let mut deeds: BTreeMap<u64, Deed> = BTreeMap::new();
    let store = Store::new(engine.host, &engine.settings.paths.state);
    store.read(run, &mut |_, line| match &line.rec {
        Record::Intent {
            n,
            step,
            effect,
            before,
        } => {
            let (step, effect, before) = (step.clone(), effect.clone(), before.clone());
            deeds.insert(
                *n,
                Deed {
                    n: *n,
                    step,
                    effect,
                    before,
                    after: None,
                    undo_begun: false,
                },
            );
        }
        Record::Done { n, after, .. } => {
            if let Some(deed) = deeds.get_mut(n) {
                deed.after = Some(after.clone());
            }
        }
        Record::UndoIntent { n } => {
            if let Some(deed) = deeds.get_mut(n) {
                deed.undo_begun = true;
            }
        }
        Record::UndoDone { n, .. } => {
            deeds.remove(n);
        }
        _ => {}
    })?;
    Ok(deeds.into_values().collect())
}

/// Lists the folders that a run made on the way to something, outermost first, without those that
/// an effect which was not taken back is about.
pub(crate) fn made_folders(
    engine: &Engine<'_>,
    run: &RunId,
) -> Result<BTreeSet<TargetPath>, Fault> {
    let mut made = BTreeSet::new();
    let mut found = BTreeSet::new();
    let store = Store::new(engine.host, &engine.settings.paths.state);
    store.read(run, &mut |_, line| {
        if let Record::Intent { before, .. } = &line.rec {
            // One that was there first, and was replaced by the run, is none of its own.
            let there = before.nodes.iter().filter(|node| node.state.exists());
            let there = there.filter(|node| !made.contains(&node.path));
            found.extend(there.map(|node| node.path.clone()));
            let parents = before.parents.iter();
            made.extend(parents.filter(|path| !found.contains(*path)).cloned());
        }
    })?;
    let deeds = deeds(engine, run)?;
    // An act is about its products only as far as it made them itself.
    for deed in deeds.iter().filter(|deed| !deed.effect.kind.is_act()) {
        for node in &deed.before.nodes {
            made.remove(&node.path);
        }
    }
    Ok(made)
}

/// Lists the folders that were absent before a run and that it made, on the way or on purpose.
pub(crate) fn own_folders(engine: &Engine<'_>, run: &RunId) -> Result<BTreeSet<TargetPath>, Fault> {
    let mut own = made_folders(engine, run)?;
    for deed in deeds(engine, run)? {
        if deed.effect.kind == EffectKind::MakeDirectory {
            let absent = deed.before.nodes.into_iter();
            let absent = absent.filter(|node| !node.state.exists());
            own.extend(absent.map(|node| node.path));
        }
    }
    Ok(own)
}

/// Lists the paths that effects are about which were not taken back, and which are no acts.
pub(crate) fn own_paths(engine: &Engine<'_>, run: &RunId) -> Result<BTreeSet<TargetPath>, Fault> {
    let deeds = deeds(engine, run)?.into_iter();
    let deeds = deeds.filter(|deed| !deed.effect.kind.is_act());
    let nodes = deeds.flat_map(|deed| deed.before.nodes);
    Ok(nodes.map(|node| node.path).collect())
}

/// Returns what a run last wrote to a path, if it did.
pub(crate) fn last_written(
    engine: &Engine<'_>,
    run: &RunId,
    path: &TargetPath,
) -> Result<Option<NodeState>, Fault> {
    let nodes = deeds(engine, run)?
        .into_iter()
        .rev()
        .filter_map(|deed| deed.after)
        .flatten();
    let mut mine = nodes.filter(|node| node.path == *path);
    Ok(mine.next().map(|node| node.state))
}
