//! Folders and files, with errors that name them.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::LabError;

/// Lists the files below a folder, sorted, each by its path from there; none if it is not there.
pub(crate) fn below(folder: &Path) -> Result<Vec<String>, LabError> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(relative) = open.pop() {
        let path = folder.join(&relative);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && relative.is_empty() => {
                return Ok(found);
            }
            read => read.map_err(LabError::file("list", &path))?,
        };
        for entry in entries {
            let entry = entry.map_err(LabError::file("list", &path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if relative.is_empty() {
                name
            } else {
                format!("{relative}/{name}")
            };
            let kind = entry
                .file_type()
                .map_err(LabError::file("look at", &path))?;
            if kind.is_dir() {
                open.push(name);
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> Result<(), LabError> {
    fs::create_dir_all(path).map_err(LabError::file("make the folder", path))
}

/// Writes a file, and makes the folders above it.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), LabError> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    fs::write(path, content).map_err(LabError::file("write", path))
}

/// Writes a file that others may read meanwhile: they see the old one or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), LabError> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = std::path::PathBuf::from(new);
    write(&new, content)?;
    fs::rename(&new, path).map_err(LabError::file("write", path))
}

/// Copies a file with its mode, and makes the folders above it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), LabError> {
    if let Some(parent) = to.parent() {
        folder(parent)?;
    }
    fs::copy(from, to).map_err(LabError::file("copy", from))?;
    Ok(())
}

/// Removes a folder with all in it; one that is not there is as good.
pub(crate) fn remove_folder(path: &Path) -> Result<(), LabError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(LabError::file("remove", path)),
    }
}
