//! Changes of a machine that runs: units that start, images, objects of an API, and waiting.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CommandUndo, Origin, Product, UnitName};
use crate::expect::Claim;
use crate::ids::Digest;
use crate::path::TargetPath;
use crate::symptom::Symptom;

/// Starts a unit in the running system, reading changed unit files first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartUnit {
    /// Which.
    pub unit: UnitName,
    /// Why one that already runs is started anew; it is left alone if this is not given.
    pub anew: Option<String>,
    /// How long it may take until systemd calls it started.
    pub within: Duration,
    /// What it leaves behind when it is stopped; undo removes those that were absent before.
    pub products: Vec<Product>,
    /// Which decision starts it.
    pub origin: Origin,
}

impl StartUnit {
    /// Returns what stops the unit again.
    pub fn stop(&self) -> CommandUndo {
        let words = ["systemctl", "stop", self.unit.as_str()];
        CommandUndo::Run(words.map(ToOwned::to_owned).to_vec())
    }
}

/// Loads images from an archive into the container runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportImages {
    /// The archive.
    pub archive: TargetPath,
    /// What the archive must hash to, if that is known.
    pub digest: Option<Digest>,
    /// The references that must be there afterwards.
    pub images: Vec<String>,
    /// How long it may take.
    pub within: Duration,
    /// Which decision loads them.
    pub origin: Origin,
}

/// Gives an API its objects, in an order in which they can be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyObjects {
    /// Names the act in plans and journals; one name for one act within a step.
    pub name: String,
    /// How the API is reached.
    pub kubeconfig: TargetPath,
    /// The objects; namespaces and definitions are applied before what needs them.
    pub objects: Vec<ApiObject>,
    /// How long all of them together may take.
    pub within: Duration,
    /// Which of them stay for as long as the cluster does, and how it is asked for them.
    pub lasting: Option<Given>,
    /// Where they come from.
    pub origin: Origin,
}

/// Objects that an API was given and shall keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Given {
    /// How the API is reached later, when what a bootstrap used is gone.
    pub kubeconfig: TargetPath,
    /// The objects.
    pub objects: Vec<GivenObject>,
}

/// An object that an API was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GivenObject {
    /// Which.
    #[serde(flatten)]
    pub id: ObjectId,
    /// The file that it was read from.
    pub source: String,
}

/// Waits until something holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Await {
    /// What must hold before the next effect.
    pub claim: Claim,
    /// How long it may take.
    pub within: Duration,
    /// Why the next effect needs it.
    pub because: &'static str,
    /// What would make waiting pointless.
    pub symptoms: Vec<Symptom>,
    /// Which decision waits.
    pub origin: Origin,
}

/// Identifies an object of an API.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ObjectId {
    /// Group and version, such as `apps/v1`.
    pub api_version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The namespace; none for objects that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.namespace.as_deref();
        let namespace = namespace.map(|it| format!("{it}/")).unwrap_or_default();
        write!(f, "{} {namespace}{}", self.kind, self.name)
    }
}

/// An object of an API. Its content may be secret and is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiObject {
    /// Which.
    pub id: ObjectId,
    /// The whole object.
    pub content: Arc<serde_json::Value>,
    /// The file that it was read from, for messages.
    pub source: String,
}

impl ApiObject {
    /// Takes an object that says what it is; none if it does not.
    pub fn new(content: serde_json::Value, source: impl Into<String>) -> Option<Self> {
        let text = |pointer: &str| Some(content.pointer(pointer)?.as_str()?.to_owned());
        let id = ObjectId {
            api_version: text("/apiVersion")?,
            kind: text("/kind")?,
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name")?,
        };
        let (content, source) = (Arc::new(content), source.into());
        Some(Self {
            id,
            content,
            source,
        })
    }
}

impl fmt::Debug for ApiObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiObject({})", self.id)
    }
}

impl ApplyObjects {
    /// Hashes all objects, in order.
    pub fn digest(&self) -> Digest {
        let texts: Vec<String> = self.objects.iter().map(|o| o.content.to_string()).collect();
        Digest::of_parts(texts.iter().map(String::as_bytes))
    }
}
