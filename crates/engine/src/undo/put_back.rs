//! Putting files, folders and links back; stopping what a command started.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bootlace_model::content::Content;
use bootlace_model::effect::{CommandUndo, EffectKind, Product};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::node::{Attributes, Node, NodeState};
use bootlace_model::path::TargetPath;
use bootlace_model::record::Record;

use super::judge::{Judgement, judge};
use crate::Engine;
use crate::effects::{
    Shape, Staging, Write, remove_product, remove_tree_but, run_program, staged_name, tree_below,
};
use crate::folders::Folders;
use crate::history::{Deed, own_folders, own_paths};
use crate::port::{Command, Host};
use crate::store::OpenRun;

/// How long a command that takes another back may take.
const UNDO_COMMAND: Duration = Duration::from_mins(10);

/// How many names are shown of what stays in a copy.
const SHOWN_KEPT: usize = 8;

/// What came of taking one effect back.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is as it was.
    Undone { forced: bool },
    /// It was left alone: what, and why.
    Refused(String, String),
}

impl Verdict {
    /// It is as it was, and nobody was overruled.
    pub(super) const UNDONE: Self = Self::Undone { forced: false };
}

impl Engine<'_> {
    /// Puts back what a group of effects changed, newest first.
    pub(super) fn put_back(&self, run: &OpenRun, group: &[Deed]) -> Result<Vec<Verdict>, Fault> {
        let folders = Folders::new(self.host);
        // What a path will be once the newer effects of this group are taken back.
        let mut then: BTreeMap<TargetPath, NodeState> = BTreeMap::new();
        let mut verdicts = Vec::with_capacity(group.len());
        let mut intents = Vec::new();
        for deed in group {
            let verdict = self.judge_deed(run, &folders, deed, &then)?;
            if matches!(verdict, Verdict::Undone { .. }) {
                intents.push(Record::UndoIntent { n: deed.n });
                for node in &deed.before.nodes {
                    then.insert(node.path.clone(), node.state.clone());
                }
            }
            verdicts.push(verdict);
        }
        run.journal.write(self.host, intents)?;
        let mut staging = Staging::default();
        for (deed, verdict) in group.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Undone { .. }) {
                stage_back(run, &folders, &mut staging, deed)?;
            }
        }
        let left = staging.publish(self.host)?;
        for (deed, verdict) in group.iter().zip(&mut verdicts) {
            let held = deed
                .before
                .nodes
                .iter()
                .find(|node| left.contains(&node.path));
            if let Some(node) = held {
                let why = "something is still in it".to_owned();
                *verdict = Verdict::Refused(node.path.to_string(), why);
            }
        }
        Ok(verdicts)
    }

    fn judge_deed(
        &self,
        run: &OpenRun,
        folders: &Folders<'_>,
        deed: &Deed,
        then: &BTreeMap<TargetPath, NodeState>,
    ) -> Result<Verdict, Fault> {
        if let Some(why) = &deed.effect.no_inverse {
            return Ok(Verdict::Refused(deed.effect.target.clone(), why.clone()));
        }
        let mut forced = false;
        for node in &deed.before.nodes {
            let now = match then.get(&node.path) {
                Some(state) => state.clone(),
                None => folders.look(&node.path)?,
            };
            match judge(deed, node, &now) {
                Judgement::AsBefore => continue,
                Judgement::Ours => {}
                Judgement::Edited(how) if !self.options.force => {
                    let why = format!("it was edited since: {how}");
                    return Ok(Verdict::Refused(node.path.to_string(), why));
                }
                Judgement::Edited(_) => forced = true,
            }
            // One lost before-image must not keep all the rest from being taken back.
            if let Some(why) = lost_content(run, &node.state)? {
                return Ok(Verdict::Refused(node.path.to_string(), why));
            }
        }
        Ok(Verdict::Undone { forced })
    }

    /// Takes a command back: runs its counterpart, then removes what it made.
    pub(super) fn take_command_back(
        &self,
        run: &OpenRun,
        deed: &Deed,
    ) -> Result<Vec<Verdict>, Fault> {
        let refused = |why: String| Ok(vec![Verdict::Refused(deed.effect.target.clone(), why)]);
        if let Some(CommandUndo::Never { why }) = &deed.effect.undo {
            return refused(why.clone());
        }
        let edits = edits_of(deed);
        let verdict = self.judge_deed(run, &Folders::new(self.host), &edits, &[].into())?;
        if matches!(verdict, Verdict::Refused(..)) {
            return Ok(vec![verdict]);
        }
        run.journal
            .write(self.host, vec![Record::UndoIntent { n: deed.n }])?;
        if let Some(CommandUndo::Run(argv)) = &deed.effect.undo {
            let (env, directory, within) = (vec![], None, UNDO_COMMAND);
            let command = Command {
                argv,
                env,
                directory,
                within,
                keep: 64 << 10,
                input: None,
            };
            match run_program(self.host, &command) {
                Ok(_) => {}
                // Whether the command ran at all is not known, so its counterpart may fail.
                Err(fault) if deed.after.is_none() => return refused(fault.message),
                Err(fault) => return Err(fault.in_step(&deed.step)),
            }
        }
        let kept = self.remove_products(run, deed, self.options.force)?;
        let folders = Folders::new(self.host);
        let mut staging = Staging::default();
        stage_back(run, &folders, &mut staging, &edits)?;
        for parent in deed.before.parents.iter().rev() {
            staging.stage_empty_removal(&folders, parent, false)?;
        }
        staging.publish(self.host)?;
        Ok(vec![kept.unwrap_or(verdict)])
    }
}

impl Engine<'_> {
    /// Puts back what a program that was cut off has edited, and removes what it has made, so that
    /// it finds at its next try what it found at its first.
    pub(crate) fn clear_another_try(&self, run: &OpenRun, deed: &Deed) -> Result<(), Fault> {
        // A copy that is new was not handed over to anybody yet, as the run is still under way. What
        // was moved was somebody's before.
        let kept = self.remove_products(run, deed, !moves(deed))?;
        let folders = Folders::new(self.host);
        let mut staging = Staging::default();
        stage_back(run, &folders, &mut staging, &edits_of(deed))?;
        staging.publish(self.host)?;
        match kept {
            Some(Verdict::Refused(path, why)) => {
                let message = format!("cannot replace {path}: {why}");
                Err(Fault::refused(message)
                    .because(
                        "Files that were added or changed after the interruption would be lost.",
                    )
                    .hint(
                        "move the files named above to another folder, then run `bootlace resume`",
                    ))
            }
            _ => Ok(()),
        }
    }
}

/// Tells whether a command moves what was there before to where nothing was.
fn moves(deed: &Deed) -> bool {
    let was_there = |from: &TargetPath| {
        let mut before = deed.before.nodes.iter();
        before.any(|node| node.path == *from && node.state.exists())
    };
    let mut products = deed.effect.products.iter();
    products
        .any(|product| matches!(product, Product::Copy { from: Some(from), .. } if was_there(from)))
}

/// Returns a command as what it edits, without what it makes.
fn edits_of(deed: &Deed) -> Deed {
    let mut edits = deed.clone();
    edits.before.nodes.retain(|node| deed.edits(&node.path));
    edits.before.parents.clear();
    edits
}

impl Engine<'_> {
    /// Removes what an act made, and what it used of folders that the run had made before. Returns a
    /// refusal if others added to a copy, or changed something in it.
    fn remove_products(
        &self,
        run: &OpenRun,
        deed: &Deed,
        wholly: bool,
    ) -> Result<Option<Verdict>, Fault> {
        let made = own_folders(self, &run.id)?;
        let mut kept = None;
        for product in &deed.effect.products {
            let Some(path) = product.path() else {
                if !deed.before.present.contains(product) {
                    remove_product(self.host, product)?;
                }
                continue;
            };
            let mut nodes = deed.before.nodes.iter();
            if nodes.any(|node| node.path == *path && !node.state.exists()) {
                match product {
                    Product::Copy { path, from } if !wholly => {
                        let left = remove_copy(self.host, deed, path, from.as_ref())?;
                        kept = left
                            .map(|why| Verdict::Refused(path.to_string(), why))
                            .or(kept);
                    }
                    product => remove_product(self.host, product)?,
                }
            } else if made.contains(path) && !matches!(product, Product::Copy { .. }) {
                // What older effects put there is judged when they are taken back. Nothing is copied
                // to where something is.
                let ours = own_paths(self, &run.id)?;
                remove_tree_but(self.host, path, &ours)?;
            }
        }
        Ok(kept)
    }
}

/// Removes a copy that an act made; what others added or changed since stays, and is told.
fn remove_copy(
    host: &dyn Host,
    deed: &Deed,
    copy: &TargetPath,
    from: Option<&TargetPath>,
) -> Result<Option<String>, Fault> {
    let folders = Folders::new(host);
    let before = by_path(&deed.before.nodes);
    let after = by_path(deed.after.as_deref().unwrap_or_default());
    // A crash may have come before anybody looked at what is in the copy.
    let is_inside = |path: &&TargetPath| path.below(copy).is_some_and(|rest| !rest.is_empty());
    let was_seen = after.keys().any(is_inside);
    let mut kept = BTreeSet::new();
    for path in tree_below(&folders, copy)? {
        let now = folders.look(&path)?;
        let is_made = match (&now, after.get(&path)) {
            (NodeState::Absent, _) => true,
            (now, Some(left)) => is_left(left, now),
            (_, None) if was_seen => false,
            (now, None) => match from {
                Some(from) => is_copied(&folders, &before, now, from, path.below(copy))?,
                // A spool that nothing has come into.
                None => path == *copy && matches!(now, NodeState::File { size: 0, .. }),
            },
        };
        if !is_made {
            kept.insert(path);
        }
    }
    remove_tree_but(host, copy, &kept)?;
    Ok(told(&kept))
}

fn by_path(nodes: &[Node]) -> BTreeMap<&TargetPath, &NodeState> {
    nodes.iter().map(|node| (&node.path, &node.state)).collect()
}

/// Tells whether something is as a program left it. A folder is only what is in it: one with another
/// mode holds nothing of anybody's.
fn is_left(left: &NodeState, now: &NodeState) -> bool {
    match (left, now) {
        (NodeState::Directory { .. }, NodeState::Directory { .. }) => true,
        (left, now) => left.same_but_for_labels(now),
    }
}

/// Names what was kept of a copy. Folders are named if nothing in them is.
fn told(kept: &BTreeSet<TargetPath>) -> Option<String> {
    let holding: BTreeSet<TargetPath> = kept.iter().filter_map(TargetPath::parent).collect();
    let named: Vec<&str> = kept
        .iter()
        .filter(|path| !holding.contains(path))
        .map(TargetPath::as_str)
        .collect();
    let shown = named.iter().take(SHOWN_KEPT).copied();
    let shown = shown.collect::<Vec<_>>().join(", ");
    match named.len() {
        0 => None,
        n if n <= SHOWN_KEPT => Some(format!("added or changed since: {shown}")),
        n => Some(format!(
            "{n} files were added or changed since, including {shown}"
        )),
    }
}

/// Tells whether something is as in what was copied.
///
/// What was moved is compared with what the journal says was there before. What cannot be shown to be
/// the program's work may be somebody's, even if it is empty.
fn is_copied(
    folders: &Folders<'_>,
    before: &BTreeMap<&TargetPath, &NodeState>,
    now: &NodeState,
    from: &TargetPath,
    below: Option<&str>,
) -> Result<bool, Fault> {
    let original = match below {
        Some("") => Some(from.clone()),
        below => below.and_then(|below| from.join(below).ok()),
    };
    let Some(original) = original else {
        return Ok(false);
    };
    let original = match before.get(&original) {
        Some(state) => (*state).clone(),
        None => folders.look(&original)?,
    };
    Ok(match (now, &original) {
        // A program makes a file before it writes to it.
        (NodeState::File { size: 0, .. }, NodeState::File { .. })
        | (NodeState::Directory { .. }, NodeState::Directory { .. }) => true,
        (NodeState::File { digest, .. }, NodeState::File { digest: of, .. }) => digest == of,
        (NodeState::Link { target, .. }, NodeState::Link { target: of, .. }) => target == of,
        (NodeState::Special { kind, .. }, NodeState::Special { kind: of, .. }) => kind == of,
        _ => false,
    })
}

/// Tells why a file could not be put back as it was, if so.
fn lost_content(run: &OpenRun, before: &NodeState) -> Result<Option<String>, Fault> {
    let NodeState::File { digest, .. } = before else {
        return Ok(None);
    };
    match run.blobs.get(*digest) {
        Ok(_) => Ok(None),
        Err(fault) if fault.kind == FaultKind::Refused => Ok(Some(fault.message)),
        Err(fault) => Err(fault),
    }
}

/// Tells whether only attributes have to be put back, so that the file keeps its other names.
fn keeps_content(folders: &Folders<'_>, deed: &Deed, node: &Node) -> Result<bool, Fault> {
    if deed.effect.kind != EffectKind::SetAttributes {
        return Ok(false);
    }
    let now = folders.look(&node.path)?;
    Ok(match (&node.state, now) {
        (NodeState::File { digest: was, .. }, NodeState::File { digest: is, .. }) => *was == is,
        _ => false,
    })
}

fn stage_back(
    run: &OpenRun,
    folders: &Folders<'_>,
    staging: &mut Staging,
    deed: &Deed,
) -> Result<(), Fault> {
    let nodes = deed.before.nodes.iter().enumerate();
    // What was there comes back from the outside in; what was not goes from the inside out.
    let (gone, there): (Vec<_>, Vec<_>) = nodes.partition(|(_, node)| !node.state.exists());
    for (index, node) in there {
        // What was never changed, or is back already, is not touched: it may be what cannot be.
        if folders.look(&node.path)? == node.state {
            continue;
        }
        // Somebody may have put back by hand what could not be put back from here.
        if lost_content(run, &node.state)?.is_some() {
            continue;
        }
        let shape = match &node.state {
            NodeState::File {
                mode,
                owner,
                xattrs,
                ..
            } if keeps_content(folders, deed, node)? => Shape::Attributes {
                attributes: Attributes {
                    mode: *mode,
                    owner: Some(*owner),
                    xattrs: xattrs.clone(),
                },
            },
            NodeState::File {
                digest,
                mode,
                owner,
                xattrs,
                ..
            } => Shape::File {
                content: Content::of(run.blobs.get(*digest)?),
                attributes: Attributes {
                    mode: *mode,
                    owner: Some(*owner),
                    xattrs: xattrs.clone(),
                },
            },
            NodeState::Directory {
                mode,
                owner,
                xattrs,
            } => Shape::Directory {
                attributes: Attributes {
                    mode: *mode,
                    owner: Some(*owner),
                    xattrs: xattrs.clone(),
                },
            },
            NodeState::Link { target, owner } => Shape::Link {
                target: target.clone(),
                owner: Some(*owner),
            },
            NodeState::Special { kind, mode, owner } => Shape::Special {
                kind: *kind,
                attributes: Attributes {
                    owner: Some(*owner),
                    ..Attributes::mode(*mode)
                },
            },
            NodeState::Absent | NodeState::Other { .. } => continue,
        };
        let write = Write {
            path: node.path.clone(),
            shape,
        };
        let name = staged_name(&run.id, deed.n, index);
        staging.stage(folders, &write, name)?;
    }
    for (_, node) in gone.into_iter().rev() {
        if let NodeState::Directory { .. } = folders.look(&node.path)? {
            staging.stage_empty_removal(folders, &node.path, true)?;
        } else {
            let write = Write {
                path: node.path.clone(),
                shape: Shape::Nothing,
            };
            staging.stage(folders, &write, String::new())?;
        }
    }
    for parent in deed.before.parents.iter().rev() {
        staging.stage_empty_removal(folders, parent, false)?;
    }
    Ok(())
}
