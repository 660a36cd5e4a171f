//! Performing a group: stage everything, sync once, publish in order, sync the folders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bootlace_model::content::Content;
use bootlace_model::effect::{Effect, Origin};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::RunId;
use bootlace_model::node::{Attributes, Node, NodeState, Owner};
use bootlace_model::path::TargetPath;

use super::content::Contents;
use super::writes::{Shape, Write, writes};
use crate::folders::Folders;
use crate::port::{Dir, Host, HostError, HostResult, Stat};

/// The longest content that is written at once.
const LARGEST_PIECE: u64 = 1 << 20;

/// An effect whose intent is on disk.
#[derive(Debug)]
pub(crate) struct Intended<'e> {
    /// Its number in the journal.
    pub(crate) n: u64,
    /// What to do.
    pub(crate) effect: &'e Effect,
}

/// Names the file in which something waits, beside its place, until it is renamed.
///
/// The dot matters: kubelet skips such names in its folder of static pods.
pub(crate) fn staged_name(run: &RunId, n: u64, index: usize) -> String {
    format!("{}{n}-{index}", staged_prefix(run))
}

/// Begins the names of all files that a run stages.
pub(crate) fn staged_prefix(run: &RunId) -> String {
    let tag = run.as_str().rsplit('-').next().unwrap_or_default();
    format!(".bootlace-{tag}-")
}

/// Performs effects of one class; returns what is at the touched paths afterwards, by effect.
///
/// `unsynced` lists the folders that other steps have made and may not have synced.
pub(crate) fn perform(
    host: &dyn Host,
    run: &RunId,
    group: &[Intended<'_>],
    unsynced: impl FnOnce() -> BTreeSet<TargetPath>,
) -> Result<Vec<Vec<Node>>, Fault> {
    let folders = Folders::new(host);
    let mut contents = Contents::new(&folders);
    let mut staging = Staging::default();
    let mut afters = Vec::with_capacity(group.len());
    for intended in group {
        let after = if intended.effect.kind().is_act() {
            act(host, intended.effect)
        } else {
            stage_all(run, intended, &mut contents, &mut staging)
        };
        afters.push(after.map_err(|fault| asked_by(fault, intended.effect.origin()))?);
    }
    // Asked only now: a folder that was found while staging was made before.
    staging.sync_above(&folders, &unsynced())?;
    staging.publish(host)?;
    Ok(afters)
}

/// Lets an effect act by itself; returns what it leaves.
fn act(host: &dyn Host, effect: &Effect) -> Result<Vec<Node>, Fault> {
    let copies = super::acts::copies(host, effect)?;
    super::acts::act(host, effect)?;
    super::acts::settle(host, effect)?;
    super::acts::products(host, effect, &copies)
}

/// Stages all that an effect writes; returns what will be there.
fn stage_all(
    run: &RunId,
    intended: &Intended<'_>,
    contents: &mut Contents<'_>,
    staging: &mut Staging,
) -> Result<Vec<Node>, Fault> {
    let mut after = Vec::new();
    for (index, write) in writes(contents, intended.effect)?.into_iter().enumerate() {
        let name = staged_name(run, intended.n, index);
        let state = staging.stage(contents.folders, &write, name)?;
        if let Shape::File { content, .. } = write.shape {
            contents.staged.insert(write.path.clone(), content);
        }
        after.push(Node {
            path: write.path,
            state,
        });
    }
    Ok(after)
}

/// Names the entry of a config that asked for what failed, so that it can be found and corrected.
fn asked_by(mut fault: Fault, origin: &Origin) -> Fault {
    let Some((place, entry)) = origin.entry().filter(|_| fault.kind != FaultKind::Stopped) else {
        return fault;
    };
    let hint = format!("if {entry} at {place} cannot be meant like that, correct it");
    fault.hints.insert(0, hint);
    fault.place.get_or_insert(place);
    let why = format!("{entry} asks for it.");
    fault.because = Some(match fault.because {
        None => why,
        Some(because) => format!("{why} {because}"),
    });
    fault
}

/// What is staged and has to be published.
#[derive(Default)]
pub(crate) struct Staging {
    acts: Vec<Act>,
    changed: BTreeMap<TargetPath, Arc<dyn Dir>>,
    /// Files whose attributes were changed in place.
    settled: Vec<(Arc<dyn Dir>, String)>,
}

struct Act {
    dir: Arc<dyn Dir>,
    name: String,
    kind: ActKind,
}

enum ActKind {
    /// Rename a staged file into place; its content has to be durable first.
    Place {
        staged: String,
        is_file: bool,
    },
    /// Give a file a further name.
    Name {
        existing: Arc<dyn Dir>,
        existing_name: String,
    },
    Remove,
    RemoveDir,
    /// Remove a folder if nothing is in it; else leave it and say so, unless it is no matter.
    RemoveDirIfEmpty {
        matters: bool,
    },
}

impl Staging {
    /// Stages one write; folders and attributes of folders are set at once, for they have no
    /// content that could be half there.
    pub(crate) fn stage(
        &mut self,
        folders: &Folders<'_>,
        write: &Write,
        staged: String,
    ) -> Result<NodeState, Fault> {
        match write.shape {
            Shape::Nothing => return Ok(self.stage_removal(folders, &write.path)?),
            Shape::Hollow => {
                self.stage_empty_removal(folders, &write.path, false)?;
                return Ok(NodeState::Absent);
            }
            _ => {}
        }
        let (dir, made) = folders.make_holding(&write.path)?;
        let dir = dir.ok_or_else(|| nowhere(&write.path))?;
        let name = write.path.name().to_owned();
        for above in made.into_iter().chain([dir.clone()]) {
            self.changed.insert(above.path().clone(), above);
        }
        let state = match &write.shape {
            Shape::File {
                content,
                attributes,
            } => {
                fill(dir.as_ref(), &staged, content, attributes)?;
                let Some(Stat::File { mode, owner, .. }) = dir.stat(&staged)? else {
                    return Err(Fault::internal(format!(
                        "{staged} vanished beside {}",
                        write.path
                    )));
                };
                self.place(dir, name, staged, true);
                let (digest, size) = (content.digest(), content.length());
                NodeState::File {
                    digest,
                    size,
                    mode,
                    owner,
                    xattrs: attributes.xattrs.clone(),
                }
            }
            Shape::Link { target, owner } => {
                anew(dir.as_ref(), &staged, || dir.create_link(&staged, target))?;
                let owner = own(folders, dir.as_ref(), &staged, *owner)?;
                self.place(dir, name, staged, false);
                NodeState::Link {
                    target: target.clone(),
                    owner,
                }
            }
            Shape::Directory { attributes } => {
                match dir.stat(&name)? {
                    None => dir.create_dir(&name, attributes)?,
                    Some(_) => dir.set_attributes(&name, attributes)?,
                }
                folders.forget(&write.path);
                // Its attributes are part of itself, not of the folder that names it.
                if let Some(itself) = folders.open(&write.path)? {
                    self.changed.insert(write.path.clone(), itself);
                }
                crate::folders::look_in(dir.as_ref(), &name)?
            }
            Shape::Attributes { attributes } => {
                dir.set_attributes(&name, attributes)?;
                let state = crate::folders::look_in(dir.as_ref(), &name)?;
                self.settled.push((dir, name));
                state
            }
            Shape::HardLink { existing } => self.stage_name(folders, dir, name, existing)?,
            Shape::Special { kind, attributes } => {
                anew(dir.as_ref(), &staged, || {
                    dir.create_special(&staged, *kind, attributes)
                })?;
                let state = crate::folders::look_in(dir.as_ref(), &staged)?;
                self.place(dir, name, staged, false);
                state
            }
            Shape::Nothing | Shape::Hollow => NodeState::Absent,
        };
        Ok(state)
    }

    /// Makes staged contents durable, then publishes in order, then makes the names durable.
    ///
    /// Returns the folders that matter and had to be left because something is in them.
    pub(crate) fn publish(self, host: &dyn Host) -> HostResult<Vec<TargetPath>> {
        let mut left = Vec::new();
        let files: Vec<(&dyn Dir, &str)> = self
            .acts
            .iter()
            .filter_map(|act| match &act.kind {
                ActKind::Place {
                    staged,
                    is_file: true,
                } => Some((act.dir.as_ref(), staged.as_str())),
                _ => None,
            })
            .chain(
                self.settled
                    .iter()
                    .map(|(dir, name)| (dir.as_ref(), name.as_str())),
            )
            .collect();
        if !files.is_empty() {
            host.sync_files(&files)?;
        }
        for act in &self.acts {
            match &act.kind {
                ActKind::Place { staged, .. } => act.dir.rename(staged, &act.name)?,
                ActKind::Name {
                    existing,
                    existing_name,
                } => {
                    let existing = existing.as_ref();
                    act.dir
                        .create_hard_link(&act.name, existing, existing_name)?;
                }
                ActKind::Remove => act.dir.remove(&act.name)?,
                ActKind::RemoveDir => act.dir.remove_dir(&act.name)?,
                ActKind::RemoveDirIfEmpty { matters } => match act.dir.remove_dir(&act.name) {
                    // Two effects may have needed the same folder; the first removal did it.
                    Err(HostError::Io { error, .. })
                        if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(HostError::Io { error, .. }) if is_not_empty(&error) => {
                        if let (true, Ok(path)) = (matters, act.dir.path().join(&act.name)) {
                            left.push(path);
                        }
                    }
                    other => other?,
                },
            }
        }
        let changed: Vec<&dyn Dir> = self.changed.values().map(AsRef::as_ref).collect();
        if !changed.is_empty() {
            host.sync_dirs(&changed)?;
        }
        Ok(left)
    }

    /// Lets the names of folders be synced, too, that others have made above what is staged.
    ///
    /// What is done in a folder is lost with the folder's name.
    fn sync_above(
        &mut self,
        folders: &Folders<'_>,
        unsynced: &BTreeSet<TargetPath>,
    ) -> HostResult<()> {
        let mut holding = BTreeSet::new();
        for path in self.changed.keys() {
            let mut next = Some(path.clone());
            while let Some(folder) = next {
                next = folder.parent();
                if unsynced.contains(&folder) {
                    holding.extend(next.clone());
                }
            }
        }
        for path in holding {
            if let Some(dir) = folders.open(&path)? {
                self.changed.insert(path, dir);
            }
        }
        Ok(())
    }

    /// Stages the removal of a folder for the case that nothing is in it by then.
    pub(crate) fn stage_empty_removal(
        &mut self,
        folders: &Folders<'_>,
        path: &TargetPath,
        matters: bool,
    ) -> HostResult<()> {
        if let Some(dir) = folders.holding(path)?
            && matches!(dir.stat(path.name())?, Some(Stat::Directory { .. }))
        {
            self.changed.insert(dir.path().clone(), dir.clone());
            let kind = ActKind::RemoveDirIfEmpty { matters };
            self.acts.push(Act {
                dir,
                name: path.name().to_owned(),
                kind,
            });
        }
        Ok(())
    }

    /// Stages a further name of a file that is in place.
    fn stage_name(
        &mut self,
        folders: &Folders<'_>,
        dir: Arc<dyn Dir>,
        name: String,
        existing: &TargetPath,
    ) -> Result<NodeState, Fault> {
        let holding = folders
            .holding(existing)?
            .ok_or_else(|| nowhere(existing))?;
        let existing_name = existing.name().to_owned();
        let state = crate::folders::look_in(holding.as_ref(), &existing_name)?;
        self.acts.push(Act {
            dir,
            name,
            kind: ActKind::Name {
                existing: holding,
                existing_name,
            },
        });
        Ok(state)
    }

    fn place(&mut self, dir: Arc<dyn Dir>, name: String, staged: String, is_file: bool) {
        self.acts.push(Act {
            dir,
            name,
            kind: ActKind::Place { staged, is_file },
        });
    }

    fn stage_removal(&mut self, folders: &Folders<'_>, path: &TargetPath) -> HostResult<NodeState> {
        if let Some(dir) = folders.holding(path)? {
            let kind = match dir.stat(path.name())? {
                None => return Ok(NodeState::Absent),
                Some(Stat::Directory { .. }) => ActKind::RemoveDir,
                Some(_) => ActKind::Remove,
            };
            folders.forget(path);
            self.changed.insert(dir.path().clone(), dir.clone());
            self.acts.push(Act {
                dir,
                name: path.name().to_owned(),
                kind,
            });
        }
        Ok(NodeState::Absent)
    }
}

/// Gives a new link to its owner, and returns who that is.
///
/// A folder may hand its group down to what is made in it, so it is looked at who owns the link by now.
fn own(
    folders: &Folders<'_>,
    dir: &dyn Dir,
    link: &str,
    owner: Option<Owner>,
) -> HostResult<Owner> {
    let wanted = owner.unwrap_or_else(|| folders.host().identity());
    if !matches!(dir.stat(link)?, Some(Stat::Link { owner, .. }) if owner == wanted) {
        dir.set_owner(link, wanted)?;
    }
    Ok(wanted)
}

/// Says that a folder on the way is taken by a link that leads to nothing.
fn nowhere(path: &TargetPath) -> Fault {
    let message = format!("{path} has no folder to be in: a link on the way to it leads nowhere");
    Fault::new(FaultKind::Preflight, message)
        .in_file(path.as_str())
        .because("Links are followed inside the root only, and nothing is made where they point.")
        .hint("look at the links on the way with `namei -l PATH`, below the root that you gave")
}

fn is_not_empty(error: &std::io::Error) -> bool {
    // Some filesystems say EEXIST where others say ENOTEMPTY.
    let kind = error.kind();
    kind == std::io::ErrorKind::DirectoryNotEmpty || kind == std::io::ErrorKind::AlreadyExists
}

/// Creates a file under a name of ours; what is large is written piece by piece.
fn fill(
    dir: &dyn Dir,
    name: &str,
    content: &Content,
    attributes: &Attributes,
) -> Result<(), Fault> {
    if content.length() <= LARGEST_PIECE {
        let content = content.read()?;
        return Ok(anew(dir, name, || dir.create(name, &content, attributes))?);
    }
    // Nobody else may read it, and we must be able to write it, until all of it is there.
    let narrow = Attributes::mode(0o600);
    anew(dir, name, || dir.create(name, &[], &narrow))?;
    content.pieces(&mut |piece| Ok(dir.append(name, piece)?))?;
    Ok(dir.set_attributes(name, attributes)?)
}

/// Creates something under a name of ours, removing what an earlier crash left there.
fn anew(dir: &dyn Dir, name: &str, create: impl Fn() -> HostResult<()>) -> HostResult<()> {
    match create() {
        Err(HostError::Io { error, .. }) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            dir.remove(name)?;
            create()
        }
        other => other,
    }
}
