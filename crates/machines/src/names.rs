//! Names: of machines, and of what the kernel holds for them.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{MachineError, Result};

/// The longest name of a machine; it is a host name, and part of longer names.
const LONGEST: usize = 32;

/// The name of a machine, which is also its host name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MachineName(String);

impl MachineName {
    /// Takes a name if it can be a host name.
    pub fn new(name: &str) -> Result<Self> {
        let refuse = |reason| {
            Err(MachineError::BadName {
                name: name.to_owned(),
                reason,
            })
        };
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > LONGEST {
            return refuse("it must have 1 to 32 characters");
        }
        if !name.chars().all(fits) {
            return refuse("only a-z, 0-9 and - may be in it");
        }
        if name.starts_with('-') || name.ends_with('-') {
            return refuse("it may not begin or end with -");
        }
        Ok(Self(name.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for MachineName {
    type Error = MachineError;

    fn try_from(name: String) -> Result<Self> {
        Self::new(&name)
    }
}

impl From<MachineName> for String {
    fn from(name: MachineName) -> Self {
        name.0
    }
}

/// What tells the machines of one folder from those of another, in all names that the kernel sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabId(String);

impl LabId {
    /// Derives the id from the folder, so that it is found again without a record.
    pub(crate) fn of(folder: &Path) -> Self {
        // FNV-1a: stable across versions of Rust, unlike the hasher of std. It need not be secret,
        // and two folders of one computer do not meet in 64 bits.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in folder.as_os_str().as_encoded_bytes() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(format!("{hash:016x}"))
    }

    /// Returns the name of the folder's control groups.
    pub(crate) fn group(&self) -> String {
        format!("bootlace-{}", self.0)
    }

    /// Returns the name of the device that connects this computer with the machines.
    pub(crate) fn device(&self) -> String {
        // A device's name has at most 15 characters.
        let short = self.0.get(..12).unwrap_or(&self.0);
        format!("bl-{short}")
    }

    /// Returns the name by which systemd-nspawn knows a machine.
    pub(crate) fn container(&self, name: &MachineName) -> String {
        format!("bootlace-{}-{name}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_host_name() {
        for good in ["m1", "master-0", "a", &"x".repeat(32)] {
            assert_eq!(MachineName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "M1", "a.b", "../x", "-a", "a-", "a b", &"x".repeat(33)] {
            assert!(MachineName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn folders_have_ids_of_their_own_that_stay() {
        let id = |path: &str| LabId::of(Path::new(path));
        assert_eq!(id("/var/tmp/lab").group(), id("/var/tmp/lab").group());
        assert_ne!(id("/var/tmp/lab").group(), id("/var/tmp/lab2").group());
        assert_eq!(id("/a").group(), "bootlace-07d66707b49cd92d");
        assert_eq!(id("/a").device(), "bl-07d66707b49c");
        let name = MachineName::new("m1").unwrap();
        assert_eq!(id("/a").container(&name), "bootlace-07d66707b49cd92d-m1");
    }
}
