//! Open folders, each opened once while something is being done in it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::node::{Attributes, NodeState};
use bootlace_model::path::TargetPath;

use crate::effects::UnitLinks;
use crate::port::{Dir, Host, HostError, HostResult, Stat};

/// The largest file that is read as a whole, be it to keep it for undo or to compare it.
pub(crate) const LARGEST_FILE: u64 = 256 << 20;

/// The mode of folders that are made on the way to something.
pub(crate) const PARENT_MODE: u32 = 0o755;

/// A folder that is open in several places.
pub(crate) type OpenDir = Arc<dyn Dir>;

/// Folders opened through the host, remembered by path.
///
/// A handle keeps pointing to the folder that was looked at, whatever is renamed around it.
pub(crate) struct Folders<'a> {
    host: &'a dyn Host,
    open: RefCell<HashMap<TargetPath, Option<Arc<dyn Dir>>>>,
    unit_links: RefCell<Option<Arc<UnitLinks>>>,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self {
            host,
            open: RefCell::default(),
            unit_links: RefCell::default(),
        }
    }

    pub(crate) fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// Opens a folder; none if it is absent.
    pub(crate) fn open(&self, path: &TargetPath) -> HostResult<Option<Arc<dyn Dir>>> {
        if let Some(known) = self.open.borrow().get(path) {
            return Ok(known.clone());
        }
        let dir: Option<Arc<dyn Dir>> = self.host.open_dir(path)?.map(Arc::from);
        self.open.borrow_mut().insert(path.clone(), dir.clone());
        Ok(dir)
    }

    /// Opens the folder that holds a path; none if it is absent, or if something else is in its place.
    /// The root is held by nothing.
    pub(crate) fn holding(&self, path: &TargetPath) -> HostResult<Option<Arc<dyn Dir>>> {
        match path.parent().map(|parent| self.open(&parent)) {
            None => Ok(None),
            // Nothing is below a file.
            Some(Err(HostError::Io { error, .. })) if error.kind() == ErrorKind::NotADirectory => {
                Ok(None)
            }
            Some(opened) => opened,
        }
    }

    /// Returns the links between units, which are looked at once.
    pub(crate) fn unit_links(
        &self,
        look: impl FnOnce(&Self) -> Result<UnitLinks, Fault>,
    ) -> Result<Arc<UnitLinks>, Fault> {
        if let Some(known) = &*self.unit_links.borrow() {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(look(self)?);
        *self.unit_links.borrow_mut() = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Forgets a folder, because it was just made or removed.
    pub(crate) fn forget(&self, path: &TargetPath) {
        self.open.borrow_mut().remove(path);
    }

    /// Lists the folders above a path that are missing, outermost first.
    pub(crate) fn missing_parents(&self, path: &TargetPath) -> HostResult<Vec<TargetPath>> {
        let mut missing = Vec::new();
        let mut next = path.parent();
        while let Some(folder) = next {
            if self.open(&folder)?.is_some() {
                break;
            }
            next = folder.parent();
            missing.push(folder);
        }
        missing.reverse();
        Ok(missing)
    }

    /// Opens the folder that holds a path, making it and those above it if needed.
    ///
    /// Returns the folders in which a name was made, too, because they have to be synced.
    pub(crate) fn make_holding(
        &self,
        path: &TargetPath,
    ) -> HostResult<(Option<OpenDir>, Vec<OpenDir>)> {
        let mut changed = Vec::new();
        for folder in self.missing_parents(path)? {
            if let Some(above) = self.holding(&folder)? {
                match above.create_dir(folder.name(), &Attributes::mode(PARENT_MODE)) {
                    // A step that runs beside this one needed the same folder.
                    Err(HostError::Io { error, .. })
                        if error.kind() == ErrorKind::AlreadyExists => {}
                    other => other?,
                }
                changed.push(above);
            }
            self.forget(&folder);
        }
        Ok((self.holding(path)?, changed))
    }

    /// Tells what is at a path, content included.
    pub(crate) fn look(&self, path: &TargetPath) -> HostResult<NodeState> {
        let Some(dir) = self.holding(path)? else {
            return Ok(NodeState::Absent);
        };
        look_in(dir.as_ref(), path.name())
    }

    /// Tells what is at a path, and returns the content of a file with it.
    pub(crate) fn look_and_keep(
        &self,
        path: &TargetPath,
    ) -> HostResult<(NodeState, Option<Vec<u8>>)> {
        let Some(dir) = self.holding(path)? else {
            return Ok((NodeState::Absent, None));
        };
        look_and_keep_in(dir.as_ref(), path.name())
    }

    /// Reads a regular file; none if it is absent or its folder is.
    pub(crate) fn read(&self, path: &TargetPath, limit: u64) -> HostResult<Option<Vec<u8>>> {
        let Some(dir) = self.holding(path)? else {
            return Ok(None);
        };
        match dir.stat(path.name())? {
            None => Ok(None),
            Some(_) => dir.read(path.name(), limit).map(Some),
        }
    }
}

/// Tells what a name in a folder is, content included.
pub(crate) fn look_in(dir: &dyn Dir, name: &str) -> HostResult<NodeState> {
    let Some(stat) = dir.stat(name)? else {
        return Ok(NodeState::Absent);
    };
    let digest = match &stat {
        Stat::File { .. } => Some(dir.digest(name, LARGEST_FILE)?),
        _ => None,
    };
    node_state(dir, name, stat, digest)
}

fn look_and_keep_in(dir: &dyn Dir, name: &str) -> HostResult<(NodeState, Option<Vec<u8>>)> {
    let Some(stat) = dir.stat(name)? else {
        return Ok((NodeState::Absent, None));
    };
    let content = match &stat {
        Stat::File { .. } => Some(dir.read(name, LARGEST_FILE)?),
        _ => None,
    };
    let digest = content.as_ref();
    let digest = digest.map(|content| (Digest::of(content), content.len() as u64));
    Ok((node_state(dir, name, stat, digest)?, content))
}

fn node_state(
    dir: &dyn Dir,
    name: &str,
    stat: Stat,
    digest: Option<(Digest, u64)>,
) -> HostResult<NodeState> {
    Ok(match (stat, digest) {
        (Stat::File { mode, owner, .. }, Some((digest, size))) => NodeState::File {
            digest,
            size,
            mode,
            owner,
            xattrs: dir.xattrs(name)?,
        },
        (Stat::File { .. }, None) => NodeState::Absent,
        (Stat::Directory { mode, owner }, _) => NodeState::Directory {
            mode,
            owner,
            xattrs: dir.xattrs(name)?,
        },
        (Stat::Link { target, owner }, _) => NodeState::Link { target, owner },
        (Stat::Special { kind, mode, owner }, _) => NodeState::Special { kind, mode, owner },
        (Stat::Other(what), _) => NodeState::Other { what },
    })
}
