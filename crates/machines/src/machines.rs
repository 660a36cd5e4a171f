//! A folder of machines that share a network.

use std::fs::{self, File, TryLockError};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cgroups;
use crate::forwarder;
use crate::machine::Machine;
use crate::mounts;
use crate::names::{LabId, MachineName};
use crate::network;
use crate::preflight;
use crate::seed;
use crate::state::{self, LabRecord, MachineRecord};
use crate::wait::until;
use crate::{MachineError, Result};

/// How long is waited for another process that changes the same folder.
const LOCKED_WITHIN: Duration = Duration::from_mins(1);

/// How long the kernel may take to end what was killed, and to give back its groups.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// Where a machine reads its address from when it boots.
const ADDRESS_FILE: &str = "/etc/lab/network.env";

/// What of the host a machine sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// The file or folder of the host.
    pub from: PathBuf,
    /// Where the machine sees it.
    pub to: PathBuf,
    /// Whether the machine may not change it.
    pub read_only: bool,
}

/// A file that is put into a machine when it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedFile {
    /// Where, in the machine.
    pub path: PathBuf,
    /// Its mode, such as `0o600`.
    pub mode: u32,
    /// What is in it.
    pub content: Vec<u8>,
}

/// What a machine shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineSpec {
    /// Its name, which is also its host name.
    pub name: MachineName,
    /// Its address, of the network of [`Machines::BRIDGE`].
    pub address: Ipv4Addr,
    /// What its root is read from, the first on top; they are never changed.
    pub layers: Vec<PathBuf>,
    /// What its disk for containers begins with: a folder that was `/var/lib/containerd` of a machine.
    pub images: Option<PathBuf>,
    /// What of the host it sees.
    pub binds: Vec<Bind>,
    /// Files that it has besides.
    pub files: Vec<SeedFile>,
}

/// A folder of machines that share a network; the way to all of them.
#[derive(Debug, Clone)]
pub struct Machines {
    folder: PathBuf,
    id: LabId,
}

impl Machines {
    /// The address of the bridge, as machines see it.
    pub const BRIDGE: Ipv4Addr = network::BRIDGE;

    /// Takes a folder, which is made if it is not there; its filesystem may not be an overlay.
    pub fn open(folder: &Path) -> Result<Self> {
        state::folder(folder)?;
        let folder = folder
            .canonicalize()
            .map_err(MachineError::file("find", folder))?;
        let id = LabId::of(&folder);
        Ok(Self { folder, id })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a machine, which is off; nothing of it is left if that fails.
    pub fn create(&self, spec: MachineSpec) -> Result<Machine> {
        preflight::require()?;
        self.check(&spec)?;
        let lock = self.lock()?;
        let folder = self.machine_folder(&spec.name);
        if folder.exists() {
            return Err(MachineError::Exists {
                name: spec.name.to_string(),
                lab: self.folder.clone(),
            });
        }
        let record = MachineRecord {
            name: spec.name,
            address: spec.address,
            layers: spec.layers,
            binds: spec.binds,
        };
        let machine = Machine::new(self.clone(), record.clone());
        let mut files = spec.files;
        files.push(SeedFile {
            path: ADDRESS_FILE.into(),
            mode: 0o644,
            content: format!("ADDRESS={}/{}\n", record.address, network::PREFIX).into_bytes(),
        });
        match fill(&machine, &record, &files, spec.images.as_deref()) {
            Ok(()) => Ok(machine),
            Err(error) => {
                machine.remove_locked(&lock)?;
                Err(error)
            }
        }
    }

    /// Returns a machine that was created, by whatever process.
    pub fn machine(&self, name: &MachineName) -> Result<Machine> {
        let path = self.machine_folder(name).join("machine.json");
        match state::read(&path)? {
            Some(record) => Ok(Machine::new(self.clone(), record)),
            None => Err(MachineError::Unknown {
                name: name.to_string(),
                lab: self.folder.clone(),
            }),
        }
    }

    /// Lists the machines by name.
    pub fn list(&self) -> Result<Vec<Machine>> {
        let names = state::names(&self.machines_folder())?;
        let names = names.iter().filter_map(|name| MachineName::new(name).ok());
        names.map(|name| self.machine(&name)).collect()
    }

    /// Removes all that was ever made in this folder, and the folder.
    ///
    /// What a crashed process left is found by the records, by the names of control groups and by the
    /// mounts below the folder. Nothing else is touched.
    pub fn clean(&self) -> Result<()> {
        let lock = self.lock()?;
        forwarder::stop_all(&self.folder)?;
        self.disconnect_host()?;
        let groups = self.lab_groups()?;
        cgroups::kill(&groups, ENDS_WITHIN)?;
        for name in state::names(&self.machines_folder())? {
            if let Ok(name) = MachineName::new(&name) {
                let leftover =
                    Path::new("/run/systemd/nspawn/propagate").join(self.id.container(&name));
                state::remove_folder(&leftover)?;
            }
        }
        mounts::unmount_below(&self.folder)?;
        cgroups::remove(&groups, ENDS_WITHIN)?;
        state::remove_folder(&self.machines_folder())?;
        forwarder::forget_all(&self.folder)?;
        for file in [
            network::namespace(&self.folder),
            self.record_file(),
            self.lock_file(),
        ] {
            state::remove_file(&file)?;
        }
        drop(lock);
        // What others put into the folder stays, and the folder with it.
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(MachineError::file("remove", &self.folder)),
        }
    }

    /// Refuses what cannot be a machine before anything is made.
    fn check(&self, spec: &MachineSpec) -> Result<()> {
        let refuse = |reason: String| Err(MachineError::Unable { reason });
        if !network::has_room_for(spec.address) {
            let bridge = network::BRIDGE;
            return refuse(format!(
                "{} is not an address beside {bridge}",
                spec.address
            ));
        }
        if spec.layers.is_empty() {
            return refuse(format!("machine {} has no root", spec.name));
        }
        let hosts = spec.binds.iter().map(|bind| &bind.from);
        for path in spec.layers.iter().chain(&spec.images).chain(hosts) {
            if !path.exists() || !path.is_absolute() {
                return refuse(format!(
                    "{} is not there, or not an absolute path",
                    path.display()
                ));
            }
        }
        let targets = spec.binds.iter().map(|bind| &bind.to);
        let hosts = spec.binds.iter().map(|bind| &bind.from);
        let mut paths = hosts.chain(targets).chain([&self.folder]);
        let odd = |path: &&PathBuf| path.to_string_lossy().contains([':', '\\', '\n']);
        match paths.find(odd) {
            Some(path) => refuse(format!(
                "{} has a character that cannot be passed on",
                path.display()
            )),
            None => Ok(()),
        }
    }

    /// Returns the id that is part of all names of this folder.
    pub(crate) fn id(&self) -> &LabId {
        &self.id
    }

    /// Returns the folder of one machine.
    pub(crate) fn machine_folder(&self, name: &MachineName) -> PathBuf {
        self.machines_folder().join(name.as_str())
    }

    /// Waits until no other process changes this folder, and keeps others out.
    pub(crate) fn lock(&self) -> Result<File> {
        let path = self.lock_file();
        state::folder(&self.folder)?;
        let taken = until(LOCKED_WITHIN, || {
            let file = File::create(&path).map_err(MachineError::file("open", &path))?;
            match file.try_lock() {
                // Whoever cleaned the folder removed the file that it had locked.
                Ok(()) if is_at(&file, &path) => Ok(Some(file)),
                Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(MachineError::file("lock", &path)(error)),
            }
        })?;
        taken.ok_or_else(|| MachineError::Deadline {
            what: format!("another process did not let go of {}", path.display()),
            within: LOCKED_WITHIN,
            evidence: String::new(),
        })
    }

    /// Returns the control groups of one machine; they may not be there.
    pub(crate) fn groups_of(&self, name: &MachineName) -> Result<Vec<PathBuf>> {
        let groups = self.recorded_groups()?;
        Ok(groups
            .iter()
            .map(|group| group.join(name.as_str()))
            .collect())
    }

    /// Makes the control groups of one machine.
    pub(crate) fn make_groups(&self, _lock: &File, name: &MachineName) -> Result<Vec<PathBuf>> {
        let mut groups = self.recorded_groups()?;
        // A group that was made below a caller's group is gone when that was removed.
        if groups.is_empty()
            || !groups
                .iter()
                .all(|group| group.parent().is_some_and(Path::exists))
        {
            groups = self.own_groups()?;
            let record = LabRecord {
                groups: groups.clone(),
            };
            state::write(&self.record_file(), &record)?;
        }
        let mut made = Vec::new();
        for group in groups {
            cgroups::make(&group)?;
            let group = group.join(name.as_str());
            cgroups::make(&group)?;
            made.push(group);
        }
        Ok(made)
    }

    /// Lists the groups of this folder: those on record, and those of the same name beside the caller.
    fn lab_groups(&self) -> Result<Vec<PathBuf>> {
        let mut groups = self.recorded_groups()?;
        for group in self.own_groups()? {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    fn recorded_groups(&self) -> Result<Vec<PathBuf>> {
        let record: Option<LabRecord> = state::read(&self.record_file())?;
        Ok(record.map(|record| record.groups).unwrap_or_default())
    }

    fn own_groups(&self) -> Result<Vec<PathBuf>> {
        let own = cgroups::own()?;
        Ok(own
            .iter()
            .map(|group| group.join(self.id.group()))
            .collect())
    }

    fn machines_folder(&self) -> PathBuf {
        self.folder.join("machines")
    }

    fn record_file(&self) -> PathBuf {
        self.folder.join("lab.json")
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.join("lock")
    }
}

/// Makes all of a new machine that is there before it boots.
fn fill(
    machine: &Machine,
    record: &MachineRecord,
    files: &[SeedFile],
    images: Option<&Path>,
) -> Result<()> {
    let places = machine.places();
    state::folder(&places.folder)?;
    state::write(&places.record(), record)?;
    machine.mount()?;
    if let Some(images) = images {
        seed::disk(images, &places.disk())?;
    }
    files
        .iter()
        .try_for_each(|file| seed::write(&machine.root(), file))
}

/// Tells whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata().map(place), fs::metadata(path).map(place)) {
        (Ok(open), Ok(there)) => open == there,
        _ => false,
    }
}
