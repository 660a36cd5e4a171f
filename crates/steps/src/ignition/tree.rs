//! The target as it will be while entries are worked off, one after the other.

use std::collections::{HashMap, HashSet};

use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::survey::{Seen, Survey};

/// The bit by which a folder hands its group down.
const SET_GROUP: u32 = 0o2000;
/// The mode of folders that are made on the way to something.
const PARENT_MODE: u32 = 0o755;

/// What was surveyed, and what changes on top of it.
pub(super) struct Tree<'a> {
    pub(super) survey: &'a Survey,
    changed: HashMap<TargetPath, Seen>,
    removed: HashSet<TargetPath>,
}

/// A folder that has to be made on the way.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) path: TargetPath,
    pub(super) mode: u32,
    pub(super) owner: Owner,
    /// Whether it gets its group from the folder above.
    pub(super) inherits: bool,
}

/// What a new thing gets from the folder that it is made in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub(super) owner: Owner,
    pub(super) inherits: bool,
}

impl<'a> Tree<'a> {
    pub(super) fn new(survey: &'a Survey) -> Self {
        Self {
            survey,
            changed: HashMap::new(),
            removed: HashSet::new(),
        }
    }

    /// Tells what is at a place by now.
    pub(super) fn get(&self, path: &TargetPath) -> Option<Seen> {
        if let Some(changed) = self.changed.get(path) {
            return Some(changed.clone());
        }
        if path.parent().is_none() {
            let owner = self.survey.identity;
            return Some(Seen::Directory { mode: 0o755, owner });
        }
        if !self.removed.is_empty() {
            let mut above = Some(path.clone());
            while let Some(path) = above {
                if self.removed.contains(&path) {
                    return None;
                }
                above = path.parent();
            }
        }
        self.survey.nodes.get(path).cloned()
    }

    /// Tells whether something was made or changed at a place.
    pub(super) fn is_changed(&self, path: &TargetPath) -> bool {
        self.changed.contains_key(path)
    }

    /// Puts something at a place.
    pub(super) fn set(&mut self, path: &TargetPath, seen: Seen) {
        self.changed.insert(path.clone(), seen);
    }

    /// Takes a place with all that is below away.
    pub(super) fn remove(&mut self, path: &TargetPath) {
        self.changed.retain(|other, _| other.below(path).is_none());
        self.removed.insert(path.clone());
    }

    /// Makes the folders on the way to a place, and returns those that were missing, outermost first.
    ///
    /// An error names what is in the way, in words.
    pub(super) fn make_parents(&mut self, path: &TargetPath) -> Result<Vec<Parent>, String> {
        let mut missing = Vec::new();
        let mut next = path.parent();
        while let Some(folder) = next {
            match self.get(&folder) {
                Some(Seen::Directory { .. }) => break,
                Some(other) => return Err(format!("{folder} is {}, not a folder", other.noun())),
                None => {
                    next = folder.parent();
                    missing.push(folder);
                }
            }
        }
        let mut parents = Vec::new();
        for path in missing.into_iter().rev() {
            let Given { owner, inherits } = self.given(&path);
            let mode = folder_mode(Given { owner, inherits });
            self.set(&path, Seen::Directory { mode, owner });
            parents.push(Parent {
                path,
                mode,
                owner,
                inherits,
            });
        }
        Ok(parents)
    }

    /// Tells who owns what is made at a place, if nothing else is said.
    pub(super) fn given(&self, path: &TargetPath) -> Given {
        let mut owner = self.survey.identity;
        let above = path.parent().and_then(|above| self.get(&above));
        let inherits = match above {
            Some(Seen::Directory { mode, owner: of }) if mode & SET_GROUP != 0 => {
                owner.gid = of.gid;
                true
            }
            _ => false,
        };
        Given { owner, inherits }
    }
}

/// Returns the mode of a new folder, if the config says nothing.
pub(super) fn folder_mode(given: Given) -> u32 {
    if given.inherits {
        PARENT_MODE | SET_GROUP
    } else {
        PARENT_MODE
    }
}

/// Returns what is left of a file's mode once its owner was set, as the kernel leaves it.
pub(super) fn after_chown(mode: u32) -> u32 {
    let group = if mode & 0o010 == 0 { 0 } else { SET_GROUP };
    mode & !(0o4000 | group)
}
