//! Finding the programs of Kubernetes on this computer.

use std::path::{Path, PathBuf};

use bootlace_model::fault::Fault;
use serde::Deserialize;

use super::lab;

/// A program of each folder that is needed.
const NEEDED: [&str; 2] = ["kube-apiserver", "etcd"];

/// The folders of programs, as `make lab` wrote them down.
#[derive(Debug, Deserialize)]
struct Built {
    kubernetes: PathBuf,
    etcd: PathBuf,
}

/// The record of one checkout, in the cache.
#[derive(Debug, Deserialize)]
struct Record {
    programs: Built,
}

impl Built {
    /// Reads what was built: as the environment names it, else the latest of the cache.
    fn find() -> Result<Self, Fault> {
        let cannot = |file: &Path, error: serde_json::Error| {
            lab::missing(&format!("{} cannot be read: {error}", file.display()))
        };
        if let Some(file) = std::env::var_os("BOOTLACE_LAB") {
            let file = PathBuf::from(file);
            return serde_json::from_str(&lab::read(&file)?).map_err(|error| cannot(&file, error));
        }
        let nothing = || {
            lab::missing("neither PATH holds kube-apiserver and etcd, nor was anything prepared")
                .hint("or give the folders of kube-apiserver and etcd, each with --programs")
        };
        let file = lab::latest().ok_or_else(nothing)?;
        let record: Record =
            serde_json::from_str(&lab::read(&file)?).map_err(|error| cannot(&file, error))?;
        Ok(record.programs)
    }
}

/// Returns the folders of the control plane's programs: installed ones, else those that were built.
pub(crate) fn find() -> Result<Vec<PathBuf>, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Some(folders) = among(&installed) {
        return Ok(folders);
    }
    let Built { kubernetes, etcd } = Built::find()?;
    Ok(vec![kubernetes, etcd])
}

/// Returns the folders that hold what is needed; none if something is in none of them.
fn among(folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for program in NEEDED {
        let runs = |folder: &&PathBuf| folder.is_absolute() && is_program(&folder.join(program));
        let folder = folders.iter().find(runs)?;
        if !found.contains(folder) {
            found.push(folder.clone());
        }
    }
    Some(found)
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
