//! The images that come with a release, so that nothing has to be pulled.

use bootlace_model::config::{ReleaseSource, Settings};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::step::PlanError;
use serde::Deserialize;

use crate::assets::below;
use crate::facts::BUNDLE;

/// The list of the images, inside the release's folder.
const LIST: &str = "images/bundle.json";

/// An archive of images, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bundle {
    /// The archive.
    pub(crate) archive: TargetPath,
    /// What the archive hashes to.
    pub(crate) digest: Digest,
    images: Vec<Image>,
}

/// The list as it is written.
#[derive(Debug, Deserialize)]
struct List {
    archive: Archive,
    images: Vec<Image>,
}

/// The archive of all images, beside the release's folder.
#[derive(Debug, Deserialize)]
struct Archive {
    file: String,
    digest: Digest,
}

/// One image of the list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Image {
    reference: String,
}

impl Bundle {
    /// Returns how pods name the images.
    pub(crate) fn references(&self) -> Vec<String> {
        let images = self.images.iter();
        images.map(|image| image.reference.clone()).collect()
    }
}

/// Returns where the list lies, if the release is a folder.
pub(crate) fn list_path(settings: &Settings) -> Option<TargetPath> {
    match &settings.cluster.release {
        ReleaseSource::Dir { path, .. } => Some(below(path, LIST)),
        ReleaseSource::BuiltIn | ReleaseSource::Image(_) => None,
    }
}

/// Reads the list; none if the release brings no images along.
pub(crate) fn read(settings: &Settings, facts: &Facts) -> Result<Option<Bundle>, PlanError> {
    let ReleaseSource::Dir { path: folder, .. } = &settings.cluster.release else {
        return Ok(None);
    };
    let Some(content) = facts.get(&BUNDLE)?.0 else {
        return Ok(None);
    };
    let path = below(folder, LIST);
    let list: List = serde_json::from_slice(&content).map_err(|error| {
        Fault::bad_input(format!("{path} cannot be read: {error}")).in_file(path.as_str())
    })?;
    let Archive { file, digest } = list.archive;
    let archive = beside(folder, &file).ok_or_else(|| {
        Fault::bad_input(format!("{path} names the archive {file:?}"))
            .in_file(path.as_str())
            .because("an archive is named by its file name, and lies beside the release's folder")
    })?;
    Ok(Some(Bundle {
        archive,
        digest,
        images: list.images,
    }))
}

/// Finds an archive beside the release's folder: it is too large to be hashed with the rest.
fn beside(folder: &TargetPath, name: &str) -> Option<TargetPath> {
    let plain = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    plain.then_some(())?;
    folder.parent()?.join(name).ok()
}
