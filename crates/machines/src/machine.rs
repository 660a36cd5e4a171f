//! One machine's life: off, booting, running, off again; its disk stays until it is removed.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cgroups;
use crate::launch::{Launch, Places};
use crate::machines::Machines;
use crate::mounts;
use crate::names::MachineName;
use crate::network;
use crate::processes;
use crate::state::{self, MachineRecord};
use crate::wait::until;
use crate::{MachineError, Result};

/// How long the kernel may take to end what was killed, and to give back its groups.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// How long one question to the machine's systemd may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How many lines of the console are shown when a boot fails.
const CONSOLE_LINES: usize = 20;

/// A machine of a folder of machines.
#[derive(Debug, Clone)]
pub struct Machine {
    lab: Machines,
    record: MachineRecord,
    places: Places,
}

impl Machine {
    /// Takes a machine whose record is there.
    pub(crate) fn new(lab: Machines, record: MachineRecord) -> Self {
        let folder = lab.machine_folder(&record.name);
        Self {
            lab,
            record,
            places: Places { folder },
        }
    }

    /// Returns the machine's name, which is also its host name.
    pub fn name(&self) -> &MachineName {
        &self.record.name
    }

    /// Returns the machine's address on the bridge.
    pub fn address(&self) -> Ipv4Addr {
        self.record.address
    }

    /// Returns the file to which the machine prints its console.
    pub fn console(&self) -> PathBuf {
        self.places.console()
    }

    /// Returns where the machine's root is on this computer, once it was created or booted.
    ///
    /// While the machine runs, its temporary folders and disks are not seen from here.
    pub fn root(&self) -> PathBuf {
        self.places.root()
    }

    /// Returns where the machine's disk for containers is on this computer.
    pub fn disk(&self) -> PathBuf {
        self.places.disk()
    }

    /// Boots the machine and returns at once; it outlives the caller.
    pub fn boot(&self) -> Result<()> {
        let lock = self.lab.lock()?;
        if self.is_running()? {
            return Err(MachineError::Running {
                name: self.name().to_string(),
            });
        }
        let groups = self.groups()?;
        cgroups::remove(&groups, ENDS_WITHIN)?;
        let groups = self.lab.make_groups(&lock, self.name())?;
        network::ensure(self.lab.folder())?;
        let container = self.lab.id().container(self.name());
        network::drop_interface(self.lab.folder(), &container)?;
        self.mount()?;
        let launch = Launch {
            lab: self.lab.folder(),
            places: &self.places,
            record: &self.record,
            container,
            groups: &groups,
        };
        launch.start()
    }

    /// Waits until all services of a booting machine are up.
    pub fn wait_booted(&self, within: Duration) -> Result<()> {
        let mut last = String::from("; its first process was not seen");
        let booted = until(within, || {
            if !self.is_running()? {
                return Err(self.boot_failed());
            }
            if self.leader()?.is_none() {
                return Ok(None);
            }
            let asked = ["systemctl", "is-active", "multi-user.target"];
            match self.run(&asked, ANSWERS_WITHIN) {
                Ok(answer) if answer.code == 0 => Ok(Some(())),
                Ok(answer) => {
                    last = format!(
                        "; systemd says: {}{}",
                        answer.stdout.trim(),
                        answer.stderr.trim()
                    );
                    Ok(None)
                }
                // It may just end; the next look tells.
                Err(error) => {
                    last = format!("; {error}");
                    Ok(None)
                }
            }
        })?;
        booted.ok_or_else(|| MachineError::Deadline {
            what: format!("machine {} did not boot", self.name()),
            within,
            evidence: last,
        })
    }

    /// Tells whether anything of the machine runs.
    pub fn is_running(&self) -> Result<bool> {
        let found = cgroups::processes(&self.groups()?)?;
        Ok(found.into_iter().any(processes::is_alive))
    }

    /// Shuts the machine down in good order; kills nothing.
    pub fn power_off(&self, within: Duration) -> Result<()> {
        if !self.is_running()? {
            return Ok(());
        }
        self.tell_systemd("poweroff")?;
        let off = until(within, || Ok((!self.is_running()?).then_some(())))?;
        off.ok_or_else(|| MachineError::Deadline {
            what: format!("machine {} did not power off", self.name()),
            within,
            evidence: format!("; its console is {}", self.console().display()),
        })
    }

    /// Ends the machine as a power cut would: all at once, with nothing written any more.
    pub fn kill(&self) -> Result<()> {
        cgroups::kill(&self.groups()?, ENDS_WITHIN)
    }

    /// Reboots the machine in good order and waits until it is up again.
    pub fn reboot(&self, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        let before = self.leader()?;
        self.tell_systemd("reboot")?;
        let next = until(within, || {
            if !self.is_running()? {
                return Err(self.boot_failed());
            }
            Ok(self.leader()?.filter(|leader| Some(*leader) != before))
        })?;
        if next.is_none() {
            return Err(MachineError::Deadline {
                what: format!("machine {} did not go down for its reboot", self.name()),
                within,
                evidence: format!("; its console is {}", self.console().display()),
            });
        }
        self.wait_booted(deadline.saturating_duration_since(Instant::now()))
    }

    /// Kills the machine and removes all of it, its disk too.
    pub fn remove(self) -> Result<()> {
        let lock = self.lab.lock()?;
        self.remove_locked(&lock)
    }

    /// Removes the machine for a caller that holds the lock.
    pub(crate) fn remove_locked(&self, _lock: &fs::File) -> Result<()> {
        self.kill()?;
        mounts::unmount_below(&self.places.folder)?;
        cgroups::remove(&self.groups()?, ENDS_WITHIN)?;
        state::remove_folder(&self.places.folder)?;
        // systemd-nspawn leaves it when it is killed; the name is ours alone.
        let container = self.lab.id().container(self.name());
        state::remove_folder(&Path::new("/run/systemd/nspawn/propagate").join(container))
    }

    /// Mounts the machine's root, unless it is mounted.
    pub(crate) fn mount(&self) -> Result<()> {
        let root = self.places.root();
        let folders = [
            self.places.upper(),
            self.places.work(),
            root.clone(),
            self.places.disk(),
        ];
        for folder in &folders {
            state::folder(folder)?;
        }
        if mounts::is_mounted(&root)? {
            return Ok(());
        }
        let [upper, work, ..] = folders;
        mounts::overlay(&root, &self.record.layers, &upper, &work)
    }

    /// Returns the machine's own folder on this computer.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Finds the machine's first process, as the host numbers it; none if the machine is off.
    pub fn leader(&self) -> Result<Option<i32>> {
        let found = cgroups::processes(&self.groups()?)?;
        Ok(processes::leader(found).filter(|leader| processes::is_alive(*leader)))
    }

    fn groups(&self) -> Result<Vec<PathBuf>> {
        self.lab.groups_of(self.name())
    }

    fn tell_systemd(&self, verb: &str) -> Result<()> {
        let answer = self.run(&["systemctl", "--no-block", verb], ANSWERS_WITHIN)?;
        if answer.code == 0 {
            return Ok(());
        }
        Err(MachineError::Tool {
            command: format!("systemctl {verb}"),
            output: answer.stderr.trim().to_owned(),
        })
    }

    fn boot_failed(&self) -> MachineError {
        let code = fs::read_to_string(self.places.exit());
        let how = match code {
            Ok(code) => format!("with exit code {}", code.trim()),
            Err(_) => "killed by someone".into(),
        };
        let console = fs::read(self.places.console()).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines: Vec<&str> = console.lines().collect();
        let tail = lines.len().saturating_sub(CONSOLE_LINES);
        MachineError::BootFailed {
            name: self.name().to_string(),
            how,
            console: lines.get(tail..).unwrap_or_default().join("\n"),
        }
    }
}
