//! The images that Kubernetes' conformance specs run, under the names by which the specs ask for them.
//!
//! Upstream builds them from Alpine and Debian; here all of them share one small Debian.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::{self, SUITE};
use crate::cache::{Cache, Lock, Product};
use crate::error::LabError;
use crate::files;
use crate::images::{Kitchen, ReleaseImage};
use crate::key::Key;
use crate::layer::Layer;
use crate::oci::{self, Image, LayerBlob, Named};
use crate::programs::Programs;
use crate::progress::Progress;

/// Changes when the images are made in another way.
const RECIPE: u32 = 1;

/// Changes when the root is made in another way.
const ROOT_RECIPE: u32 = 1;

/// What the images' Debian holds beside the smallest possible system: what specs run inside of containers.
const PACKAGES: &[&str] = &[
    "bind9-dnsutils",
    "curl",
    "iproute2",
    "netcat-openbsd",
    "nginx-light",
];

/// What of that Debian does not go into images.
const LEFT_OUT: &[&str] = &[
    "dev/",
    "proc/",
    "sys/",
    "usr/share/doc/",
    "usr/share/i18n/",
    "usr/share/locale/",
    "usr/share/man/",
    "var/cache/",
    "var/lib/apt/",
    "var/log/",
];

/// Where the specs expect most of the images to come from.
const E2E: &str = "registry.k8s.io/e2e-test-images";

/// Serves the folder that specs change, and logs to where containers log.
const NGINX: &str = "\
user www-data;
worker_processes 1;
pid /run/nginx.pid;
error_log stderr;
events { worker_connections 128; }
http {
  include mime.types;
  default_type application/octet-stream;
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
    index index.html;
  }
}
";

/// The names of an image whose program comes with the release.
fn names_of_release_image(name: &str) -> &'static [&'static str] {
    match name {
        "busybox" => &["registry.k8s.io/e2e-test-images/busybox:1.37.0-1"],
        "etcd" => &["registry.k8s.io/etcd:3.6.8-0"],
        "pause" => &["registry.k8s.io/pause:3.10.2"],
        _ => &[],
    }
}

/// Images for the conformance specs, in one archive.
#[derive(Debug)]
pub(crate) struct TestImages {
    root: Product,
    root_key: String,
}

impl TestImages {
    /// Finds out where the images' Debian is or will be.
    pub(crate) fn find(cache: &Cache) -> Self {
        let root_key = Key::new("test-root", ROOT_RECIPE)
            .text("suite", SUITE)
            .text("packages", &PACKAGES.join(" "))
            .text("architecture", std::env::consts::ARCH)
            .finish();
        Self {
            root: cache.product("test-root", &root_key),
            root_key,
        }
    }

    /// Tells whether the images' Debian is there, without which images take minutes.
    pub(crate) fn has_root(&self) -> bool {
        self.root.is_ready()
    }

    /// Says what will be made; none if it is there.
    pub(crate) fn todo(&self) -> Option<String> {
        let what = format!(
            "make the root of test images with debootstrap (Debian {SUITE}, about 2 minutes)"
        );
        (!self.root.is_ready()).then_some(what)
    }

    /// Makes the images' Debian, unless it is there.
    pub(crate) fn make_root(&self, lock: &Lock, progress: &Progress) -> Result<(), LabError> {
        self.root.make(lock, |folder| {
            let task = progress.task("makes the root of test images");
            base::bootstrap(&folder.join("root"), PACKAGES, |line| {
                task.detail(line.trim_start_matches("I: "));
            })
        })
    }

    /// Makes the archive, unless it is there.
    pub(crate) fn make(
        &self,
        release: &[ReleaseImage],
        programs: &Programs,
        kitchen: &Kitchen<'_>,
    ) -> Result<PathBuf, LabError> {
        let (cache, lock, progress) = kitchen.parts();
        let mut key = Key::new("test-images", RECIPE)
            .text("root", &self.root_key)
            .text("programs", &programs.key)
            .text("left out", &LEFT_OUT.join(" "))
            .text("nginx", NGINX);
        let release: Vec<Named> = release
            .iter()
            .map(|image| {
                let names = names_of_release_image(&image.name).iter();
                image.named(names.map(|name| (*name).to_owned()).collect())
            })
            .filter(|image| !image.names.is_empty())
            .collect();
        for image in &release {
            key = key.text(&image.names.join(" "), &image.image.digest);
        }
        let product = cache.product("test-images", &key.finish());
        product.make(lock, |folder| {
            let _task = progress.task("makes the images of the conformance specs");
            let recipes = Recipes {
                folder,
                root: &self.root.path().join("root"),
                programs: programs.folder(),
            };
            let mut images = recipes.all()?;
            images.extend(release.iter().cloned());
            oci::archive(&folder.join("images.tar"), &images)?;
            files::remove_folder(&folder.join("blobs"))
        })?;
        Ok(product.path().join("images.tar"))
    }
}

/// Makes images in a folder, from a root and programs.
struct Recipes<'a> {
    folder: &'a Path,
    root: &'a Path,
    programs: &'a Path,
}

impl Recipes<'_> {
    fn all(&self) -> Result<Vec<Named>, LabError> {
        let debian = oci::write_layer(self.folder, &Layer::default().tree(self.root, LEFT_OUT)?)?;
        let agnhost = oci::write_layer(self.folder, &self.agnhost())?;
        let own = |layer: Layer| oci::write_layer(self.folder, &layer);
        let program =
            |at: &str, name: &str, mode| Layer::default().file(at, &self.programs.join(name), mode);
        let nautilus = own(self.beside_program("data.json").file(
            "nautilus.jpg",
            &self.programs.join("nautilus.jpg"),
            0o644,
        ))?;
        let nginx = own(Layer::default()
            .text("etc/nginx/nginx.conf", NGINX, 0o644)
            .folder("var/log/nginx", 0o755))?;
        let sample = own(program("sample-apiserver", "sample-apiserver", 0o755))?;
        let nnp = own(program("usr/local/bin/nnp", "nnp", 0o4755))?;
        let agnhost_layers = [debian.clone(), agnhost.clone()];
        let webserver = json!({"Entrypoint": ["/agnhost"], "Cmd": ["test-webserver"]});
        let pauses = json!({"Entrypoint": ["/agnhost"], "Cmd": ["pause"]});
        let serves = json!({"Cmd": ["nginx", "-g", "daemon off;"]});
        Ok(vec![
            self.image(&["agnhost:2.63.0", "agnhost:2.55"], &agnhost_layers, pauses)?,
            self.image(
                &["nautilus:1.8"],
                &[debian.clone(), agnhost, nautilus],
                webserver,
            )?,
            self.image(
                &["nginx:1.15-4", "nginx:1.27-0"],
                &[debian.clone(), nginx],
                serves,
            )?,
            self.image(
                &["sample-apiserver:1.29.2"],
                &[sample],
                json!({"Entrypoint": ["/sample-apiserver"]}),
            )?,
            self.image(&["nonewprivs:1.4"], &[nnp], json!({"Cmd": ["nnp"]}))?,
            self.image(
                &["glibc-dns-testing:2.0.0"],
                std::slice::from_ref(&debian),
                json!({"Cmd": ["/bin/sh"]}),
            )?,
            self.image(
                &["nonroot:1.5"],
                &[debian],
                json!({"Cmd": ["/bin/sh"], "User": "1234"}),
            )?,
        ])
    }

    fn image(&self, names: &[&str], layers: &[LayerBlob], runs: Value) -> Result<Named, LabError> {
        Ok(Named {
            image: Image::of_layers(self.folder, layers, runs)?,
            folder: self.folder.to_owned(),
            names: names.iter().map(|name| format!("{E2E}/{name}")).collect(),
        })
    }

    /// Returns what agnhost has on top of Debian, with the user that specs look for.
    fn agnhost(&self) -> Layer {
        let users = "root:x:0:0:root:/root:/bin/sh\n\
                     www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n\
                     nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n\
                     user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n";
        let groups = "root:x:0:\n\
                      www-data:x:33:\n\
                      nogroup:x:65534:\n\
                      user-defined-in-image:x:1000:\n\
                      group-defined-in-image:x:50000:user-defined-in-image\n";
        self.beside_program("localhost.crt")
            .file("localhost.key", &self.programs.join("localhost.key"), 0o644)
            .file("agnhost", &self.programs.join("agnhost"), 0o755)
            .link("agnhost-2", "agnhost")
            .folder("uploads", 0o755)
            .text("etc/passwd", users, 0o644)
            .text("etc/group", groups, 0o644)
    }

    fn beside_program(&self, name: &str) -> Layer {
        Layer::default().file(name, &self.programs.join(name), 0o644)
    }
}
