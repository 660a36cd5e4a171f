//! Bringing what a crash left half done into a known shape, before anything is judged by it.
//!
//! A killed process leaves changes that are there and not yet durable, and a power cut may keep
//! any part of them. So before a run goes on or is taken back, the folders that an unanswered
//! intent touched are cleared of staged files, completed and synced. What is found there
//! afterwards stays there.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::effect::EffectKind;
use bootlace_model::fault::Fault;
use bootlace_model::ids::RunId;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;

use crate::Engine;
use crate::effects::staged_prefix;
use crate::folders::{Folders, OpenDir, PARENT_MODE};
use crate::history::{Deed, deeds};
use crate::port::{Dir, Stat};
use crate::store::OpenRun;

/// The mode of a folder whose making was cut off: it begins as narrow as it can be.
const BEGUN_MODE: u32 = PARENT_MODE & 0o700;

impl Engine<'_> {
    /// Clears, completes and syncs what unanswered intents touched.
    pub(crate) fn tidy(&self, run: &OpenRun) -> Result<(), Fault> {
        let clean = run
            .journal
            .with_state(|state| state.pending.is_empty() && !state.undoing);
        if clean {
            return Ok(());
        }
        let folders = Folders::new(self.host);
        let deeds = deeds(self, &run.id)?;
        let nodes = |deed: &'_ Deed| -> Vec<TargetPath> {
            deed.before
                .nodes
                .iter()
                .map(|node| node.path.clone())
                .collect()
        };
        // A folder that an effect makes has the mode that the effect gives it.
        // One that an effect has removed is nobody's any more.
        let is_gone = |deed: &Deed, path: &TargetPath| {
            let after = deed.after.iter().flatten();
            let mut gone = after.filter(|node| !node.state.exists());
            gone.any(|node| node.path == *path)
        };
        let made = deeds.iter().flat_map(|deed| {
            let paths = nodes(deed).into_iter();
            paths.filter(|path| !is_gone(deed, path))
        });
        let made: BTreeSet<TargetPath> = made.collect();
        let mut touched: BTreeMap<TargetPath, OpenDir> = BTreeMap::new();
        for deed in deeds
            .iter()
            .filter(|deed| deed.undo_begun || deed.after.is_none())
        {
            let parents = deed.before.parents.iter();
            for parent in parents.clone().filter(|parent| !made.contains(parent)) {
                self.complete(&folders, parent)?;
            }
            for path in nodes(deed).iter().chain(parents) {
                // A folder carries its own attributes, and its name is in the one above.
                for dir in [folders.holding(path)?, open_folder(&folders, path)?] {
                    touched.extend(dir.map(|dir| (dir.path().clone(), dir)));
                }
            }
        }
        for dir in touched.values() {
            clear(dir.as_ref(), &run.id)?;
        }
        self.sync_changed_files(&folders, &deeds)?;
        let touched: Vec<&dyn Dir> = touched.values().map(AsRef::as_ref).collect();
        if !touched.is_empty() {
            self.host.sync_dirs(&touched)?;
        }
        Ok(())
    }

    /// Makes attributes durable that were changed in place, or put back so: what is seen of them may
    /// not be on disk yet.
    fn sync_changed_files(&self, folders: &Folders<'_>, deeds: &[Deed]) -> Result<(), Fault> {
        let mut files = Vec::new();
        let is_open = |deed: &&Deed| {
            let in_place = deed.effect.kind == EffectKind::SetAttributes;
            in_place && (deed.undo_begun || deed.after.is_none())
        };
        for deed in deeds.iter().filter(is_open) {
            for node in &deed.before.nodes {
                if let Some(dir) = folders.holding(&node.path)?
                    && matches!(dir.stat(node.path.name())?, Some(Stat::File { .. }))
                {
                    files.push((dir, node.path.name().to_owned()));
                }
            }
        }
        let files = files
            .iter()
            .map(|(dir, name)| (dir.as_ref(), name.as_str()));
        let files: Vec<(&dyn Dir, &str)> = files.collect();
        if !files.is_empty() {
            self.host.sync_files(&files)?;
        }
        Ok(())
    }

    /// Gives a folder that was made on the way, and cut off while it was made, its mode.
    fn complete(&self, folders: &Folders<'_>, path: &TargetPath) -> Result<(), Fault> {
        let Some(dir) = folders.holding(path)? else {
            return Ok(());
        };
        if let Some(Stat::Directory { mode, owner }) = dir.stat(path.name())?
            && mode == BEGUN_MODE
            && owner == self.host.identity()
        {
            dir.set_attributes(path.name(), &Attributes::mode(PARENT_MODE))?;
        }
        Ok(())
    }
}

/// Opens what is at a path if it is a folder itself, not a link to one.
fn open_folder(folders: &Folders<'_>, path: &TargetPath) -> Result<Option<OpenDir>, Fault> {
    let Some(dir) = folders.holding(path)? else {
        return Ok(None);
    };
    match dir.stat(path.name())? {
        Some(Stat::Directory { .. }) => Ok(folders.open(path)?),
        _ => Ok(None),
    }
}

/// Removes what this run staged in a folder and did not publish.
fn clear(dir: &dyn Dir, run: &RunId) -> Result<(), Fault> {
    let prefix = staged_prefix(run);
    for name in dir.list()? {
        if name.starts_with(&prefix) {
            dir.remove(&name)?;
        }
    }
    Ok(())
}
