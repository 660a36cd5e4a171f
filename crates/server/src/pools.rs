//! The folder of pools: from the name of a pool to everything that its config is made of.
//!
//! The layout is that of OpenShift's bootstrap server: `machine-pools/POOL.yaml` names the config in
//! `status.configuration.name`, and `machine-configs/NAME.yaml` holds it. Authorities may be in
//! `controller-config/machine-config-controller.yaml`.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::disk::{self, Fingerprint};
use crate::yaml;

/// The longest name that Kubernetes allows.
const LONGEST_NAME: usize = 253;
/// What every file's name ends with.
const EXTENSION: &str = ".yaml";
/// Where the pools are.
const POOLS: &str = "machine-pools";
/// Where the configs are.
const CONFIGS: &str = "machine-configs";
/// Where the authorities are.
const CONTROLLER: &str = "controller-config/machine-config-controller.yaml";
/// Which authority of the controller goes where on the machine.
const AUTHORITIES: [(&str, &str); 2] = [
    (
        "kubeAPIServerServingCAData",
        "/etc/kubernetes/kubelet-ca.crt",
    ),
    (
        "cloudProviderCAData",
        "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem",
    ),
];

/// Where configs come from.
#[derive(Debug, Clone)]
pub(crate) struct Pools {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// The kubeconfig that every machine gets.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Registries and the authorities that machines shall trust for them.
    pub(crate) certificates: Vec<(String, PathBuf)>,
}

/// The name of a pool or a config: one plain part of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(String);

impl Name {
    /// Takes a name if it cannot be anything but a name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_name = text.len() <= LONGEST_NAME
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.bytes().all(is_plain);
        is_name.then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// All that a pool's config is made of.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name of the config.
    pub(crate) config: Name,
    /// The config, as a Kubernetes object.
    pub(crate) machine_config: Value,
    /// Authorities of the cluster: path on the machine and content.
    pub(crate) authorities: Vec<(&'static str, Vec<u8>)>,
    /// The kubeconfig that the machine gets.
    pub(crate) kubeconfig: Option<Vec<u8>>,
    /// Registries and their authorities.
    pub(crate) certificates: Vec<(String, Vec<u8>)>,
}

/// Why a pool is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unservable {
    /// There is none of that name.
    Unknown,
    /// Something is wrong with one of its files.
    Broken {
        /// The file, as it is named below the folder.
        file: String,
        /// What is wrong.
        reason: String,
    },
}

/// What came of reading a pool, and the state of each file that it came from.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The files in the state in which they were read; none where there was none.
    pub(crate) files: Vec<(PathBuf, Option<Fingerprint>)>,
    /// What came of it.
    pub(crate) source: Result<Source, Unservable>,
}

impl Reading {
    /// Tells whether every file is still as it was read.
    pub(crate) fn still_holds(files: &[(PathBuf, Option<Fingerprint>)]) -> bool {
        let mut files = files.iter();
        files.all(|(path, found)| Fingerprint::look(path) == *found)
    }
}

impl Pools {
    /// Lists the pools by name, also the broken ones.
    pub(crate) fn list(&self) -> io::Result<Vec<Name>> {
        let names = disk::names(&self.folder.join(POOLS))?;
        let names = names.iter().filter_map(|name| name.strip_suffix(EXTENSION));
        Ok(names.filter_map(Name::parse).collect())
    }

    /// Reads everything that a pool's config is made of.
    pub(crate) fn read(&self, pool: &Name) -> Reading {
        let mut reader = Reader {
            pools: self,
            files: vec![],
        };
        let source = reader.source(pool);
        Reading {
            files: reader.files,
            source,
        }
    }
}

/// Reads files and remembers in which state they were.
struct Reader<'p> {
    pools: &'p Pools,
    files: Vec<(PathBuf, Option<Fingerprint>)>,
}

impl Reader<'_> {
    fn source(&mut self, pool: &Name) -> Result<Source, Unservable> {
        let file = format!("{POOLS}/{}{EXTENSION}", pool.0);
        let document = match self.document(&file)? {
            Some(document) => document,
            // A folder that is gone is no reason to tell a machine for good that its pool is.
            None if self.pools.folder.join(POOLS).is_dir() => return Err(Unservable::Unknown),
            None => return Err(broken(POOLS, "there is no such folder")),
        };
        let name = document.pointer("/status/configuration/name");
        let name = name.and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(broken(&file, "status.configuration.name names no config"));
        }
        let Some(config) = Name::parse(name) else {
            return Err(broken(
                &file,
                "status.configuration.name is not the name of a config",
            ));
        };
        let file = format!("{CONFIGS}/{}{EXTENSION}", config.0);
        let machine_config = self.document(&file)?;
        let machine_config =
            machine_config.ok_or_else(|| broken(&file, "there is no such file"))?;
        if !machine_config.is_object() {
            return Err(broken(&file, "it is not a MachineConfig"));
        }
        Ok(Source {
            config,
            machine_config,
            authorities: self.authorities()?,
            kubeconfig: self.kubeconfig()?,
            certificates: self.certificates()?,
        })
    }

    fn authorities(&mut self) -> Result<Vec<(&'static str, Vec<u8>)>, Unservable> {
        let Some(document) = self.document(CONTROLLER)? else {
            return Ok(vec![]);
        };
        let mut authorities = Vec::new();
        for (field, path) in AUTHORITIES {
            let Some(text) = document["spec"][field].as_str() else {
                continue;
            };
            let content = STANDARD.decode(text.split_whitespace().collect::<String>());
            let content =
                content.map_err(|_| broken(CONTROLLER, format!("spec.{field} is not base64")))?;
            if !content.is_empty() {
                authorities.push((path, content));
            }
        }
        Ok(authorities)
    }

    fn kubeconfig(&mut self) -> Result<Option<Vec<u8>>, Unservable> {
        let Some(path) = &self.pools.kubeconfig else {
            return Ok(None);
        };
        self.needed(path).map(Some)
    }

    fn certificates(&mut self) -> Result<Vec<(String, Vec<u8>)>, Unservable> {
        let certificates = self.pools.certificates.iter();
        certificates
            .map(|(registry, path)| Ok((registry.clone(), self.needed(path)?)))
            .collect()
    }

    /// Reads a file that was named on the command line.
    fn needed(&mut self, path: &Path) -> Result<Vec<u8>, Unservable> {
        let shown = path.display().to_string();
        let content = self.content(path, &shown)?;
        content.ok_or_else(|| broken(&shown, "there is no such file"))
    }

    /// Reads a document below the folder; none if there is no such file.
    fn document(&mut self, file: &str) -> Result<Option<Value>, Unservable> {
        let Some(content) = self.content(&self.pools.folder.join(file), file)? else {
            return Ok(None);
        };
        let document = yaml::parse(&content).map_err(|error| broken(file, error))?;
        Ok(Some(document))
    }

    fn content(&mut self, path: &Path, shown: &str) -> Result<Option<Vec<u8>>, Unservable> {
        match disk::read(path) {
            Ok((content, found)) => {
                self.files.push((path.to_owned(), Some(found)));
                Ok(Some(content))
            }
            Err(error) => {
                self.files.push((path.to_owned(), Fingerprint::look(path)));
                match error.kind() {
                    io::ErrorKind::NotFound => Ok(None),
                    _ => Err(broken(shown, format!("it cannot be read: {error}"))),
                }
            }
        }
    }
}

fn broken(file: &str, reason: impl Into<String>) -> Unservable {
    Unservable::Broken {
        file: file.to_owned(),
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests;
