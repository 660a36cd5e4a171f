//! The list of what a stage wrote.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::config::Settings;
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use serde::{Deserialize, Serialize};

use crate::assets::asset;

/// The list; `files` is what [`Claim::ListedFiles`] reads. Paths begin at the asset folder.
///
/// [`Claim::ListedFiles`]: bootlace_model::expect::Claim::ListedFiles
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rendered {
    /// The files whose content is known when they are rendered.
    pub(super) files: BTreeMap<String, Digest>,
    /// The files that hold copies of others, such as certificates.
    pub(super) composed: BTreeSet<String>,
}

impl Rendered {
    /// Reads what an earlier run listed; an absent list lists nothing.
    ///
    /// Whatever it lists and nobody wants any more is removed, so it may name only what a stage
    /// writes.
    pub(super) fn read(
        settings: &Settings,
        record: &'static str,
        folders: &[&str],
        content: Option<&[u8]>,
    ) -> Result<Self, Fault> {
        let Some(content) = content else {
            return Ok(Self::default());
        };
        let path = asset(settings, record);
        let refused = |why: String| {
            Fault::refused(format!("{path} is not the list that the step wrote: {why}"))
                .in_file(path.as_str())
                .because("files that an earlier run rendered can no longer be told from others")
                .hint(format!("remove {path}, and what is not wanted beside it"))
        };
        let rendered: Self =
            serde_json::from_slice(content).map_err(|error| refused(error.to_string()))?;
        let is_ours = |listed: &&String| {
            let inside = |folder: &&str| {
                listed
                    .strip_prefix(*folder)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            folders.iter().any(inside)
        };
        if let Some(strange) = rendered.paths().find(|listed| !is_ours(listed)) {
            return Err(refused(format!("no stage writes {strange:?}")));
        }
        Ok(rendered)
    }

    /// Lists all paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.files.keys().chain(&self.composed)
    }

    /// Tells whether a path is listed.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.composed.contains(path)
    }
}
