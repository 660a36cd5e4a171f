//! The fake host below the engine's port.

use std::any::Any;
use std::time::Duration;

use bootlace_engine::port::{
    Command, Dir, FetchRequest, Host, HostError, HostResult, Lock, LogFile, Output, Signer,
};
use bootlace_host::pki;
use bootlace_model::ids::BootId;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::{CertificateFacts, CertificateRequest, KeyAlgorithm};
use bootlace_model::secret::Secret;

use super::dir::FakeDir;
use super::errno::Errno;
use super::faults::OperationKind;
use super::host::FakeHost;
use super::inode::{Ino, Kind, Meta};
use super::log::{FakeLock, FakeLog};
use super::running::NODE_NAME;
use super::state::{Held, IDENTITY, State, refusal};
use super::world::lost_way;

impl FakeHost {
    pub(super) fn alive(&self) -> HostResult<std::sync::MutexGuard<'_, State>> {
        let state = self.shared.lock();
        if state.crashed {
            Err(HostError::Crashed)
        } else {
            Ok(state)
        }
    }

    /// Opens or makes a file of mode 0600 in a folder.
    fn open_private(
        state: &mut State,
        kind: OperationKind,
        dir: &FakeDir,
        name: &str,
    ) -> HostResult<Ino> {
        let target = dir.target(name);
        let refused = |errno| refusal(kind, &target, errno);
        if let Some(ino) = state.disk.lookup(dir.ino, name).map_err(refused)? {
            state.disk.data(ino).map_err(refused)?;
            return Ok(ino);
        }
        if dir.read_only {
            return Err(HostError::ReadOnly { path: target });
        }
        let pass = state.begin(kind, &target)?;
        let made = if pass.is_partial() {
            Err(HostError::Crashed)
        } else {
            let narrow = Meta::new(0o600, IDENTITY);
            state
                .disk
                .create_file(dir.ino, name, narrow)
                .map_err(refused)
        };
        state.end(pass, made)
    }
}

impl State {
    /// Syncs what a name refers to; a link cannot be opened, so it cannot be synced by itself.
    fn sync_file(&mut self, dir: Ino, name: &str) -> Result<(), Errno> {
        let ino = self.disk.must_lookup(dir, name)?;
        match self.disk.inode(ino)?.kind {
            Kind::Link(_) => Err(Errno::ELOOP),
            Kind::Special(_) => Err(Errno::EINVAL),
            _ => self.disk.sync(ino),
        }
    }
}

/// Finds the fake folder behind a folder that the engine hands back.
pub(super) fn ours(dir: &dyn Dir) -> HostResult<&FakeDir> {
    let any: &dyn Any = dir;
    any.downcast_ref().ok_or_else(|| HostError::Io {
        act: "use",
        target: dir.path().to_string(),
        error: Errno::EINVAL.error(),
    })
}

impl Host for FakeHost {
    fn open_dir(&self, path: &TargetPath) -> HostResult<Option<Box<dyn Dir>>> {
        let state = self.alive()?;
        let text = path.as_str();
        let found = state
            .disk
            .walk(text)
            .map_err(|lost| lost_way("open", text, lost))?;
        let Some(ino) = found else { return Ok(None) };
        let names = state.disk.names(ino);
        names.map_err(|errno| lost_way("open", text, errno.into()))?;
        Ok(Some(Box::new(FakeDir {
            shared: self.shared.clone(),
            ino,
            life: state.life,
            path: path.clone(),
            read_only: state.inputs.iter().any(|input| path.below(input).is_some()),
        })))
    }

    fn sync_files(&self, files: &[(&dyn Dir, &str)]) -> HostResult<()> {
        let mut state = self.alive()?;
        let Some((first, name)) = files.first() else {
            return Ok(());
        };
        let kind = OperationKind::SyncFiles;
        let pass = state.begin(kind, &ours(*first)?.target(name))?;
        let most = state.part(&pass, files.len());
        let synced = files[..most].iter().try_for_each(|(dir, name)| {
            let dir = ours(*dir)?;
            if dir.life != state.life {
                return Err(HostError::Crashed);
            }
            let synced = state.sync_file(dir.ino, name);
            synced.map_err(|errno| refusal(kind, &dir.target(name), errno))
        });
        state.end(pass, synced)
    }

    fn sync_dirs(&self, dirs: &[&dyn Dir]) -> HostResult<()> {
        let mut state = self.alive()?;
        let Some(first) = dirs.first() else {
            return Ok(());
        };
        let kind = OperationKind::SyncDirectories;
        let pass = state.begin(kind, first.path().as_str())?;
        let most = state.part(&pass, dirs.len());
        let synced = dirs[..most].iter().try_for_each(|dir| {
            let dir = ours(*dir)?;
            if dir.life != state.life {
                return Err(HostError::Crashed);
            }
            let synced = state.disk.sync(dir.ino);
            synced.map_err(|errno| refusal(kind, dir.path.as_str(), errno))
        });
        state.end(pass, synced)
    }

    fn open_log(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn LogFile>> {
        let dir = ours(dir)?;
        let mut state = self.shared.alive(dir.life)?;
        let ino = Self::open_private(&mut state, OperationKind::OpenLog, dir, name)?;
        let (shared, path) = (self.shared.clone(), dir.target(name));
        Ok(Box::new(FakeLog {
            shared,
            ino,
            life: dir.life,
            path,
        }))
    }

    fn lock(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn Lock>> {
        let dir = ours(dir)?;
        let mut state = self.shared.alive(dir.life)?;
        let ino = Self::open_private(&mut state, OperationKind::Lock, dir, name)?;
        if let Some(held) = state.locks.get(&ino) {
            return Err(HostError::Locked {
                path: dir.target(name),
                holder: held.holder.clone(),
            });
        }
        let holder = format!("process {} (bootlace)", 4000 + state.life);
        state.locks.insert(
            ino,
            Held {
                holder,
                life: Some(dir.life),
            },
        );
        Ok(Box::new(FakeLock {
            shared: self.shared.clone(),
            ino,
            life: dir.life,
        }))
    }

    fn lock_holder(&self, dir: &dyn Dir, name: &str) -> HostResult<Option<String>> {
        let dir = ours(dir)?;
        let state = self.shared.alive(dir.life)?;
        let found = state.disk.lookup(dir.ino, name);
        let found = found.map_err(|e| refusal(OperationKind::Lock, &dir.target(name), e))?;
        let held = found.and_then(|ino| state.locks.get(&ino));
        Ok(held.map(|held| held.holder.clone()))
    }

    fn interrupt_holder(&self, dir: &dyn Dir, name: &str, _within: Duration) -> HostResult<()> {
        let dir = ours(dir)?;
        let mut state = self.shared.alive(dir.life)?;
        let found = state.disk.lookup(dir.ino, name);
        let found = found.map_err(|e| refusal(OperationKind::Lock, &dir.target(name), e))?;
        found.and_then(|ino| state.locks.remove(&ino));
        Ok(())
    }

    fn run(&self, command: &Command<'_>) -> HostResult<Output> {
        self.alive()?.run(command)
    }

    fn fetch(&self, request: &FetchRequest<'_>) -> HostResult<Vec<u8>> {
        self.alive()?.fetch(request)
    }

    fn http_status(&self, request: &FetchRequest<'_>) -> HostResult<u16> {
        self.alive()?.http_status(request)
    }

    fn make_key(&self, algorithm: KeyAlgorithm) -> HostResult<Secret> {
        drop(self.alive()?);
        pki::make_key(algorithm)
    }

    fn secret_bits(&self) -> HostResult<Secret> {
        drop(self.alive()?);
        pki::secret_bits()
    }

    fn public_key(&self, key: &Secret) -> HostResult<String> {
        drop(self.alive()?);
        pki::public_key(key)
    }

    fn issue(
        &self,
        request: &CertificateRequest,
        key: &Secret,
        signer: Signer<'_>,
    ) -> HostResult<String> {
        let now = self.alive()?.clock_shows();
        pki::issue(request, key, signer, now)
    }

    fn inspect(
        &self,
        certificate: &[u8],
        key: Option<&Secret>,
        issuer: Option<&[u8]>,
    ) -> HostResult<CertificateFacts> {
        drop(self.alive()?);
        pki::inspect(certificate, key, issuer)
    }

    fn now(&self) -> jiff::Timestamp {
        let mut state = self.shared.lock();
        let step = Duration::from_micros(1 + state.clock.below(2000));
        state.pass_time(step);
        state.clock_shows()
    }

    fn steady(&self) -> Duration {
        let mut state = self.shared.lock();
        let step = Duration::from_micros(1 + state.clock.below(2000));
        state.pass_time(step);
        state
            .now
            .duration_since(jiff::Timestamp::UNIX_EPOCH)
            .unsigned_abs()
    }

    fn sleep(&self, how_long: Duration) -> HostResult<()> {
        let mut state = self.alive()?;
        if state.stop {
            return Err(HostError::Stopped);
        }
        state.settle();
        state.pass_time(how_long);
        state.settle();
        Ok(())
    }

    fn stop_requested(&self) -> bool {
        self.shared.lock().stop
    }

    fn random(&self) -> u64 {
        self.shared.lock().random.roll()
    }

    fn boot_id(&self) -> HostResult<BootId> {
        let state = self.alive()?;
        Ok(BootId::new(format!(
            "00000000-0000-4000-8000-{:012x}",
            state.boots
        )))
    }

    fn host_name(&self) -> HostResult<String> {
        drop(self.alive()?);
        Ok(NODE_NAME.into())
    }

    fn identity(&self) -> Owner {
        IDENTITY
    }
}
