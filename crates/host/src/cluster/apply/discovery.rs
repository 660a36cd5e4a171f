//! Which kinds an API serves, and where.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bootlace_engine::port::HostResult;
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use super::super::api::Api;
use super::refusal::Refusal;

/// Where objects of a kind lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// The name of the kind in paths, such as `deployments`.
    pub(super) plural: String,
    /// Whether they lie in namespaces.
    pub(super) is_namespaced: bool,
}

/// The kinds of one group and version, by name.
type Kinds = BTreeMap<String, Resource>;

/// What is known so far; each group and version is asked for once, and again if a kind is missing.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    versions: Mutex<BTreeMap<String, Arc<AsyncMutex<Option<Kinds>>>>>,
}

impl Discovery {
    /// Finds out where objects of a kind lie; none if the API does not serve it.
    pub(super) async fn find(
        &self,
        api: &Api,
        api_version: &str,
        kind: &str,
    ) -> HostResult<Result<Option<Resource>, Refusal>> {
        let version = self.version(api_version);
        // Held while the API is asked, so that others who want to know the same wait for the answer.
        let mut known = version.lock().await;
        if let Some(resource) = known.as_ref().and_then(|kinds| kinds.get(kind)) {
            return Ok(Ok(Some(resource.clone())));
        }
        let mut parts = vec![if api_version.contains('/') {
            "apis"
        } else {
            "api"
        }];
        parts.extend(api_version.split('/'));
        let answer = match api.get(&parts).await {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(Refusal::below(error)?)),
        };
        let kinds = match answer.status {
            200 => read(&answer.body),
            404 => Kinds::new(),
            _ => return Ok(Err(Refusal::of(&answer, |_| false))),
        };
        let found = kinds.get(kind).cloned();
        *known = Some(kinds);
        Ok(Ok(found))
    }

    /// Forgets what is known of a group and version.
    pub(super) async fn forget(&self, api_version: &str) {
        *self.version(api_version).lock().await = None;
    }

    fn version(&self, api_version: &str) -> Arc<AsyncMutex<Option<Kinds>>> {
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(versions.entry(api_version.to_owned()).or_default())
    }
}

/// Reads a list of resources; parts of one, such as `pods/log`, are not kinds of their own.
fn read(list: &Value) -> Kinds {
    let resources = list.get("resources").and_then(Value::as_array);
    let whole = resources.into_iter().flatten().filter_map(|resource| {
        let plural = resource.get("name")?.as_str()?;
        let kind = resource.get("kind")?.as_str()?.to_owned();
        let resource = Resource {
            plural: plural.to_owned(),
            is_namespaced: resource.get("namespaced")?.as_bool()?,
        };
        (!plural.contains('/')).then_some((kind, resource))
    });
    whole.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_known_by_their_whole_resources() {
        let kinds = read(&json!({"resources": [
            {"name": "pods", "kind": "Pod", "namespaced": true},
            {"name": "pods/eviction", "kind": "Eviction", "namespaced": true},
            {"name": "nodes", "kind": "Node", "namespaced": false},
            {"kind": "Broken"},
        ]}));
        assert_eq!(kinds.keys().collect::<Vec<_>>(), ["Node", "Pod"]);
        assert!(kinds["Pod"].is_namespaced && !kinds["Node"].is_namespaced);
        assert_eq!(kinds["Node"].plural, "nodes");
        assert!(read(&json!("nothing")).is_empty());
    }
}
