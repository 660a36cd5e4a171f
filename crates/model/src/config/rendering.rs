//! Who renders: this tool itself, or an image that is asked to.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::grammar::duration;

/// How stages are rendered by images instead of by this tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RenderingSettings {
    /// The images, by the component that each of them renders; all others are rendered here.
    pub images: BTreeMap<String, RendererImage>,
    /// How long one image may take, pulling included.
    #[serde(serialize_with = "duration::serialize")]
    pub within: Duration,
    /// Words that stand between `podman` and `run`.
    pub podman_flags: Vec<String>,
    /// Words that stand after `podman run`.
    pub run_flags: Vec<String>,
}

/// An image that renders a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RendererImage {
    /// The image, by its digest.
    pub image: String,
    /// What it is called with; as `bootlace render` is called if nothing is given.
    pub arguments: Vec<String>,
}

impl RendererImage {
    /// Tells whether the image can be no other than the one that was meant.
    pub fn is_pinned(&self) -> bool {
        self.image.contains("@sha256:")
    }
}

impl Default for RenderingSettings {
    fn default() -> Self {
        Self {
            images: BTreeMap::new(),
            within: Duration::from_mins(5),
            podman_flags: vec![],
            run_flags: vec![],
        }
    }
}

impl RenderingSettings {
    /// Tells whether everything is rendered by this tool itself.
    pub fn is_built_in(&self) -> bool {
        self.images.is_empty()
    }
}
