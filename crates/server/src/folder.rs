//! A folder of pools.
//!
//! The layout is that of OpenShift's bootstrap server: `machine-pools/POOL.yaml` names the config in
//! `status.configuration.name`, and `machine-configs/NAME.yaml` holds it. Authorities may be in
//! `controller-config/machine-config-controller.yaml`.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::disk::{self, Fingerprint};
use crate::name::Name;
use crate::source::{Document, Mark, Unservable};
use crate::yaml;

/// What every file's name ends with.
const EXTENSION: &str = ".yaml";
/// Where the pools are.
const POOLS: &str = "machine-pools";
/// Where the configs are.
const CONFIGS: &str = "machine-configs";
/// Where the authorities are.
const CONTROLLER: &str = "controller-config/machine-config-controller.yaml";

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Lists the pools by name, also the broken ones.
    pub(crate) fn list(&self) -> Result<Vec<Name>, String> {
        let names = disk::names(&self.0.join(POOLS));
        let names =
            names.map_err(|error| format!("the folder of pools cannot be read: {error}"))?;
        let names = names.iter().filter_map(|name| name.strip_suffix(EXTENSION));
        Ok(names.filter_map(Name::parse).collect())
    }

    /// Names the file of a document, below the folder.
    pub(crate) fn place(document: &Document) -> String {
        match document {
            Document::Pool(name) => format!("{POOLS}/{}{EXTENSION}", name.as_str()),
            Document::Config(name) => format!("{CONFIGS}/{}{EXTENSION}", name.as_str()),
            Document::Controller | Document::BuiltImage(_) => CONTROLLER.to_owned(),
        }
    }

    /// Reads a document; none if there is no such file.
    pub(crate) fn document(
        &self,
        document: &Document,
        marks: &mut Vec<Mark>,
    ) -> Result<Option<Value>, Unservable> {
        if matches!(document, Document::BuiltImage(_)) {
            // Images are built by a cluster; before there is one, a pool names its image itself.
            return Ok(None);
        }
        let place = Self::place(document);
        let Some(content) = content(&self.0.join(&place), &place, marks)? else {
            // A folder that is gone is no reason to tell a machine for good that its pool is.
            if matches!(document, Document::Pool(_)) && !self.0.join(POOLS).is_dir() {
                return Err(Unservable::broken(POOLS, "there is no such folder"));
            }
            return Ok(None);
        };
        let document = yaml::parse(&content).map_err(|error| Unservable::broken(place, error))?;
        Ok(Some(document))
    }
}

/// Reads a file and notes in which state it was; none if there is none.
pub(crate) fn content(
    path: &Path,
    shown: &str,
    marks: &mut Vec<Mark>,
) -> Result<Option<Vec<u8>>, Unservable> {
    match disk::read(path) {
        Ok((content, found)) => {
            marks.push(Mark::File(path.to_owned(), Some(found)));
            Ok(Some(content))
        }
        Err(error) => {
            marks.push(Mark::File(path.to_owned(), Fingerprint::look(path)));
            // A name that no file can have is as good as missing: a retry never finds it.
            let is_missing = matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename
            );
            if is_missing && path.symlink_metadata().is_err() {
                return Ok(None);
            }
            Err(Unservable::Unreadable {
                place: shown.to_owned(),
                reason: format!("it cannot be read: {error}"),
            })
        }
    }
}
