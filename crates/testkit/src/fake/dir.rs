//! Open folders of the fake host.

use std::fmt;

use bootlace_engine::port::{Dir, FileIdentity, HostError, HostResult, Stat};
use bootlace_model::node::{Attributes, Owner, SpecialKind, Xattrs};
use bootlace_model::path::TargetPath;

use super::errno::Errno;
use super::faults::OperationKind;
use super::inode::{Ino, Kind, Meta, MetaChange};
use super::port::ours;
use super::state::{IDENTITY, Pass, Shared, State, refusal};

/// An open folder; it keeps pointing to the same folder whatever is renamed around it.
pub(crate) struct FakeDir {
    pub(crate) shared: Shared,
    pub(crate) ino: Ino,
    pub(crate) life: u64,
    pub(crate) path: TargetPath,
    pub(crate) read_only: bool,
}

impl FakeDir {
    pub(crate) fn target(&self, name: &str) -> String {
        format!("{}/{name}", self.path.as_str().trim_end_matches('/'))
    }

    /// Answers a question about a name.
    fn look<T>(
        &self,
        act: &'static str,
        name: &str,
        answer: impl FnOnce(&State) -> Result<T, Errno>,
    ) -> HostResult<T> {
        let state = self.shared.alive(self.life)?;
        answer(&state).map_err(|errno| HostError::Io {
            act,
            target: self.target(name),
            error: errno.error(),
        })
    }

    /// Performs an operation that is done whole or not at all.
    fn change(
        &self,
        kind: OperationKind,
        name: &str,
        act: impl FnOnce(&mut State) -> Result<(), Errno>,
    ) -> HostResult<()> {
        self.change_in_parts(kind, name, |state, pass| {
            if pass.is_partial() {
                Ok(())
            } else {
                act(state)
            }
        })
    }

    /// Performs an operation of several system calls; `act` does a part of them if the pass says so.
    fn change_in_parts(
        &self,
        kind: OperationKind,
        name: &str,
        act: impl FnOnce(&mut State, &Pass) -> Result<(), Errno>,
    ) -> HostResult<()> {
        let target = self.target(name);
        let mut state = self.shared.alive(self.life)?;
        if self.read_only {
            return Err(HostError::ReadOnly { path: target });
        }
        let pass = state.begin(kind, &target)?;
        let done = act(&mut state, &pass).map_err(|errno| refusal(kind, &target, errno));
        state.end(pass, done)
    }
}

impl fmt::Debug for FakeDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeDir({}, inode {})", self.path, self.ino)
    }
}

impl Dir for FakeDir {
    fn path(&self) -> &TargetPath {
        &self.path
    }

    fn stat(&self, name: &str) -> HostResult<Option<Stat>> {
        self.look("look at", name, |state| {
            let Some(ino) = state.disk.lookup(self.ino, name)? else {
                return Ok(None);
            };
            let inode = state.disk.inode(ino)?;
            let Meta { mode, owner, .. } = inode.meta.now;
            Ok(Some(match &inode.kind {
                Kind::File(data) => Stat::File {
                    size: data.now.len() as u64,
                    mode,
                    owner,
                },
                Kind::Directory(_) => Stat::Directory { mode, owner },
                Kind::Link(target) => Stat::Link {
                    target: target.clone(),
                    owner,
                },
                Kind::Special(kind) => Stat::Special {
                    kind: *kind,
                    mode,
                    owner,
                },
            }))
        })
    }

    fn read(&self, name: &str, limit: u64) -> HostResult<Vec<u8>> {
        let content = self.look("read", name, |state| {
            let ino = state.disk.must_lookup(self.ino, name)?;
            state.disk.data(ino).cloned()
        })?;
        if content.len() as u64 > limit {
            return Err(HostError::TooLarge {
                target: self.target(name),
                limit,
            });
        }
        Ok(content.to_vec())
    }

    fn xattrs(&self, name: &str) -> HostResult<Xattrs> {
        self.look("read the attributes of", name, |state| {
            let ino = state.disk.must_lookup(self.ino, name)?;
            Ok(Xattrs(state.disk.inode(ino)?.meta.now.xattrs.clone()))
        })
    }

    fn list(&self) -> HostResult<Vec<String>> {
        let mut state = self.shared.alive(self.life)?;
        state.counters.listings += 1;
        let names = state.disk.names(self.ino);
        let names = names.map_err(|errno| HostError::Io {
            act: "list",
            target: self.path.to_string(),
            error: errno.error(),
        })?;
        Ok(names.iter().map(|(name, _)| name.to_owned()).collect())
    }

    fn create(&self, name: &str, content: &[u8], attributes: &Attributes) -> HostResult<()> {
        self.change_in_parts(OperationKind::Create, name, |state, pass| {
            if pass.is_tidied_up() {
                return Ok(());
            }
            let narrow = Meta::new(attributes.mode & 0o600, IDENTITY);
            let ino = state.disk.create_file(self.ino, name, narrow)?;
            if pass.is_partial() {
                let length = state.parts.index(content.len() + 1);
                return state.disk.write(ino, &content[..length]);
            }
            if !content.is_empty() {
                state.disk.write(ino, content)?;
            }
            give(state, ino, attributes, usize::MAX)
        })
    }

    fn append(&self, name: &str, content: &[u8]) -> HostResult<()> {
        self.change_in_parts(OperationKind::Append, name, |state, pass| {
            let ino = state.disk.must_lookup(self.ino, name)?;
            let length = state.part(pass, content.len());
            state.disk.append(ino, &content[..length])
        })
    }

    fn create_dir(&self, name: &str, attributes: &Attributes) -> HostResult<()> {
        self.change_in_parts(OperationKind::CreateDirectory, name, |state, pass| {
            if pass.is_tidied_up() {
                return Ok(());
            }
            let narrow = Meta::new(attributes.mode & 0o700, IDENTITY);
            let ino = state.disk.create_dir(self.ino, name, narrow)?;
            let most = if pass.is_partial() {
                state.parts.index(2)
            } else {
                usize::MAX
            };
            give(state, ino, attributes, most)
        })
    }

    fn create_hard_link(
        &self,
        name: &str,
        existing: &dyn Dir,
        existing_name: &str,
    ) -> HostResult<()> {
        let existing = ours(existing)?.ino;
        self.change(OperationKind::CreateLink, name, |state| {
            let ino = state.disk.must_lookup(existing, existing_name)?;
            state.disk.create_hard_link(self.ino, name, ino)
        })
    }

    fn identity(&self, name: &str) -> HostResult<Option<FileIdentity>> {
        self.look("look at", name, |state| {
            let inode = state.disk.lookup(self.ino, name)?;
            Ok(inode.map(|inode| FileIdentity { device: 1, inode }))
        })
    }

    fn create_special(
        &self,
        name: &str,
        kind: SpecialKind,
        attributes: &Attributes,
    ) -> HostResult<()> {
        self.change_in_parts(OperationKind::Create, name, |state, pass| {
            if pass.is_tidied_up() {
                return Ok(());
            }
            let narrow = Meta::new(attributes.mode & 0o600, IDENTITY);
            let ino = state.disk.create_special(self.ino, name, kind, narrow)?;
            let most = if pass.is_partial() {
                state.parts.index(2)
            } else {
                usize::MAX
            };
            give(state, ino, attributes, most)
        })
    }

    fn create_link(&self, name: &str, target: &str) -> HostResult<()> {
        self.change(OperationKind::CreateLink, name, |state| {
            state
                .disk
                .create_link(self.ino, name, target, IDENTITY)
                .map(|_| ())
        })
    }

    fn set_attributes(&self, name: &str, attributes: &Attributes) -> HostResult<()> {
        self.change_in_parts(OperationKind::SetAttributes, name, |state, pass| {
            let ino = state.disk.must_lookup(self.ino, name)?;
            let most = if pass.is_partial() {
                state.parts.index(3)
            } else {
                usize::MAX
            };
            give(state, ino, attributes, most)
        })
    }

    fn set_owner(&self, name: &str, owner: Owner) -> HostResult<()> {
        self.change(OperationKind::SetOwner, name, |state| {
            let ino = state.disk.must_lookup(self.ino, name)?;
            state.disk.change_meta(ino, MetaChange::Owner(owner))
        })
    }

    fn rename(&self, from: &str, to: &str) -> HostResult<()> {
        self.change(OperationKind::Rename, to, |state| {
            state.disk.rename(self.ino, from, to)
        })
    }

    fn remove(&self, name: &str) -> HostResult<()> {
        self.change(OperationKind::Remove, name, |state| {
            state.disk.unlink(self.ino, name)
        })
    }

    fn remove_dir(&self, name: &str) -> HostResult<()> {
        self.change(OperationKind::RemoveDirectory, name, |state| {
            state.disk.remove_dir(self.ino, name)
        })
    }
}

/// Gives attributes by at most so many system calls.
fn give(state: &mut State, ino: Ino, attributes: &Attributes, most: usize) -> Result<(), Errno> {
    for change in state
        .disk
        .changes_to(ino, attributes)?
        .into_iter()
        .take(most)
    {
        state.disk.change_meta(ino, change)?;
    }
    Ok(())
}
