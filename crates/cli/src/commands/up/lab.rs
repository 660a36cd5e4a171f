//! Finding what a local cluster is made of: a machine's root, Kubernetes, and a release.

use std::path::{Path, PathBuf};

use bootlace_model::fault::{Fault, FaultKind};
use serde::Deserialize;

/// What `make lab` prepared, as it wrote it down.
#[derive(Debug, Deserialize)]
pub(super) struct Lab {
    /// The roots of a machine, the first on top.
    pub(super) layers: Vec<PathBuf>,
    /// The release; the archive of its images lies beside it.
    pub(super) release: PathBuf,
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
    /// Reads what was prepared.
    pub(super) fn find() -> Result<Self, Fault> {
        let file = cache().map(|cache| cache.join("lab.json"));
        let file = file.ok_or_else(|| missing("no folder for caches is known: HOME is not set"))?;
        let text = std::fs::read_to_string(&file)
            .map_err(|error| missing(&format!("cannot read {}: {error}", file.display())))?;
        serde_json::from_str(&text)
            .map_err(|error| missing(&format!("{} cannot be read: {error}", file.display())))
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

fn read(file: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(file)
        .map_err(|error| missing(&format!("cannot read {}: {error}", file.display())))
}

fn missing(why: &str) -> Fault {
    let message = format!("what a local cluster is made of is not there: {why}");
    Fault::new(FaultKind::Preflight, message)
        .because("A machine's root, Kubernetes and a release are built once and then reused.")
        .hint("`make lab` in a checkout of bootlace builds them; `make up` does it, too")
}

/// Returns the folder of caches: the first of three that the environment names.
fn cache() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = set("BOOTLACE_CACHE").map(PathBuf::from);
    let user = || set("XDG_CACHE_HOME").map(|cache| Path::new(&cache).join("bootlace"));
    let home = || set("HOME").map(|home| Path::new(&home).join(".cache/bootlace"));
    own.or_else(user).or_else(home)
}
