//! Which path of the API a kind has; the API itself knows best, and is asked once for each group.

use std::collections::HashMap;

use tokio::sync::Mutex;

use crate::api::Api;
use crate::object::ObjectId;
use crate::retry::Refusal;

/// A kind as the API serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Served {
    /// The word in its path.
    plural: String,
    /// Whether its objects are in namespaces.
    is_namespaced: bool,
}

/// The kinds that the API serves, as far as they were asked for.
#[derive(Default)]
pub(crate) struct Kinds {
    /// By version of a group, then by kind. The lock is held while asking, so that many who need the
    /// same group ask once.
    known: Mutex<HashMap<String, HashMap<String, Served>>>,
}

impl Kinds {
    /// Returns the path of an object's kind and namespace.
    pub(crate) async fn path(&self, api: &Api, id: &ObjectId) -> Result<String, Refusal> {
        let api_version = api_version(id);
        let mut known = self.known.lock().await;
        if let Some(served) = known
            .get(&api_version)
            .and_then(|kinds| kinds.get(&id.kind))
        {
            return Ok(path(id, &api_version, served));
        }
        let list = api.kinds(&api_version).await.map_err(|refusal| {
            if refusal.is_absent() {
                return Refusal::unknown_kind(&id.kind, &api_version);
            }
            refusal
        })?;
        let kinds = list
            .resources
            .into_iter()
            .filter(|kind| !kind.name.contains('/'));
        let kinds = kinds.map(|kind| {
            let served = Served {
                plural: kind.name,
                is_namespaced: kind.namespaced,
            };
            (kind.kind, served)
        });
        let kinds: HashMap<String, Served> = kinds.collect();
        let found = kinds
            .get(&id.kind)
            .map(|served| path(id, &api_version, served));
        known.insert(api_version.clone(), kinds);
        found.ok_or_else(|| Refusal::unknown_kind(&id.kind, &api_version))
    }

    /// Forgets everything: what is served changes when a release does.
    pub(crate) async fn forget(&self) {
        self.known.lock().await.clear();
    }
}

fn api_version(id: &ObjectId) -> String {
    match &*id.group {
        "" => id.version.clone(),
        group => format!("{group}/{}", id.version),
    }
}

fn path(id: &ObjectId, api_version: &str, served: &Served) -> String {
    let root = if id.group.is_empty() { "api" } else { "apis" };
    let plural = &served.plural;
    if served.is_namespaced {
        let namespace = id.namespace.as_deref().unwrap_or("default");
        return format!("/{root}/{api_version}/namespaces/{namespace}/{plural}");
    }
    format!("/{root}/{api_version}/{plural}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        let id = |api_version: &str, namespace: Option<&str>| {
            let object = json!({"apiVersion": api_version, "kind": "X",
                "metadata": {"name": "n", "namespace": namespace}});
            ObjectId::of(&object).unwrap()
        };
        let served = |is_namespaced| Served {
            plural: "xs".into(),
            is_namespaced,
        };
        let of = |id: &ObjectId, is_namespaced| path(id, &api_version(id), &served(is_namespaced));
        assert_eq!(of(&id("v1", Some("a")), true), "/api/v1/namespaces/a/xs");
        assert_eq!(of(&id("v1", None), true), "/api/v1/namespaces/default/xs");
        assert_eq!(
            of(&id("g.example/v1", None), false),
            "/apis/g.example/v1/xs"
        );
    }
}
