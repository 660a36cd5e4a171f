//! The `ClusterVersion`: which release the cluster shall run, and how far it is.

use bootlace_model::expect::Maintained;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::overrides::Override;

/// The path of the one object, and of its kind.
pub(crate) const RESOURCE: &str = "/apis/bootlace.dev/v1alpha1/clusterversions";
/// The name of the one object.
pub(crate) const NAME: &str = "version";

/// The object as far as the operator reads it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ClusterVersion {
    /// Who it is and how often it was changed.
    pub(crate) metadata: Metadata,
    /// What is wanted.
    pub(crate) spec: Spec,
    /// What was told last.
    pub(crate) status: Status,
}

/// What tells one state of the object from another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Metadata {
    /// The object's own id: another one if it was deleted and made again.
    pub(crate) uid: String,
    /// How often what is wanted was changed.
    pub(crate) generation: i64,
    /// How often anything was changed.
    pub(crate) resource_version: String,
}

impl Metadata {
    /// Tells whether something else is wanted now; a changed status is not that.
    pub(crate) fn wants_the_same(&self, other: &Self) -> bool {
        (&self.uid, self.generation) == (&other.uid, other.generation)
    }
}

/// What is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Spec {
    /// The release.
    pub(crate) release: Release,
    /// What of it is left alone.
    pub(crate) overrides: Vec<Override>,
}

/// A release, by name and by content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Release {
    /// Its version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// Its image.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) image: String,
    /// The digest of its content.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) digest: String,
}

/// How far the cluster is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Status {
    /// The generation that this speaks of.
    pub(crate) observed_generation: i64,
    /// The release that this speaks of.
    pub(crate) desired: Release,
    /// What holds: `Available`, `Progressing`, `Failing`; also what others put there.
    pub(crate) conditions: Vec<Condition>,
    /// Every release that was worked on, newest first.
    pub(crate) history: Vec<Attempt>,
    /// How many manifests there are, and how far they are.
    pub(crate) manifests: Manifests,
    /// The objects of the release and what they were like when it was last complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) objects: Option<Vec<Maintained>>,
}

impl Status {
    /// Returns the newest attempt if it was for a release and reached its end.
    pub(crate) fn has_completed(&self, release: &Release) -> bool {
        let newest = self.history.first();
        self.desired == *release && newest.is_some_and(|newest| newest.state == COMPLETED)
    }
}

/// Something that holds or does not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub(crate) name: String,
    /// `True`, `False` or `Unknown`.
    pub(crate) status: String,
    /// Why, as one word for programs.
    pub(crate) reason: String,
    /// Why, for people.
    pub(crate) message: String,
    /// When the status last became another one.
    pub(crate) last_transition_time: String,
    /// Fields that others use.
    #[serde(flatten)]
    pub(crate) other: serde_json::Map<String, Value>,
}

/// The state of an attempt that is under way.
pub(crate) const PARTIAL: &str = "Partial";
/// The state of an attempt that reached its end.
pub(crate) const COMPLETED: &str = "Completed";

/// The work on one release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Attempt {
    /// `Partial` or `Completed`.
    pub(crate) state: String,
    /// The release's version.
    pub(crate) version: String,
    /// When work on it began.
    pub(crate) started_time: String,
    /// When everything of it was applied and ready for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completion_time: Option<String>,
}

/// How many manifests there are, and how far they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Manifests {
    /// How many there are, without those that are left alone.
    pub(crate) total: usize,
    /// How many are applied.
    pub(crate) applied: usize,
    /// The run level that is worked on, or the last one.
    pub(crate) level: u16,
}
