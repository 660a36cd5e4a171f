//! Where everything is, once it is prepared: one record for each checkout, so that checkouts do not meet.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::files;
use crate::key::Key;
use crate::programs::Programs;
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

/// Real Ignition, with which tests and benchmarks compare ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnitionPrograms {
    /// The folder of ignition and ignition-validate.
    pub folder: PathBuf,
    /// The version, such as `v2.24.0`.
    pub version: String,
}

impl IgnitionPrograms {
    /// Finds the programs of this checkout.
    pub fn load() -> Result<Self, LabError> {
        Ready::load()?.ignition.ok_or_else(|| LabError::NotReady {
            reason: "Ignition was not wanted; `prepare --with-ignition` builds it".into(),
        })
    }

    /// Returns the program that applies configs, stage by stage.
    pub fn ignition(&self) -> PathBuf {
        self.folder.join("ignition")
    }

    /// Returns the program that judges configs.
    pub fn validate(&self) -> PathBuf {
        self.folder.join("ignition-validate")
    }

    pub(crate) fn of(programs: &Programs) -> Self {
        Self {
            folder: programs.folder().to_owned(),
            version: programs.version.clone(),
        }
    }
}

/// Kubernetes' conformance specs and the images that they run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConformanceSuite {
    /// The folder of e2e.test and ginkgo.
    pub folder: PathBuf,
    /// The archive of the images.
    pub images: PathBuf,
    /// The version of Kubernetes whose specs they are.
    pub version: String,
}

impl ConformanceSuite {
    /// Finds the suite of this checkout.
    pub fn load() -> Result<Self, LabError> {
        Ready::load()?
            .conformance
            .ok_or_else(|| LabError::NotReady {
                reason:
                    "the conformance specs were not wanted; `prepare --with-conformance` builds them"
                        .into(),
            })
    }

    /// Returns the program that holds the specs.
    pub fn specs(&self) -> PathBuf {
        self.folder.join("e2e.test")
    }

    /// Returns the program that runs specs side by side.
    pub fn ginkgo(&self) -> PathBuf {
        self.folder.join("ginkgo")
    }

    pub(crate) fn of(programs: &Programs, images: PathBuf) -> Self {
        Self {
            folder: programs.folder().to_owned(),
            images,
            version: programs.version.clone(),
        }
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
    /// What tests compare with, if it was wanted.
    pub(crate) ignition: Option<IgnitionPrograms>,
    /// The conformance specs, if they were wanted.
    pub(crate) conformance: Option<ConformanceSuite>,
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
        folders.extend(self.ignition.as_ref().map(|programs| &programs.folder));
        if let Some(suite) = &self.conformance {
            folders.extend([&suite.folder, &suite.images]);
        }
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

/// Removes what no checkout uses any more of the products that come with each build of bootlace.
pub(crate) fn prune(cache: &Cache, lock: &Lock) -> Result<(), LabError> {
    let folder = cache.root().join("checkouts");
    let mut used = Vec::new();
    for name in files::below(&folder)? {
        let path = folder.join(name);
        let text = fs::read(&path).map_err(LabError::file("read", &path))?;
        // Loosely, because it may be the record of another version of this program.
        let record: Value = serde_json::from_slice(&text)
            .map_err(|error| LabError::source(&path, error.to_string()))?;
        if record["checkout"]
            .as_str()
            .is_some_and(|checkout| Path::new(checkout).exists())
        {
            used.extend(products(&record["lab"]));
        } else {
            fs::remove_file(&path).map_err(LabError::file("remove", &path))?;
        }
    }
    for product in ["payload", "store-own", "kubeadm"] {
        let folder = cache.root().join(product);
        used.extend(in_use(&folder)?);
        cache.prune(lock, product, &used)?;
    }
    Ok(())
}

/// Lists the products in a folder that a machine which runs has mounted.
fn in_use(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(vec![]);
    };
    let products: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let products = products.map_err(LabError::file("list", folder))?;
    let proc = Path::new("/proc");
    let processes = fs::read_dir(proc).map_err(LabError::file("list", proc))?;
    // Who ended in this moment, or belongs to somebody else, mounts nothing of ours.
    let mounts = processes.filter_map(|entry| {
        let mounts = entry.ok()?.path().join("mountinfo");
        fs::read_to_string(mounts).ok()
    });
    let mounts: BTreeSet<String> = mounts.collect();
    let is_mounted = |product: &PathBuf| {
        let name = product.to_string_lossy();
        mounts.iter().any(|text| text.contains(name.as_ref()))
    };
    Ok(products.into_iter().filter(is_mounted).collect())
}

/// Lists the folders of the cache that a record names and that change with each build of bootlace.
fn products(lab: &Value) -> Vec<PathBuf> {
    let path = |name: &str| lab[name].as_str().map(PathBuf::from);
    let above = |name: &str| path(name).and_then(|path| path.parent().map(Path::to_owned));
    let found = [path("payload"), above("imageStore"), above("kubeadmImages")];
    found.into_iter().flatten().collect()
}

fn record(cache: &Cache, checkout: &Path) -> PathBuf {
    let key = Key::new("checkout", 1)
        .text("folder", &checkout.to_string_lossy())
        .finish();
    cache.root().join("checkouts").join(format!("{key}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    fn ready(cache: &Cache, checkout: &Path) -> Ready {
        let path = |relative: &str| cache.root().join(relative);
        let programs = ProgramFolders {
            kubernetes: path("kubernetes/1"),
            etcd: path("etcd/1"),
            coredns: path("coredns/1"),
            kubernetes_version: "v1.2.3".into(),
        };
        Ready {
            checkout: checkout.to_owned(),
            sources: Sources::own().key().unwrap(),
            programs: programs.clone(),
            ignition: Some(IgnitionPrograms {
                folder: path("ignition/1"),
                version: "v2.3.4".into(),
            }),
            conformance: Some(ConformanceSuite {
                folder: path("conformance/1"),
                images: path("test-images/1/images.tar"),
                version: "v1.2.3".into(),
            }),
            lab: Some(Lab {
                programs,
                base: path("debian/1"),
                layers: Vec::new(),
                payload: path("payload/1"),
                release: path("payload/1/release"),
                bundle: path("payload/1/bundle.tar"),
                image_store: path("store-own/1/containerd"),
                kubeadm_images: path("kubeadm/1/images.tar"),
                kubeadm_unit: path("unit"),
            }),
        }
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_string_lossy().into_owned();
        let cache = Cache::find(|_| Some(root.clone())).unwrap();
        (folder, cache)
    }

    #[test]
    fn what_is_mounted_somewhere_is_in_use() {
        let mounted = in_use(Path::new("/")).unwrap();
        assert!(mounted.contains(&PathBuf::from("/proc")), "{mounted:?}");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("product")).unwrap();
        assert_eq!(in_use(folder.path()).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_lab_is_ready_while_its_sources_and_products_are() {
        let (_folder, cache) = cache();
        let sources = Sources::own();
        let refusal = || Ready::read(&cache, &sources).unwrap_err().to_string();
        assert!(refusal().contains("nothing was prepared"), "{}", refusal());
        let mut ready = ready(&cache, sources.folder());
        for folder in ready.folders() {
            files::folder(folder).unwrap();
        }
        ready.write(&cache).unwrap();
        assert_eq!(Ready::read(&cache, &sources).unwrap().lab, ready.lab);
        files::remove_folder(&cache.root().join("payload")).unwrap();
        assert!(refusal().contains("payload/1 is gone"), "{}", refusal());
        ready.sources = "older".into();
        ready.write(&cache).unwrap();
        assert!(refusal().contains("changed since"), "{}", refusal());
    }

    #[test]
    fn only_what_no_checkout_uses_is_removed() {
        let (folder, cache) = cache();
        let lock = cache.lock(&Progress::quiet()).unwrap();
        let gone = folder.path().join("gone");
        ready(&cache, Sources::own().folder())
            .write(&cache)
            .unwrap();
        ready(&cache, &gone).write(&cache).unwrap();
        for product in ["payload", "store-own", "kubeadm", "kubernetes"] {
            for key in ["1", "2"] {
                files::folder(&cache.root().join(product).join(key)).unwrap();
            }
        }
        prune(&cache, &lock).unwrap();
        assert_eq!(
            files::below(&cache.root().join("checkouts")).unwrap().len(),
            1
        );
        for product in ["payload", "store-own", "kubeadm"] {
            assert!(cache.root().join(product).join("1").exists(), "{product}");
            assert!(!cache.root().join(product).join("2").exists(), "{product}");
        }
        assert!(cache.root().join("kubernetes/2").exists());
    }
}
