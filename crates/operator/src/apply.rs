//! Applying manifests side by side, and asking again where that can help.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;

use crate::manifest::Manifest;
use crate::operator::Operator;
use crate::readiness::{Readiness, readiness};
use crate::retry::{Refusal, Remedy, back_off};

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

    /// Returns what is missing until the object is ready.
    pub(crate) fn missing(&self) -> String {
        match readiness(&self.manifest.id, &self.found) {
            Readiness::Ready => "nothing".into(),
            Readiness::Waiting(why) => why,
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
    let before = match is_upkeep {
        true => match api.get::<Value>(&path, name).await {
            Ok(found) => Some(Some(found)),
            Err(refusal) if refusal.is_absent() => Some(None),
            Err(refusal) => return Err(refusal),
        },
        false => None,
    };
    let found = api.apply(&path, name, &manifest.object).await?;
    let is_repaired = before.is_some_and(|before| has_drifted(before.as_ref(), &found));
    Ok((path, found, is_repaired))
}

/// Tells whether applying changed the object.
///
/// Objects with a generation count the changes of what is wanted; of others every change counts.
fn has_drifted(before: Option<&Value>, after: &Value) -> bool {
    let Some(before) = before else {
        return true;
    };
    let field = |object: &Value, name: &str| object.pointer(&format!("/metadata/{name}")).cloned();
    let generation = field(after, "generation");
    let is_recreated = field(before, "uid") != field(after, "uid");
    is_recreated
        || match generation {
            Some(_) => field(before, "generation") != generation || labels_differ(before, after),
            None => field(before, "resourceVersion") != field(after, "resourceVersion"),
        }
}

/// Labels and annotations do not count as what is wanted, yet a manifest sets them.
fn labels_differ(before: &Value, after: &Value) -> bool {
    let field = |object: &Value, name: &str| object.pointer(&format!("/metadata/{name}")).cloned();
    ["labels", "annotations"]
        .iter()
        .any(|name| field(before, name) != field(after, name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(generation: u64, version: &str) -> Value {
        json!({"metadata": {"uid": "u", "generation": generation, "resourceVersion": version}})
    }

    #[test]
    fn a_changed_status_is_no_drift() {
        assert!(!has_drifted(Some(&deployment(1, "5")), &deployment(1, "6")));
        assert!(has_drifted(Some(&deployment(1, "5")), &deployment(2, "6")));
    }

    #[test]
    fn every_change_of_an_object_without_generation_is_drift() {
        let object = |version: &str| json!({"metadata": {"uid": "u", "resourceVersion": version}});
        assert!(!has_drifted(Some(&object("5")), &object("5")));
        assert!(has_drifted(Some(&object("5")), &object("6")));
    }

    #[test]
    fn what_was_deleted_or_lost_its_label_has_drifted() {
        let mut labelled = deployment(1, "6");
        labelled["metadata"]["labels"] = json!({"app": "x"});
        assert!(has_drifted(Some(&deployment(1, "5")), &labelled));
        assert!(has_drifted(None, &labelled));
        let mut other = labelled.clone();
        other["metadata"]["uid"] = json!("v");
        assert!(has_drifted(Some(&labelled), &other));
    }
}
