//! A folder of machines that is cleaned however a test ends.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use bootlace_lab::Lab;
use bootlace_machines::{Machine, MachineName, MachineSpec, Machines};

/// Plenty for a boot, even when the computer is busy.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// Machines of one test.
pub(crate) struct Rig {
    pub(crate) machines: Machines,
    lab: Lab,
    // Not on a temporary filesystem in memory: an overlay on it would do, but a disk is nearer to a machine.
    _folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let lab = Lab::load().unwrap_or_else(|error| panic!("{error}; {:?}", error.hints()));
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let machines = Machines::open(&folder.path().join("machines")).unwrap();
        Self {
            machines,
            lab,
            _folder: folder,
        }
    }

    /// Describes a machine by its name and the last part of its address.
    pub(crate) fn spec(&self, name: &str, last: u8) -> MachineSpec {
        MachineSpec {
            name: MachineName::new(name).unwrap(),
            address: Ipv4Addr::new(10, 90, 0, last),
            layers: self.lab.layers.clone(),
            images: None,
            binds: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Creates a machine and boots it.
    pub(crate) fn boot(&self, name: &str, last: u8) -> Machine {
        let machine = self.machines.create(self.spec(name, last)).unwrap();
        machine.boot().unwrap();
        machine.wait_booted(SOON).unwrap();
        machine
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // A test that failed tells why; what is left here would hide it.
        if let Err(error) = self.machines.clean()
            && !std::thread::panicking()
        {
            panic!("{error}");
        }
    }
}

/// Runs a shell's line in a machine; it must succeed. Returns what it printed.
pub(crate) fn shell(machine: &Machine, line: &str) -> String {
    let done = machine.run(&["sh", "-c", line], SOON).unwrap();
    assert_eq!(done.code, 0, "{line}: {}{}", done.stdout, done.stderr);
    done.stdout.trim().to_owned()
}

/// Lists the mounts at a folder and below it.
pub(crate) fn mounts_below(folder: &Path) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let at = |line: &str| line.split(' ').nth(4).unwrap_or_default().to_owned();
    table
        .lines()
        .map(at)
        .filter(|at| Path::new(at).starts_with(folder))
        .collect()
}
