//! The images of the release: what is in each, and by which names it is known.

use std::path::{Path, PathBuf};

use crate::base::Base;
use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::key::{Key, digest_of_file};
use crate::layer::Layer;
use crate::libraries;
use crate::oci::{Image, Named};
use crate::program;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when images are made in another way.
const RECIPE: u32 = 1;

/// Where images are named to come from; nothing answers there, and nothing is pulled.
const REGISTRY: &str = "registry.bootlace.test";

/// The image of bootlace itself.
pub(crate) const BOOTLACE: &str = "bootlace";

/// An image of the release.
#[derive(Debug, Clone)]
pub(crate) struct ReleaseImage {
    /// Its name in the release.
    pub(crate) name: String,
    /// Its tag.
    pub(crate) tag: String,
    /// The image.
    pub(crate) image: Image,
    /// The folder in which it was made.
    pub(crate) folder: PathBuf,
}

impl ReleaseImage {
    /// Returns the name that stands for this very image for ever.
    pub(crate) fn reference(&self) -> String {
        format!("{REGISTRY}/{}@{}", self.name, self.image.digest)
    }

    /// Returns the name that people use.
    pub(crate) fn tagged(&self) -> String {
        format!("{REGISTRY}/{}:{}", self.name, self.tag)
    }

    /// Returns the image with names for an archive.
    pub(crate) fn named(&self, names: Vec<String>) -> Named {
        Named {
            image: self.image.clone(),
            folder: self.folder.clone(),
            names,
        }
    }
}

/// What images are made from.
#[derive(Debug)]
pub(crate) struct Ingredients<'a> {
    /// Where the program that holds a pod's namespaces is written.
    pub(crate) sources: &'a Sources,
    /// Kubernetes.
    pub(crate) kubernetes: &'a Programs,
    /// The store.
    pub(crate) etcd: &'a Programs,
    /// The name server.
    pub(crate) coredns: &'a Programs,
    /// The root from which nft and busybox are taken.
    pub(crate) base: &'a Base,
}

/// An image that may have to be made.
struct Recipe<'a> {
    name: &'a str,
    tag: &'a str,
    key: Key,
    /// The program that it runs; a shell if none is named.
    entrypoint: Option<&'a str>,
}

/// Makes images in the cache.
#[derive(Debug)]
pub(crate) struct Kitchen<'a> {
    cache: &'a Cache,
    lock: &'a Lock,
    progress: &'a Progress,
}

impl<'a> Kitchen<'a> {
    /// Takes the cache for itself.
    pub(crate) fn new(cache: &'a Cache, lock: &'a Lock, progress: &'a Progress) -> Self {
        Self {
            cache,
            lock,
            progress,
        }
    }

    /// Returns what it works with.
    pub(crate) fn parts(&self) -> (&'a Cache, &'a Lock, &'a Progress) {
        (self.cache, self.lock, self.progress)
    }

    /// Makes all images but that of bootlace.
    pub(crate) fn all(&self, from: &Ingredients<'_>) -> Result<Vec<ReleaseImage>, LabError> {
        let mut images = vec![self.coredns(from)?, self.etcd(from)?];
        for name in [
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
        ] {
            let program = from.kubernetes.folder().join(name);
            images.push(self.kubernetes(from, name, &Key::default(), || {
                Ok(Layer::default().file(&in_bin(name), &program, 0o755))
            })?);
        }
        images.push(self.kube_proxy(from)?);
        images.push(self.pause(from)?);
        images.push(self.busybox(from)?);
        images.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(images)
    }

    /// Makes the image of bootlace: the program and its libraries.
    pub(crate) fn bootlace(&self, program: &Path) -> Result<ReleaseImage, LabError> {
        let root = Path::new("/");
        let mut key = Key::new(BOOTLACE, RECIPE).text("program", &digest_of_file(program)?);
        for library in libraries::of(root, program)? {
            key = key.text(&library.to_string_lossy(), &digest_of_file(&library)?);
        }
        let tag = format!("v{}", env!("CARGO_PKG_VERSION"));
        let recipe = Recipe {
            name: BOOTLACE,
            tag: &tag,
            key,
            entrypoint: Some("/usr/local/bin/bootlace"),
        };
        self.make(&recipe, || {
            libraries::add(Layer::default(), root, &in_bin(BOOTLACE), program)
        })
    }

    fn coredns(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let programs = from.coredns;
        let key = Key::new("coredns", RECIPE).text("programs", &programs.key);
        let recipe = Recipe {
            name: "coredns",
            tag: &programs.version,
            key,
            entrypoint: Some("/usr/local/bin/coredns"),
        };
        self.make(&recipe, || {
            let program = programs.folder().join("coredns");
            Ok(Layer::default().file("usr/local/bin/coredns", &program, 0o755))
        })
    }

    fn etcd(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let programs = from.etcd;
        let key = Key::new("etcd", RECIPE).text("programs", &programs.key);
        let recipe = Recipe {
            name: "etcd",
            tag: &programs.version,
            key,
            entrypoint: Some("/usr/local/bin/etcd"),
        };
        self.make(&recipe, || {
            let add = |layer: Layer, name| {
                layer.file(&in_bin(name), &programs.folder().join(name), 0o755)
            };
            Ok(add(add(Layer::default(), "etcd"), "etcdctl"))
        })
    }

    fn kubernetes(
        &self,
        from: &Ingredients<'_>,
        name: &str,
        more: &Key,
        layer: impl FnOnce() -> Result<Layer, LabError>,
    ) -> Result<ReleaseImage, LabError> {
        let key = Key::new(name, RECIPE)
            .text("programs", &from.kubernetes.key)
            .text("more", &more.clone().finish());
        let program = in_bin(name);
        let recipe = Recipe {
            name,
            tag: &from.kubernetes.version,
            key,
            entrypoint: Some(&program),
        };
        self.make(&recipe, layer)
    }

    /// Makes the image of kube-proxy, which changes packet filters by running `nft`.
    fn kube_proxy(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let base = Key::default().text("base", &from.base.key);
        let program = from.kubernetes.folder().join("kube-proxy");
        self.kubernetes(from, "kube-proxy", &base, || {
            let layer = Layer::default().file(&in_bin("kube-proxy"), &program, 0o755);
            let nft = Path::new("/usr/sbin/nft");
            libraries::add(layer, &from.base.debian(), "usr/sbin/nft", nft)
        })
    }

    /// Makes the image that holds a pod's namespaces.
    fn pause(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let source = from.sources.path("pause/pause.c");
        let key = Key::new("pause", RECIPE).file("pause.c", &source)?;
        let recipe = Recipe {
            name: "pause",
            tag: "1",
            key,
            entrypoint: Some("/pause"),
        };
        self.make(&recipe, || {
            let built = self.cache.root().join("partial/pause");
            let mut command = program::command("cc");
            command
                .args(["-static", "-Os", "-s", "-Wall", "-o"])
                .arg(&built)
                .arg(&source);
            program::run("compiling pause", &mut command, |_| {})?;
            Ok(Layer::default().file("pause", &built, 0o755))
        })
    }

    /// Makes the image for sample applications and for looking around.
    fn busybox(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let key = Key::new("busybox", RECIPE).text("base", &from.base.key);
        let recipe = Recipe {
            name: "busybox",
            tag: "1",
            key,
            entrypoint: None,
        };
        self.make(&recipe, || {
            let busybox = from.base.debian().join("bin/busybox");
            let mut command = program::command(&busybox.to_string_lossy());
            let applets = program::run("listing applets", command.arg("--list-full"), |_| {})?;
            let mut layer = Layer::default()
                .folder("tmp", 0o1777)
                .text(
                    "etc/passwd",
                    "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
                    0o644,
                )
                .text("etc/group", "root:x:0:\nnogroup:x:65534:\n", 0o644);
            for applet in applets.lines().filter(|applet| !applet.is_empty()) {
                layer = layer.link(applet, "/bin/busybox");
            }
            Ok(layer.file("bin/busybox", &busybox, 0o755))
        })
    }

    fn make(
        &self,
        recipe: &Recipe<'_>,
        layer: impl FnOnce() -> Result<Layer, LabError>,
    ) -> Result<ReleaseImage, LabError> {
        let Recipe {
            name,
            tag,
            key,
            entrypoint,
        } = recipe;
        let runs = entrypoint.unwrap_or_default();
        let key = key.clone().text("entrypoint", runs).finish();
        let product = self.cache.product(&format!("images/{name}"), &key);
        product.make(self.lock, |folder| {
            let _task = self.progress.task(&format!("makes the image {name}"));
            Image::make(folder, &layer()?, *entrypoint).map(|_| ())
        })?;
        Ok(ReleaseImage {
            name: (*name).to_owned(),
            tag: (*tag).to_owned(),
            image: Image::read(product.path())?,
            folder: product.path().to_owned(),
        })
    }
}

/// Returns where a program is in its image.
fn in_bin(name: &str) -> String {
    format!("/usr/local/bin/{name}")
}
