//! Applying manifests side by side, and asking again where that can help.

use std::time::Duration;

use bootlace_model::expect::{Maintained, mark};
use futures_util::StreamExt as _;
use serde_json::Value;

use crate::manifest::Manifest;
use crate::object::ObjectId;
use crate::operator::Operator;
use crate::readiness::{Readiness, readiness};
use crate::retry::{Refusal, Remedy, back_off};
use crate::status::{Problem, ProblemKind};

/// How many manifests are applied side by side.
const SIDE_BY_SIDE: usize = 8;
/// How often a manifest is tried in one pass.
const TRIES: u32 = 5;

/// A manifest that is applied.
#[derive(Debug, Clone)]
pub(crate) struct Applied {
    /// The manifest.
    pub(crate) manifest: Manifest,
    /// The path of the object's kind and namespace.
    pub(crate) path: String,
    /// The object as the API has it.
    pub(crate) found: Value,
    /// Whether it was there, but not as it should be.
    pub(crate) is_repaired: bool,
    /// What its pods say keeps it from being ready.
    pub(crate) trouble: Option<String>,
}

/// A manifest that is applied, or why it is not.
pub(crate) type Result = std::result::Result<Applied, (Manifest, Refusal)>;

impl Applied {
    /// Tells whether the object is ready.
    pub(crate) fn is_ready(&self) -> bool {
        readiness(&self.manifest.id, &self.found) == Readiness::Ready
    }

    /// Tells whether the object is a kind, which others wait for.
    pub(crate) fn is_kind(&self) -> bool {
        self.manifest.id.kind == "CustomResourceDefinition"
    }

    /// Returns which object it is and what it is like, for those who compare it later.
    pub(crate) fn maintained(&self) -> Maintained {
        let ObjectId {
            group,
            version,
            kind,
            name,
            ..
        } = &self.manifest.id;
        let api_version = match group.as_str() {
            "" => version.clone(),
            group => format!("{group}/{version}"),
        };
        let namespace = self.found.pointer("/metadata/namespace");
        let namespace = namespace.and_then(Value::as_str).map(ToOwned::to_owned);
        Maintained {
            id: bootlace_model::effect::ObjectId {
                api_version,
                kind: kind.clone(),
                namespace,
                name: name.clone(),
            },
            mark: mark(&self.found),
        }
    }

    /// Returns the problem that it is not ready.
    pub(crate) fn problem(&self) -> Problem {
        Problem {
            kind: ProblemKind::NotReady,
            what: self.manifest.to_string(),
            why: format!("not ready: {}", self.missing()),
        }
    }

    /// Returns what is missing until the object is ready.
    pub(crate) fn missing(&self) -> String {
        let missing = match readiness(&self.manifest.id, &self.found) {
            Readiness::Ready => "nothing".into(),
            Readiness::Waiting(why) => why,
        };
        match &self.trouble {
            Some(trouble) => format!("{missing}, {trouble}"),
            None => missing,
        }
    }
}

/// Applies manifests that do not need each other.
pub(crate) async fn apply_all(
    operator: &Operator,
    manifests: Vec<Manifest>,
    is_upkeep: bool,
) -> Vec<Result> {
    futures_util::stream::iter(manifests)
        .map(|manifest| apply(operator, manifest, is_upkeep))
        .buffer_unordered(SIDE_BY_SIDE)
        .collect()
        .await
}

async fn apply(operator: &Operator, manifest: Manifest, is_upkeep: bool) -> Result {
    let mut tries = 0;
    loop {
        tries += 1;
        match apply_once(operator, &manifest, is_upkeep).await {
            Ok((path, found, is_repaired)) => {
                return Ok(Applied {
                    manifest,
                    path,
                    found,
                    is_repaired,
                    trouble: None,
                });
            }
            Err(refusal) if refusal.remedy == Remedy::Change || tries >= TRIES => {
                return Err((manifest, refusal));
            }
            Err(_) => {
                let wait = back_off(
                    tries - 1,
                    Duration::from_millis(100),
                    Duration::from_secs(2),
                );
                tokio::time::sleep(wait).await;
            }
        }
    }
}

async fn apply_once(
    operator: &Operator,
    manifest: &Manifest,
    is_upkeep: bool,
) -> std::result::Result<(String, Value, bool), Refusal> {
    let Operator { api, kinds, .. } = operator;
    let path = kinds.path(api, &manifest.id).await?;
    let name = &manifest.id.name;
    // While everything is installed for the first time, nothing can have drifted.
    let before = if is_upkeep {
        match api.get::<Value>(&path, name).await {
            Ok(found) => Some(Some(found)),
            Err(refusal) if refusal.is_absent() => Some(None),
            Err(refusal) => return Err(refusal),
        }
    } else {
        None
    };
    let found = api.apply(&path, name, &manifest.object).await?;
    let is_repaired = before.is_some_and(|before| has_drifted(before, &found));
    Ok((path, found, is_repaired))
}

/// Tells whether applying changed the object.
fn has_drifted(before: Option<Value>, after: &Value) -> bool {
    before.is_none_or(|before| lasting(before) != lasting(after.clone()))
}

/// Leaves out what changes without anybody changing the object: its status and who owns which field.
fn lasting(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({"metadata": {"uid": "u", "generation": 1, "resourceVersion": "5",
            "managedFields": [1], "labels": {"app": "x"}}, "spec": {"replicas": 1}, "status": {"ready": 0}})
    }

    #[test]
    fn a_changed_status_is_no_drift() {
        let mut after = object();
        after["status"]["ready"] = json!(1);
        after["metadata"]["resourceVersion"] = json!("6");
        after["metadata"]["managedFields"] = json!([2]);
        assert!(!has_drifted(Some(object()), &after));
    }

    #[test]
    fn whatever_a_manifest_can_set_can_drift() {
        assert!(has_drifted(None, &object()));
        for (at, value) in [
            ("/spec/replicas", json!(2)),
            ("/metadata/labels", json!({})),
            ("/metadata/uid", json!("v")),
        ] {
            let mut before = object();
            *before.pointer_mut(at).unwrap() = value;
            assert!(has_drifted(Some(before), &object()), "{at}");
        }
    }
}
