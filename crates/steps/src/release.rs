//! What a release payload must be like to be trusted, and the names that hold without one.
//!
//! A payload is a folder in the layout of an OpenShift release image: `release-manifests/` with
//! `image-references`, an `ImageStream` whose tags name the images, and `release-metadata`, which
//! names the version. Both files may also lie in the folder itself.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::fault::{Fault, Place};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::FileTree;
use serde::{Deserialize, Serialize};

/// What later steps know of the release; also the content of its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Release {
    /// The version of the whole.
    pub(crate) version: String,
    /// The version of Kubernetes in it, if it says one.
    pub(crate) kubernetes_version: Option<String>,
    /// What the payload hashes to; none for built-in names.
    pub(crate) digest: Option<Digest>,
    /// Whether every image is named by its digest.
    pub(crate) pinned: bool,
    /// Where each image is pulled from, by its name.
    pub(crate) images: BTreeMap<String, String>,
}

/// Which version a built-in image has.
#[derive(Debug, Clone, Copy)]
enum Tag {
    /// That of Kubernetes.
    Kubernetes,
    /// Its own.
    Own(&'static str),
}

/// The images of plain Kubernetes: name, repository, tag. Tags can be moved, so this pins nothing.
static BUILT_IN: &[(&str, &str, Tag)] = &[
    // No registry has it: it is imported on the machine, like every image without a network.
    (
        "bootlace",
        "localhost/bootlace",
        Tag::Own(concat!("v", env!("CARGO_PKG_VERSION"))),
    ),
    (
        "coredns",
        "registry.k8s.io/coredns/coredns",
        Tag::Own("v1.15.0"),
    ),
    ("etcd", "registry.k8s.io/etcd", Tag::Own("3.7.3-0")),
    (
        "kube-apiserver",
        "registry.k8s.io/kube-apiserver",
        Tag::Kubernetes,
    ),
    (
        "kube-controller-manager",
        "registry.k8s.io/kube-controller-manager",
        Tag::Kubernetes,
    ),
    ("kube-proxy", "registry.k8s.io/kube-proxy", Tag::Kubernetes),
    (
        "kube-scheduler",
        "registry.k8s.io/kube-scheduler",
        Tag::Kubernetes,
    ),
    ("pause", "registry.k8s.io/pause", Tag::Own("3.10.1")),
];

/// Names the images of a version of plain Kubernetes, without digests.
pub(crate) fn built_in(kubernetes_version: &str) -> Release {
    let images = BUILT_IN.iter().map(|&(name, repository, tag)| {
        let tag = match tag {
            Tag::Kubernetes => kubernetes_version,
            Tag::Own(tag) => tag,
        };
        (name.to_owned(), format!("{repository}:{tag}"))
    });
    Release {
        version: kubernetes_version.to_owned(),
        kubernetes_version: Some(kubernetes_version.to_owned()),
        digest: None,
        pinned: false,
        images: images.collect(),
    }
}

#[derive(Deserialize)]
struct ImageStream {
    kind: String,
    spec: ImageStreamSpec,
}

#[derive(Deserialize)]
struct ImageStreamSpec {
    tags: Vec<ImageTag>,
}

#[derive(Deserialize)]
struct ImageTag {
    name: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    from: ImageSource,
}

#[derive(Deserialize)]
struct ImageSource {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    version: String,
    kubernetes_version: Option<String>,
}

/// A payload that was read, before it is compared with what the user wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// What it says.
    pub(crate) release: Release,
    /// What its images say of their version of Kubernetes, in annotations.
    pub(crate) annotated: BTreeSet<String>,
}

/// Reads a payload, or names all that is wrong with it.
pub(crate) fn read(folder: &TargetPath, tree: &FileTree) -> Result<Payload, Fault> {
    let digest = digest(folder, tree)?;
    let stream: ImageStream = json(folder, tree, "image-references")?;
    let metadata: Metadata = json(folder, tree, "release-metadata")?;
    let images = images(folder, &stream)?;
    let annotated = stream.spec.tags.iter().flat_map(kubernetes_versions);
    Ok(Payload {
        annotated: annotated.map(ToOwned::to_owned).collect(),
        release: Release {
            version: metadata.version,
            kubernetes_version: metadata.kubernetes_version,
            digest: Some(digest),
            pinned: true,
            images,
        },
    })
}

/// Hashes a payload: every file's digest and path, sorted by path, as `sha256sum` prints them.
///
/// So it can be checked by hand, in the folder: `find . -type f -printf '%P\n' | LC_ALL=C sort |
/// xargs -d '\n' sha256sum | sha256sum`.
fn digest(folder: &TargetPath, tree: &FileTree) -> Result<Digest, Fault> {
    let mut odd: Vec<String> = tree
        .odd
        .iter()
        .map(|(relative, what)| format!("{folder}/{relative} is {what}"))
        .collect();
    // sha256sum escapes such names, and two listings could be made to look the same.
    let strange = |name: &str| name.contains('\\') || name.contains(char::is_control);
    let strange = tree.files.iter().filter(|file| strange(&file.relative));
    odd.extend(strange.map(|file| format!("{folder}/{:?} has a strange name", file.relative)));
    if !odd.is_empty() {
        let mut fault =
            Fault::bad_input(format!("the release {folder} is not made of plain files"))
                .in_file(folder.as_str())
                .because(
                    "its digest covers files only, so something else in it could change unseen",
                )
                .hint("extract the release again into an empty folder");
        fault.details = odd;
        return Err(fault);
    }
    let mut lines: Vec<(&str, String)> = tree
        .files
        .iter()
        .map(|file| (file.relative.as_str(), Digest::of(&file.content).hex()))
        .collect();
    lines.sort_unstable();
    let listing = lines
        .iter()
        .flat_map(|(relative, hex)| [hex, "  ", relative, "\n"]);
    Ok(Digest::of_parts(listing.map(str::as_bytes)))
}

/// Reads one of the payload's two files.
fn json<T: serde::de::DeserializeOwned>(
    folder: &TargetPath,
    tree: &FileTree,
    name: &str,
) -> Result<T, Fault> {
    let inner = format!("release-manifests/{name}");
    let find = |relative: &str| tree.files.iter().find(|file| file.relative == relative);
    let file = match (find(&inner), find(name)) {
        (Some(file), None) | (None, Some(file)) => file,
        (Some(_), Some(_)) => {
            let message = format!("{folder} has both {inner} and {name}");
            return Err(Fault::bad_input(message)
                .in_file(folder.as_str())
                .because("they could name different images, and only one of them would count")
                .hint("remove the one that does not belong to the release"));
        }
        (None, None) => {
            let message = format!("{folder} has neither {inner} nor {name}");
            return Err(Fault::bad_input(message)
                .in_file(folder.as_str())
                .because("a release is known by these files")
                .hint("`oc adm release extract --to DIR IMAGE` writes such a folder")
                .hint("correct spec.release.dir"));
        }
    };
    serde_json::from_slice(&file.content).map_err(|error| {
        let path = format!("{folder}/{}", file.relative);
        let message = error.to_string();
        let what = message
            .rsplit_once(" at line ")
            .map_or(&*message, |(what, _)| what);
        Fault::bad_input(format!("{name} of the release cannot be read: {what}"))
            .at(Place {
                file: path,
                line: Some(error.line() as u64),
                column: Some(error.column() as u64),
            })
            .because("without it nobody knows which images the cluster is made of")
            .hint("extract the release again into an empty folder")
    })
}

/// Takes the images from the stream; each must have a name of its own and a digest.
fn images(folder: &TargetPath, stream: &ImageStream) -> Result<BTreeMap<String, String>, Fault> {
    let mut images = BTreeMap::new();
    let mut problems = Vec::new();
    if stream.kind != "ImageStream" {
        problems.push(format!("its kind is {:?}, not ImageStream", stream.kind));
    }
    if stream.spec.tags.is_empty() {
        problems.push("it names no images".into());
    }
    for tag in &stream.spec.tags {
        let image = &tag.from.name;
        if tag.name.is_empty() {
            problems.push(format!("{image} has no name"));
        } else if !is_pinned(image) {
            problems.push(format!("{} is not named by a digest: {image}", tag.name));
        } else if let Some(other) = images.insert(tag.name.clone(), image.clone()) {
            problems.push(format!("{} is there twice: {other} and {image}", tag.name));
        }
    }
    if problems.is_empty() {
        return Ok(images);
    }
    let message = format!("the images of the release {folder} cannot be trusted");
    let mut fault = Fault::bad_input(message)
        .in_file(folder.as_str())
        .because(
            "the cluster runs these images; a tag can be moved to another one, a digest cannot",
        )
        .hint("name every image as REPOSITORY@sha256:DIGEST in image-references");
    fault.details = problems;
    Err(fault)
}

/// Tells whether a pull spec names one image for ever.
pub(crate) fn is_pinned(image: &str) -> bool {
    image
        .split_once('@')
        .is_some_and(|(name, digest)| !name.is_empty() && digest.parse::<Digest>().is_ok())
}

/// Lists what an image says of the version of Kubernetes in it: `kubernetes=1.36.3,other=2`.
fn kubernetes_versions(tag: &ImageTag) -> impl Iterator<Item = &str> {
    let versions = tag.annotations.get("io.openshift.build.versions");
    let versions = versions.map(String::as_str).unwrap_or_default().split(',');
    versions.filter_map(|version| version.trim().strip_prefix("kubernetes="))
}

/// Tells whether two versions are the same but for a leading `v`.
pub(crate) fn same_version(a: &str, b: &str) -> bool {
    a.strip_prefix('v').unwrap_or(a) == b.strip_prefix('v').unwrap_or(b)
}
