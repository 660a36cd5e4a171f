//! The release payload: manifests and images that name each other by digest.
//!
//! The folder `release/` is what `spec.release.dir` names; its digest covers all of it. The archive of
//! images lies beside it, because it is far too large to be read for a digest each time; `images/bundle.json`
//! inside names the archive and its digest, so the release's digest covers the images too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::files;
use crate::images::{Kitchen, ReleaseImage};
use crate::key::Key;
use crate::oci;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when the payload is made in another way.
const RECIPE: u32 = 1;

/// The archive of images, beside the release's folder.
const ARCHIVE: &str = "bundle.tar";

/// How a manifest names an image of the release.
const MARKER: &str = "IMAGE(";

/// A payload that was made.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// All its images.
    pub(crate) images: Vec<ReleaseImage>,
}

impl Payload {
    /// Returns what `spec.release.dir` names.
    pub(crate) fn release(&self) -> PathBuf {
        self.folder.join("release")
    }

    /// Returns the archive of images.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.folder.join(ARCHIVE)
    }
}

/// What a payload is made from.
#[derive(Debug)]
pub(crate) struct Release<'a> {
    /// All images but that of bootlace.
    pub(crate) images: Vec<ReleaseImage>,
    /// The version of Kubernetes in it.
    pub(crate) kubernetes_version: &'a str,
    /// The program that becomes the image `bootlace`; without it that image is left out.
    pub(crate) bootlace: Option<&'a Path>,
}

impl Release<'_> {
    /// Makes the payload, unless it is there.
    pub(crate) fn make(
        mut self,
        sources: &Sources,
        cache: &Cache,
        lock: &Lock,
        progress: &Progress,
    ) -> Result<Payload, LabError> {
        if let Some(program) = self.bootlace {
            // It does not hold the manifests: they name it by its digest, which it cannot hold.
            let image = Kitchen::new(cache, lock, progress).bootlace(program)?;
            self.images.push(image);
            self.images.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let mut manifests = render(&sources.path("payload"), &self.images)?;
        manifests.push(("release-metadata".into(), self.metadata()));
        manifests.push(("image-references".into(), self.image_references()));
        let mut key = Key::new("payload", RECIPE);
        for (name, content) in &manifests {
            key = key.text(name, &crate::key::digest(content));
        }
        for image in &self.images {
            key = key.text(&image.tagged(), &image.reference());
        }
        let product = cache.product("payload", &key.finish());
        product.make(lock, |folder| {
            let _task = progress.task("writes the release payload");
            for (name, content) in &manifests {
                files::write(
                    &folder.join("release/release-manifests").join(name),
                    content,
                )?;
            }
            let both = |image: &ReleaseImage| vec![image.tagged(), image.reference()];
            let named: Vec<_> = self
                .images
                .iter()
                .map(|image| image.named(both(image)))
                .collect();
            let (digest, size) = oci::archive(&folder.join(ARCHIVE), &named)?;
            let bundle = self.bundle(&digest, size);
            files::write(&folder.join("release/images/bundle.json"), &bundle)
        })?;
        Ok(Payload {
            folder: product.path().to_owned(),
            images: self.images,
        })
    }

    fn metadata(&self) -> Vec<u8> {
        pretty(&json!({
            "kind": "cincinnati-metadata-v0",
            "version": env!("CARGO_PKG_VERSION"),
            "kubernetesVersion": self.kubernetes_version,
        }))
    }

    fn image_references(&self) -> Vec<u8> {
        let is_kubernetes = |image: &ReleaseImage| image.name.starts_with("kube-");
        let tag = |image: &ReleaseImage| {
            let version = self.kubernetes_version.trim_start_matches('v');
            let annotations = if is_kubernetes(image) {
                json!({"io.openshift.build.versions": format!("kubernetes={version}")})
            } else {
                json!({})
            };
            json!({
                "name": image.name,
                "annotations": annotations,
                "from": {"kind": "DockerImage", "name": image.reference()},
            })
        };
        let tags: Vec<Value> = self.images.iter().map(tag).collect();
        pretty(&json!({
            "kind": "ImageStream",
            "apiVersion": "image.openshift.io/v1",
            "metadata": {"name": env!("CARGO_PKG_VERSION")},
            "spec": {"lookupPolicy": {"local": false}, "tags": tags},
        }))
    }

    fn bundle(&self, digest: &str, size: u64) -> Vec<u8> {
        let image = |image: &ReleaseImage| {
            json!({
                "name": image.name,
                "reference": image.reference(),
                "tag": image.tagged(),
                "digest": image.image.digest,
                "size": image.image.size,
            })
        };
        let images: Vec<Value> = self.images.iter().map(image).collect();
        pretty(&json!({
            "archive": {"file": ARCHIVE, "digest": digest, "size": size},
            "images": images,
        }))
    }
}

/// Makes the archive with the names under which kubeadm looks for images.
pub(crate) fn kubeadm_archive(
    images: &[ReleaseImage],
    wanted: &[String],
    cache: &Cache,
    lock: &Lock,
    progress: &Progress,
) -> Result<PathBuf, LabError> {
    let mut entries = Vec::new();
    let mut key = Key::new("kubeadm", RECIPE);
    for image in images {
        let mut names = vec![image.tagged()];
        names.extend(
            wanted
                .iter()
                .filter(|name| is_for(name, &image.name))
                .cloned(),
        );
        key = key.text(&names.join(" "), &image.image.digest);
        entries.push(image.named(names));
    }
    let product = cache.product("kubeadm", &key.finish());
    let path = |folder: &Path| folder.join("kubeadm-images.tar");
    product.make(lock, |folder| {
        let _task = progress.task("writes the images under kubeadm's names");
        oci::archive(&path(folder), &entries).map(|_| ())
    })?;
    Ok(path(product.path()))
}

/// Tells whether a full name such as `registry/coredns/coredns:v1` is that of an image.
fn is_for(full: &str, name: &str) -> bool {
    let last = full.rsplit('/').next().unwrap_or_default();
    last.split(':').next() == Some(name)
}

/// Fills in the manifests of the release: `IMAGE(name)` becomes the image's reference by digest.
fn render(folder: &Path, images: &[ReleaseImage]) -> Result<Vec<(String, Vec<u8>)>, LabError> {
    let references: BTreeMap<&str, String> = images
        .iter()
        .map(|image| (image.name.as_str(), image.reference()))
        .collect();
    let mut manifests = Vec::new();
    for name in files::below(folder)? {
        if name.contains('/') || Path::new(&name).extension() != Some("yaml".as_ref()) {
            continue;
        }
        let path = folder.join(&name);
        let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
        let filled = fill(&text, &references).map_err(|reason| LabError::source(&path, reason))?;
        manifests.push((name, filled.into_bytes()));
    }
    Ok(manifests)
}

fn fill(text: &str, references: &BTreeMap<&str, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARKER) {
        let (name, after) = after
            .split_once(')')
            .ok_or_else(|| format!("{MARKER} has no closing bracket"))?;
        let reference = references.get(name).ok_or_else(|| {
            let known: Vec<&str> = references.keys().copied().collect();
            format!("{MARKER}{name}) is none of the images {}", known.join(", "))
        })?;
        filled.push_str(before);
        filled.push_str(reference);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_images_by_digest() {
        let references = BTreeMap::from([
            ("etcd", "r/etcd@sha256:1".to_owned()),
            ("pause", "p".into()),
        ]);
        let filled = fill("a: IMAGE(etcd)\nb: IMAGE(pause)\n", &references);
        assert_eq!(filled.unwrap(), "a: r/etcd@sha256:1\nb: p\n");
        assert_eq!(fill("nothing", &references).unwrap(), "nothing");
        let unknown = fill("IMAGE(x)", &references).unwrap_err();
        assert!(
            unknown.contains("none of the images etcd, pause"),
            "{unknown}"
        );
        assert!(fill("IMAGE(etcd", &references).is_err());
    }

    #[test]
    fn kubeadm_s_names_are_matched_by_their_last_part() {
        assert!(is_for("a.io/coredns/coredns:v1", "coredns"));
        assert!(is_for("a.io/kube-proxy:v1", "kube-proxy"));
        assert!(!is_for("a.io/kube-proxy:v1", "proxy"));
        assert!(!is_for("a.io/etcd/other:v1", "etcd"));
    }
}
