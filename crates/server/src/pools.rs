//! From the name of a pool to everything that its config is made of.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::cluster::{self, CURRENT_CONFIG, Store};
use crate::disk::Fingerprint;
use crate::folder::{self, Folder};
use crate::name::Name;
use crate::source::{Document, Mark, Reading, Source, Unservable};

/// Which authority of the cluster goes where on the machine.
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
    /// Where pools and configs are kept.
    pub(crate) origin: Origin,
    /// The kubeconfig that every machine gets.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Registries and the authorities that machines shall trust for them.
    pub(crate) certificates: Vec<(String, PathBuf)>,
}

/// Where pools and configs are kept.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// In files.
    Folder(Folder),
    /// In a Kubernetes cluster.
    Cluster(Arc<Store>),
}

impl Origin {
    /// Reads a document; none if there is none.
    fn document(
        &self,
        document: &Document,
        marks: &mut Vec<Mark>,
    ) -> Result<Option<Value>, Unservable> {
        match self {
            Self::Folder(folder) => folder.document(document, marks),
            Self::Cluster(store) => store.document(document, marks),
        }
    }

    /// Says where people find a document.
    pub(crate) fn place(&self, document: &Document) -> String {
        match self {
            Self::Folder(_) => Folder::place(document),
            Self::Cluster(_) => Store::place(document),
        }
    }
}

impl Pools {
    /// Lists the pools by name, also the broken ones.
    pub(crate) fn list(&self) -> Result<Vec<Name>, String> {
        match &self.origin {
            Origin::Folder(folder) => folder.list(),
            Origin::Cluster(store) => store.list(),
        }
    }

    /// Tells whether everything is still as it was read.
    pub(crate) fn still_holds(&self, marks: &[Mark]) -> bool {
        let mut marks = marks.iter();
        marks.all(|mark| match mark {
            Mark::File(path, found) => Fingerprint::look(path) == *found,
            Mark::Object(document, version) => match &self.origin {
                Origin::Cluster(store) => store.is_still(document, version.as_deref()),
                Origin::Folder(_) => false,
            },
        })
    }

    /// Reads everything that a pool's config is made of.
    pub(crate) fn read(&self, pool: &Name) -> Reading {
        let mut reader = Reader {
            pools: self,
            marks: vec![],
        };
        let source = reader.source(pool);
        Reading {
            marks: reader.marks,
            source,
        }
    }
}

/// Reads documents and remembers in which state they were.
struct Reader<'p> {
    pools: &'p Pools,
    marks: Vec<Mark>,
}

impl Reader<'_> {
    fn source(&mut self, name: &Name) -> Result<Source, Unservable> {
        let document = Document::Pool(name.clone());
        let pool = self.document(&document)?.ok_or(Unservable::Unknown)?;
        let config = self.config(&pool, &document)?;
        let document = Document::Config(config.clone());
        let place = self.pools.origin.place(&document);
        let Some(machine_config) = self.document(&document)? else {
            return Err(Unservable::broken(place, "there is no such config"));
        };
        if !machine_config.is_object() {
            return Err(Unservable::broken(place, "it is not a MachineConfig"));
        }
        let image = self.document(&Document::BuiltImage(name.clone()))?;
        let built_image = image.and_then(|image| image.as_str().map(ToOwned::to_owned));
        Ok(Source {
            pool_name: name.clone(),
            pool,
            is_from_cluster: matches!(self.pools.origin, Origin::Cluster(_)),
            built_image,
            config,
            machine_config,
            authorities: self.authorities()?,
            kubeconfig: self.kubeconfig()?,
            certificates: self.certificates()?,
        })
    }

    /// Returns the name of the config that a pool's machines get.
    fn config(&self, pool: &Value, document: &Document) -> Result<Name, Unservable> {
        let wrong = |reason: &str| {
            let place = self.pools.origin.place(document);
            Unservable::broken(place, reason)
        };
        let pointer = match self.pools.origin {
            Origin::Folder(_) => CURRENT_CONFIG,
            Origin::Cluster(_) => cluster::chosen_config(pool),
        };
        let field = pointer.trim_start_matches('/').replace('/', ".");
        let name = pool.pointer(pointer).and_then(Value::as_str);
        let name = name.unwrap_or_default();
        if name.is_empty() {
            return Err(wrong(&format!("{field} names no config")));
        }
        Name::parse(name).ok_or_else(|| wrong(&format!("{field} is not the name of a config")))
    }

    fn authorities(&mut self) -> Result<Vec<(&'static str, Vec<u8>)>, Unservable> {
        let Some(document) = self.document(&Document::Controller)? else {
            return Ok(vec![]);
        };
        let mut authorities = Vec::new();
        for (field, path) in AUTHORITIES {
            let Some(text) = document["spec"][field].as_str() else {
                continue;
            };
            let content = STANDARD.decode(text.split_whitespace().collect::<String>());
            let content = content.map_err(|_| {
                let place = self.pools.origin.place(&Document::Controller);
                Unservable::broken(place, format!("spec.{field} is not base64"))
            })?;
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
        let content = folder::content(path, &shown, &mut self.marks)?;
        content.ok_or_else(|| Unservable::broken(shown, "there is no such file"))
    }

    fn document(&mut self, document: &Document) -> Result<Option<Value>, Unservable> {
        self.pools.origin.document(document, &mut self.marks)
    }
}

#[cfg(test)]
mod tests;
