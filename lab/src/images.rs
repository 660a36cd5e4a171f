//! The images of the release: what is in each, and by which names it is known.

use std::path::{Path, PathBuf};

use crate::base::Base;
use crate::busybox::{self, Busybox};
use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::image_root;
use crate::key::{Key, digest_of_file};
use crate::layer::Layer;
use crate::libraries;
use crate::oci::{Image, Named, Start};
use crate::program;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when images are made in another way.
const RECIPE: u32 = 2;

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
    /// The root from which nft and the files beside a program are taken.
    pub(crate) base: &'a Base,
    /// The programs of the image for sample applications.
    pub(crate) busybox: &'a Busybox,
}

/// An image that may have to be made.
struct Recipe<'a> {
    name: &'a str,
    tag: &'a str,
    key: Key,
    start: Start<'a>,
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
            images.push(self.kubernetes(from, name, || {
                Ok(root(from).file(&in_bin(name), &program, 0o755))
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
            start: Start::program("/usr/local/bin/bootlace"),
        };
        self.make(&recipe, || {
            libraries::add(image_root::small(), root, &in_bin(BOOTLACE), program)
        })
    }

    fn coredns(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let programs = from.coredns;
        let key = Key::new("coredns", RECIPE)
            .text("programs", &programs.key)
            .text("base", &from.base.key);
        let recipe = Recipe {
            name: "coredns",
            tag: &programs.version,
            key,
            start: Start::program("/usr/local/bin/coredns"),
        };
        self.make(&recipe, || {
            let program = programs.folder().join("coredns");
            Ok(root(from).file("usr/local/bin/coredns", &program, 0o755))
        })
    }

    fn etcd(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let programs = from.etcd;
        let key = Key::new("etcd", RECIPE)
            .text("programs", &programs.key)
            .text("base", &from.base.key);
        let recipe = Recipe {
            name: "etcd",
            tag: &programs.version,
            key,
            start: Start::program("/usr/local/bin/etcd"),
        };
        self.make(&recipe, || {
            let add = |layer: Layer, name| {
                layer.file(&in_bin(name), &programs.folder().join(name), 0o755)
            };
            Ok(add(add(root(from), "etcd"), "etcdctl"))
        })
    }

    fn kubernetes(
        &self,
        from: &Ingredients<'_>,
        name: &str,
        layer: impl FnOnce() -> Result<Layer, LabError>,
    ) -> Result<ReleaseImage, LabError> {
        let key = Key::new(name, RECIPE)
            .text("programs", &from.kubernetes.key)
            .text("base", &from.base.key);
        let program = in_bin(name);
        let recipe = Recipe {
            name,
            tag: &from.kubernetes.version,
            key,
            start: Start::program(&program),
        };
        self.make(&recipe, layer)
    }

    /// Makes the image of kube-proxy, which changes packet filters by running `nft`.
    fn kube_proxy(&self, from: &Ingredients<'_>) -> Result<ReleaseImage, LabError> {
        let program = from.kubernetes.folder().join("kube-proxy");
        self.kubernetes(from, "kube-proxy", || {
            let layer = root(from).file(&in_bin("kube-proxy"), &program, 0o755);
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
            // It needs no rights at all, and every pod has one.
            start: Start {
                user: Some("65535:65535"),
                ..Start::program("/pause")
            },
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
        let key = Key::new("busybox", RECIPE)
            .text("program", &from.busybox.key)
            .text("applets", "also in /bin")
            .text("base", &from.base.key);
        let recipe = Recipe {
            name: "busybox",
            tag: busybox::VERSION,
            key,
            start: Start::default(),
        };
        self.make(&recipe, || {
            from.busybox
                .build(self.lock, self.progress, &from.base.debian())?;
            let program = from.busybox.program();
            let mut command = program::command(&program.to_string_lossy());
            let applets = program::run("listing applets", command.arg("--list-full"), |_| {})?;
            let mut layer = root(from).folder("root", 0o700).text(
                "etc/passwd",
                "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
                0o644,
            );
            for applet in applets.lines().filter(|applet| !applet.is_empty()) {
                layer = layer.link(applet, "/bin/busybox");
                // The upstream image has all of them there, and people call them by that path.
                let name = applet.rsplit('/').next().unwrap_or(applet);
                if !applet.starts_with("bin/") {
                    layer = layer.link(&format!("bin/{name}"), "/bin/busybox");
                }
            }
            Ok(layer.file("bin/busybox", &program, 0o755))
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
            start,
        } = recipe;
        let key = key.clone();
        let key = key
            .text("entrypoint", start.entrypoint.unwrap_or_default())
            .text("user", start.user.unwrap_or_default())
            .finish();
        let product = self.cache.product(&format!("images/{name}"), &key);
        product.make(self.lock, |folder| {
            let _task = self.progress.task(&format!("makes the image {name}"));
            Image::make(folder, &layer()?, start).map(|_| ())
        })?;
        Ok(ReleaseImage {
            name: (*name).to_owned(),
            tag: (*tag).to_owned(),
            image: Image::read(product.path())?,
            folder: product.path().to_owned(),
        })
    }
}

/// Returns what every image that runs a program of Kubernetes begins with.
fn root(from: &Ingredients<'_>) -> Layer {
    image_root::with_debian(&from.base.debian())
}

/// Returns where a program is in its image.
fn in_bin(name: &str) -> String {
    format!("/usr/local/bin/{name}")
}
