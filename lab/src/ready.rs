//! Where everything is, once it is prepared: one record for each checkout, so that checkouts do not meet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::files;
use crate::key::Key;
use crate::sources::Sources;

/// Programs that were built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramFolders {
    /// The folder of kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy, kubelet,
    /// kubeadm and kubectl.
    pub kubernetes: PathBuf,
    /// The folder of etcd and etcdctl.
    pub etcd: PathBuf,
    /// The folder of coredns.
    pub coredns: PathBuf,
    /// The version of Kubernetes, such as `v1.36.3`.
    pub kubernetes_version: String,
}

impl ProgramFolders {
    /// Finds the programs of this checkout.
    pub fn load() -> Result<Self, LabError> {
        Ok(Ready::load()?.programs)
    }
}

/// All that tests, benchmarks and the local cluster are made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lab {
    /// Programs that were built.
    #[serde(flatten)]
    pub programs: ProgramFolders,
    /// Debian's layer of a machine's root.
    pub base: PathBuf,
    /// What a machine's root is read from, the first on top: kubelet, kubeadm and kubectl,
    /// then the settings of a lab machine, then Debian.
    pub layers: Vec<PathBuf>,
    /// The payload: the release's folder and the archive of its images.
    pub payload: PathBuf,
    /// What `spec.release.dir` names.
    pub release: PathBuf,
    /// The archive of the release's images.
    pub bundle: PathBuf,
    /// What `/var/lib/containerd` of a machine begins with, so that it has all of the release's images.
    pub image_store: PathBuf,
    /// The same images under the names that kubeadm wants.
    pub kubeadm_images: PathBuf,
    /// The unit of the kubelet that kubeadm wants to find.
    pub kubeadm_unit: PathBuf,
}

impl Lab {
    /// Finds what was prepared from this checkout.
    pub fn load() -> Result<Self, LabError> {
        Ready::load()?.lab.ok_or_else(|| LabError::NotReady {
            reason: "only programs were prepared".into(),
        })
    }
}

/// The record of one checkout.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// The checkout's folder `lab/`.
    pub(crate) checkout: PathBuf,
    /// The key of its files.
    pub(crate) sources: String,
    /// What was built.
    pub(crate) programs: ProgramFolders,
    /// The rest, if it was wanted.
    pub(crate) lab: Option<Lab>,
}

impl Ready {
    /// Reads the record of this checkout, and looks whether it still holds.
    pub(crate) fn load() -> Result<Self, LabError> {
        let cache = Cache::find(|name| std::env::var(name).ok())?;
        Self::read(&cache, &Sources::own())
    }

    fn read(cache: &Cache, sources: &Sources) -> Result<Self, LabError> {
        let path = record(cache, sources.folder());
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LabError::NotReady {
                    reason: "nothing was prepared from this checkout".into(),
                });
            }
            read => read.map_err(LabError::file("read", &path))?,
        };
        let ready: Self = serde_json::from_slice(&text)
            .map_err(|error| LabError::source(&path, error.to_string()))?;
        if ready.sources != sources.key()? {
            return Err(LabError::NotReady {
                reason: "its files changed since it was prepared".into(),
            });
        }
        match ready.folders().into_iter().find(|folder| !folder.exists()) {
            Some(gone) => Err(LabError::NotReady {
                reason: format!("{} is gone", gone.display()),
            }),
            None => Ok(ready),
        }
    }

    /// Notes where everything is.
    pub(crate) fn write(&self, cache: &Cache) -> Result<(), LabError> {
        let path = record(cache, &self.checkout);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| LabError::source(&path, error.to_string()))?;
        files::replace(&path, &text)
    }

    fn folders(&self) -> Vec<&PathBuf> {
        let programs = &self.programs;
        let mut folders = vec![&programs.kubernetes, &programs.etcd, &programs.coredns];
        if let Some(lab) = &self.lab {
            folders.extend([
                &lab.base,
                &lab.payload,
                &lab.kubeadm_images,
                &lab.image_store,
            ]);
        }
        folders
    }
}

/// Removes payloads and image stores that no checkout uses any more; new ones come with each build of bootlace.
pub(crate) fn prune(cache: &Cache, lock: &Lock) -> Result<(), LabError> {
    let folder = cache.root().join("checkouts");
    let mut used = Vec::new();
    for name in files::below(&folder)? {
        let path = folder.join(name);
        let text = fs::read(&path).map_err(LabError::file("read", &path))?;
        let ready = serde_json::from_slice::<Ready>(&text).ok();
        match ready.filter(|ready| ready.checkout.exists()) {
            Some(Ready { lab: Some(lab), .. }) => {
                // The store is a folder in its product.
                let store = lab.image_store.parent().map(Path::to_owned);
                used.extend([lab.payload].into_iter().chain(store));
            }
            Some(_) => {}
            // Of a checkout that is gone, or of another version of this program.
            None => fs::remove_file(&path).map_err(LabError::file("remove", &path))?,
        }
    }
    for product in ["payload", "store-own"] {
        cache.prune(lock, product, &used)?;
    }
    Ok(())
}

fn record(cache: &Cache, checkout: &Path) -> PathBuf {
    let key = Key::new("checkout", 1)
        .text("folder", &checkout.to_string_lossy())
        .finish();
    cache.root().join("checkouts").join(format!("{key}.json"))
}
