//! Pools and configs of a Kubernetes cluster, as they were when its API last told.
//!
//! Only those configs are held that a pool names: a cluster keeps every config that it ever rendered,
//! and each may be more than a megabyte. A pool that names another config is taken over together with
//! that config, so that what is served is whole also if the API goes away in between.

mod access;
mod builds;
mod refusal;
mod watch;

pub use access::ClusterAccess;
pub(crate) use access::connect;
pub(crate) use watch::watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use crate::name::Name;
use crate::source::{Document, Mark, Unservable};

/// The group of the objects that are served from.
const GROUP: &str = "machineconfiguration.openshift.io";

/// An object, and the version in which it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    version: String,
    value: Arc<Value>,
}

/// What the API told.
#[derive(Debug, Default)]
pub(crate) struct Store(RwLock<Told>);

#[derive(Debug, Default)]
struct Told {
    /// The pools that are served from.
    pools: BTreeMap<Name, Held>,
    /// All pools that there are, also those whose config is not read yet; none before the first answer.
    announced: Option<BTreeSet<Name>>,
    /// The configs that were read; none for one that is not there.
    configs: BTreeMap<Name, Option<Held>>,
    controller: Option<Held>,
    /// The images that were built for pools.
    builds: builds::Builds,
}

impl Store {
    fn told<T>(&self, look: impl FnOnce(&Told) -> T) -> T {
        // What was told is whole whatever happened to whoever held it.
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Told) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lists the pools by name, also the broken ones.
    pub(crate) fn list(&self) -> Result<Vec<Name>, String> {
        self.told(|told| match &told.announced {
            Some(announced) => Ok(announced.iter().cloned().collect()),
            None => Err("the API server has not told yet which pools there are".to_owned()),
        })
    }

    /// Says how people find an object.
    pub(crate) fn place(document: &Document) -> String {
        match document {
            Document::Pool(name) => format!("machineconfigpool/{}", name.as_str()),
            Document::Config(name) => format!("machineconfig/{}", name.as_str()),
            Document::Controller => format!("controllerconfig/{CONTROLLER}"),
            Document::BuiltImage(pool) => format!("machineosconfig of {}", pool.as_str()),
        }
    }

    /// Returns an object; none if there is none.
    pub(crate) fn document(
        &self,
        document: &Document,
        marks: &mut Vec<Mark>,
    ) -> Result<Option<Value>, Unservable> {
        let (held, is_known) = self.told(|told| (told.held(document), told.is_known(document)));
        let version = held.as_ref().map(|held| held.version.clone());
        marks.push(Mark::Object(document.clone(), version));
        match held {
            Some(held) => Ok(Some((*held.value).clone())),
            None if is_known => Ok(None),
            None => {
                let reason = "the API server has not told about it yet";
                Err(Unservable::broken(Self::place(document), reason))
            }
        }
    }

    /// Tells whether an object is still in the version in which it was read.
    pub(crate) fn is_still(&self, document: &Document, version: Option<&str>) -> bool {
        self.told(|told| {
            let held = told.held(document);
            held.as_ref().map(|held| held.version.as_str()) == version
        })
    }
}

/// The name of the only object with the settings of the cluster.
const CONTROLLER: &str = "machine-config-controller";

impl Told {
    fn held(&self, document: &Document) -> Option<Held> {
        match document {
            Document::Pool(name) => self.pools.get(name).cloned(),
            Document::Config(name) => self.configs.get(name).cloned().flatten(),
            Document::Controller => self.controller.clone(),
            Document::BuiltImage(name) => {
                let image = self.builds.image(name, &self.pools.get(name)?.value)?;
                Some(Held {
                    version: image.to_owned(),
                    value: Arc::new(image.into()),
                })
            }
        }
    }

    /// Tells whether the API has told whether the object is there.
    fn is_known(&self, document: &Document) -> bool {
        match document {
            Document::Pool(name) => {
                let announced = self.announced.as_ref();
                announced.is_some_and(|announced| !announced.contains(name))
            }
            Document::Config(name) => self.configs.contains_key(name),
            Document::Controller | Document::BuiltImage(_) => true,
        }
    }
}

/// Where a pool names the config that its machines have.
pub(crate) const CURRENT_CONFIG: &str = "/status/configuration/name";
/// Where a pool names the config that its machines move to.
const NEXT_CONFIG: &str = "/spec/configuration/name";

/// Tells whether a machine of a pool has got to the config that the pool moves to.
fn has_updated(pool: &Value) -> bool {
    let updated = pool.pointer("/status/updatedMachineCount");
    updated.and_then(Value::as_i64).unwrap_or(0) > 0
}

/// Returns where a pool names the config that its new machines get: the one that it moves to, as soon
/// as one machine has got there, since the one before may be what keeps machines from coming up. Where
/// nobody reports a status, as before any controller runs, there is only what the pool shall have.
pub(crate) fn chosen_config(pool: &Value) -> &'static str {
    let is_reported = pool.pointer(CURRENT_CONFIG).is_some();
    if has_updated(pool) || !is_reported {
        NEXT_CONFIG
    } else {
        CURRENT_CONFIG
    }
}

/// Returns the name of the config that a pool's new machines get.
fn config_of(pool: &Value) -> Option<Name> {
    let name = pool.pointer(chosen_config(pool))?.as_str()?;
    Name::parse(name)
}

#[cfg(test)]
mod tests;
