//! Finding what a local cluster is made of: a machine's root, Kubernetes, and a release.

use std::path::{Path, PathBuf};

use bootlace_model::fault::{Fault, FaultKind};
use serde::Deserialize;

/// What `make lab` prepared, as it wrote it down.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lab {
    /// The roots of a machine, the first on top.
    pub(super) layers: Vec<PathBuf>,
    /// The release; the archive of its images lies beside it.
    pub(super) release: PathBuf,
    /// What a machine's disk for containers begins with.
    pub(super) image_store: Option<PathBuf>,
}

/// The record of one checkout, in the cache.
#[derive(Debug, Deserialize)]
struct Record {
    lab: Option<Lab>,
}

/// The part of a release's list of images that is needed here.
#[derive(Debug, Deserialize)]
struct Bundle {
    images: Vec<Image>,
}

#[derive(Debug, Deserialize)]
struct Image {
    name: String,
    reference: String,
}

impl Lab {
    /// Reads what was prepared: as the environment names it, else the latest of the cache.
    pub(super) fn find() -> Result<Self, Fault> {
        let cannot = |file: &Path, error: &dyn std::fmt::Display| {
            missing(&format!("{} cannot be read: {error}", file.display()))
        };
        if let Some(file) = std::env::var_os("BOOTLACE_LAB") {
            let file = PathBuf::from(file);
            return serde_json::from_str(&read(&file)?).map_err(|error| cannot(&file, &error));
        }
        let file = latest().ok_or_else(|| missing("nothing was ever prepared"))?;
        let record: Record =
            serde_json::from_str(&read(&file)?).map_err(|error| cannot(&file, &error))?;
        record
            .lab
            .ok_or_else(|| missing("only programs were prepared"))
    }

    /// Replaces `IMAGE(name)` in a manifest by the reference that the release has for it.
    pub(super) fn with_images(&self, manifest: &str) -> Result<String, Fault> {
        let list = self.release.join("images/bundle.json");
        let text = read(&list)?;
        let bundle: Bundle = serde_json::from_str(&text)
            .map_err(|error| missing(&format!("{} cannot be read: {error}", list.display())))?;
        let mut manifest = manifest.to_owned();
        for image in bundle.images {
            manifest = manifest.replace(&format!("IMAGE({})", image.name), &image.reference);
        }
        if manifest.contains("IMAGE(") {
            return Err(missing("the release lacks an image of the sample add-on"));
        }
        Ok(manifest)
    }
}

/// Reads a file of what was prepared.
pub(super) fn read(file: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(file)
        .map_err(|error| missing(&format!("cannot read {}: {error}", file.display())))
}

/// Says what is not there, and how it is made.
pub(super) fn missing(why: &str) -> Fault {
    let message = format!("what a local cluster is made of is not there: {why}");
    Fault::new(FaultKind::Preflight, message)
        .because("A machine's root, Kubernetes and a release are built once and then reused.")
        .hint("`make lab` in a checkout of bootlace builds them; `make up` does it, too")
}

/// Returns the record that was written last.
pub(super) fn latest() -> Option<PathBuf> {
    let records = std::fs::read_dir(cache()?.join("checkouts")).ok()?;
    let records = records.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((path.metadata().ok()?.modified().ok()?, path))
    });
    records.max().map(|(_, path)| path)
}

/// Returns the folder of caches: the first of three that the environment names.
fn cache() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = set("BOOTLACE_CACHE").map(PathBuf::from);
    let user = || set("XDG_CACHE_HOME").map(|cache| Path::new(&cache).join("bootlace"));
    let home = || set("HOME").map(|home| Path::new(&home).join(".cache/bootlace"));
    own.or_else(user).or_else(home)
}
