//! Files of record: what was made, written down before it is made.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machines::Bind;
use crate::names::MachineName;
use crate::processes::Identity;
use crate::{MachineError, Result};

/// What a folder of machines has in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabRecord {
    /// Its control groups, one in each hierarchy.
    pub(crate) groups: Vec<PathBuf>,
}

/// What a machine is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineRecord {
    /// Its name.
    pub(crate) name: MachineName,
    /// Its address.
    pub(crate) address: Ipv4Addr,
    /// What its root is read from, the first on top.
    pub(crate) layers: Vec<PathBuf>,
    /// What of the host it sees.
    pub(crate) binds: Vec<Bind>,
}

/// A forwarder that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForwarderRecord {
    /// The process.
    pub(crate) process: Identity,
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// Where it connects to.
    pub(crate) target: SocketAddr,
}

/// Reads a record; none if it is not there.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(MachineError::file("read", path))?,
    };
    let record = serde_json::from_slice(&text).map_err(|error| MachineError::Record {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(Some(record))
}

/// Writes a record, whole or not at all.
pub(crate) fn write<T: Serialize>(path: &Path, record: &T) -> Result<()> {
    let text = serde_json::to_vec_pretty(record).map_err(|error| MachineError::Record {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    fs::write(&new, text).map_err(MachineError::file("write", &new))?;
    fs::rename(&new, path).map_err(MachineError::file("write", path))
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(MachineError::file("make the folder", path))
}

/// Removes a file; one that is not there is as good.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(MachineError::file("remove", path)),
    }
}

/// Removes a folder with all in it; one that is not there is as good.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(MachineError::file("remove", path)),
    }
}

/// Lists the names in a folder, sorted; none if it is not there.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(MachineError::file("list", path))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(MachineError::file("list", path))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
