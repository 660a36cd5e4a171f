//! Growing files and locks of the fake host.

use std::fmt;

use bootlace_engine::port::{HostError, HostResult, Lock, LogFile, LogSync};

use super::faults::OperationKind;
use super::inode::Ino;
use super::state::{Shared, State, refusal};

/// A growing file of the fake host.
pub(crate) struct FakeLog {
    pub(crate) shared: Shared,
    pub(crate) ino: Ino,
    pub(crate) life: u64,
    pub(crate) path: String,
}

impl fmt::Debug for FakeLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeLog({}, inode {})", self.path, self.ino)
    }
}

impl FakeLog {
    fn content(&self) -> HostResult<std::sync::Arc<Vec<u8>>> {
        let state = self.shared.alive(self.life)?;
        state
            .disk
            .data(self.ino)
            .cloned()
            .map_err(|errno| HostError::Io {
                act: "read",
                target: self.path.clone(),
                error: errno.error(),
            })
    }
}

impl LogFile for FakeLog {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> HostResult<usize> {
        let content = self.content()?;
        let offset = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(content.len());
        let length = buffer.len().min(content.len() - offset);
        buffer[..length].copy_from_slice(&content[offset..offset + length]);
        Ok(length)
    }

    fn length(&self) -> HostResult<u64> {
        Ok(self.content()?.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> HostResult<()> {
        let kind = OperationKind::Append;
        let mut state = self.shared.alive(self.life)?;
        let pass = state.begin(kind, &self.path)?;
        let length = state.part(&pass, bytes.len());
        let done = state.disk.append(self.ino, &bytes[..length]);
        let done = done.map_err(|errno| refusal(kind, &self.path, errno));
        state.end(pass, done)
    }

    fn truncate(&mut self, length: u64) -> HostResult<()> {
        let kind = OperationKind::Truncate;
        let mut state = self.shared.alive(self.life)?;
        let pass = state.begin(kind, &self.path)?;
        let done = if pass.is_partial() {
            Ok(())
        } else {
            state.disk.truncate(self.ino, length)
        };
        let done = done.map_err(|errno| refusal(kind, &self.path, errno));
        state.end(pass, done)
    }

    fn syncer(&self) -> HostResult<Box<dyn LogSync>> {
        drop(self.shared.alive(self.life)?);
        let (shared, path) = (self.shared.clone(), self.path.clone());
        Ok(Box::new(FakeSync {
            shared,
            ino: self.ino,
            life: self.life,
            path,
        }))
    }
}

/// Makes a growing file of the fake host durable.
struct FakeSync {
    shared: Shared,
    ino: Ino,
    life: u64,
    path: String,
}

impl fmt::Debug for FakeSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeSync({}, inode {})", self.path, self.ino)
    }
}

impl LogSync for FakeSync {
    fn sync(&self) -> HostResult<()> {
        let kind = OperationKind::SyncLog;
        let mut state = self.shared.alive(self.life)?;
        let pass = state.begin(kind, &self.path)?;
        let State { disk, parts, .. } = &mut *state;
        let done = if pass.is_partial() {
            disk.sync_up_to(self.ino, parts)
        } else {
            disk.sync(self.ino)
        };
        let done = done.map_err(|errno| refusal(kind, &self.path, errno));
        state.end(pass, done)
    }
}

/// A lock that the fake process holds.
pub(crate) struct FakeLock {
    pub(crate) shared: Shared,
    pub(crate) ino: Ino,
    pub(crate) life: u64,
}

impl fmt::Debug for FakeLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeLock(inode {})", self.ino)
    }
}

impl Lock for FakeLock {}

impl Drop for FakeLock {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state
            .locks
            .get(&self.ino)
            .is_some_and(|held| held.life == Some(self.life))
        {
            state.locks.remove(&self.ino);
        }
    }
}
