//! Images of the fake runtime. They lie on the disk, so that a reboot does not lose them.

use std::collections::BTreeSet;

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;

use super::super::state::State;
use super::RUNTIME;
use super::units::refused;

/// Where the runtime remembers its images.
const STORE: &str = "/var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db";
/// How an archive begins.
const ARCHIVE: &str = "images:\n";

/// Makes an archive that holds images.
pub fn archive(images: &[&str]) -> Vec<u8> {
    let lines: String = images.iter().flat_map(|image| [*image, "\n"]).collect();
    format!("{ARCHIVE}{lines}").into_bytes()
}

impl State {
    /// Lists all images that were loaded, whether the runtime runs or not.
    pub(super) fn loaded_images(&self) -> BTreeSet<String> {
        let text = self.text(STORE).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Lists all images; none if no runtime answers.
    pub(crate) fn images(&self) -> Option<BTreeSet<String>> {
        self.works_since(RUNTIME).map(|_| self.loaded_images())
    }

    /// Reads an archive.
    pub(crate) fn read_archive(
        &self,
        archive: &TargetPath,
        digest: Option<Digest>,
    ) -> HostResult<Vec<String>> {
        let path = archive.as_str();
        let missing = || refused("import", path, "there is no such archive");
        let text = self.text(path).ok_or_else(missing)?;
        let found = Digest::of(text.as_bytes());
        if let Some(wanted) = digest.filter(|wanted| *wanted != found) {
            let url = path.to_owned();
            return Err(HostError::WrongDigest { url, wanted, found });
        }
        let odd = || refused("import", path, "it is no archive of images");
        let lines = text.strip_prefix(ARCHIVE).ok_or_else(odd)?;
        Ok(lines.lines().map(ToOwned::to_owned).collect())
    }

    /// Loads images, durably.
    pub(crate) fn load_images(&mut self, images: &[String]) -> HostResult<()> {
        self.must_have_runtime("import", "images")?;
        let mut all = self.loaded_images();
        all.extend(images.iter().cloned());
        self.keep_images(&all)
    }

    /// Removes an image, durably.
    pub(super) fn unload_image(&mut self, image: &str) -> HostResult<()> {
        self.must_have_runtime("remove", image)?;
        let mut all = self.loaded_images();
        all.remove(image);
        self.keep_images(&all)
    }

    /// Fails if no runtime answers.
    pub(super) fn must_have_runtime(&self, act: &'static str, target: &str) -> HostResult<()> {
        match self.works_since(RUNTIME) {
            Some(_) => Ok(()),
            None => Err(refused(act, target, "no container runtime answers")),
        }
    }

    /// Makes the store of images if there is none yet, as the runtime does when it starts.
    pub(super) fn begin_images(&mut self) -> HostResult<()> {
        match self.text(STORE) {
            Some(_) => Ok(()),
            None => self.keep_images(&BTreeSet::new()),
        }
    }

    fn keep_images(&mut self, images: &BTreeSet<String>) -> HostResult<()> {
        let text: String = images.iter().flat_map(|image| [image, "\n"]).collect();
        self.keep(STORE, text.as_bytes())
    }
}
