//! Definitions of further kinds: which are ours, and when objects of them can be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use bootlace_model::effect::ApiObject;
use serde_json::Value;

/// What our own objects will make: kinds and namespaces.
#[derive(Debug)]
pub(super) struct Definitions {
    /// Group, version and kind, and the name of the definition that brings it.
    kinds: BTreeMap<(String, String), String>,
    namespaces: BTreeSet<String>,
    /// Definitions and namespaces that will not come.
    given_up: Mutex<BTreeSet<String>>,
}

impl Definitions {
    /// Collects what objects will make.
    pub(super) fn of(objects: &[ApiObject]) -> Self {
        let mut kinds = BTreeMap::new();
        let mut namespaces = BTreeSet::new();
        for object in objects {
            if is_definition(object) {
                for kind in kinds_of(&object.content) {
                    kinds.insert(kind, object.id.name.clone());
                }
            } else if object.id.kind == "Namespace" && object.id.api_version == "v1" {
                namespaces.insert(object.id.name.clone());
            }
        }
        Self {
            kinds,
            namespaces,
            given_up: Mutex::default(),
        }
    }

    /// Tells whether a kind is still to come from one of our own definitions.
    pub(super) fn will_serve(&self, api_version: &str, kind: &str) -> bool {
        let definition = self.kinds.get(&(api_version.to_owned(), kind.to_owned()));
        definition.is_some_and(|name| !self.is_given_up(name))
    }

    /// Tells whether a namespace is among our own objects.
    pub(super) fn will_have(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace) && !self.is_given_up(namespace)
    }

    /// Notes that an object will not come, so that nobody waits for it.
    pub(super) fn give_up(&self, object: &ApiObject) {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        if is_definition(object) || object.id.kind == "Namespace" {
            given_up.insert(object.id.name.clone());
        }
    }

    fn is_given_up(&self, name: &str) -> bool {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.contains(name)
    }
}

/// Tells whether an object defines further kinds.
pub(super) fn is_definition(object: &ApiObject) -> bool {
    object.id.kind == "CustomResourceDefinition"
        && object.id.api_version.starts_with("apiextensions.k8s.io/")
}

/// Lists the kinds that a definition brings: group and version, and kind.
pub(super) fn kinds_of(definition: &Value) -> Vec<(String, String)> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
    let (Some(group), Some(kind)) = (text("/spec/group"), text("/spec/names/kind")) else {
        return vec![];
    };
    let versions = definition
        .pointer("/spec/versions")
        .and_then(Value::as_array);
    let served = versions.into_iter().flatten().filter(|version| {
        // Left out it means false, and the API will say so itself.
        version.get("served").and_then(Value::as_bool) == Some(true)
    });
    served
        .filter_map(|version| version.get("name")?.as_str())
        .map(|version| (format!("{group}/{version}"), kind.to_owned()))
        .collect()
}

/// What a definition says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its kinds are there.
    Established,
    /// It is still looked at.
    Pending,
    /// Its names are taken.
    Refused(String),
}

/// Reads what the API says of a definition.
pub(super) fn standing(definition: &Value) -> Standing {
    let conditions = definition
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let condition = |wanted: &str| {
        let mut all = conditions.into_iter().flatten();
        all.find(|it| it.get("type").and_then(Value::as_str) == Some(wanted))
    };
    let has = |wanted: &str, status: &str| {
        condition(wanted).is_some_and(|it| it.get("status").and_then(Value::as_str) == Some(status))
    };
    if has("NamesAccepted", "False") {
        let message = condition("NamesAccepted").and_then(|it| it.get("message")?.as_str());
        let message = message.unwrap_or("its names are taken");
        return Standing::Refused(format!("the definition is not established: {message}"));
    }
    if has("Established", "True") {
        return Standing::Established;
    }
    Standing::Pending
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition() -> ApiObject {
        let content = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "names": {"kind": "Thing", "plural": "things"},
                "versions": [{"name": "v1", "served": true}, {"name": "v0", "served": false}]},
        });
        ApiObject::new(content, "").unwrap()
    }

    #[test]
    fn kinds_to_come_are_known_until_they_are_given_up() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
        let namespace = ApiObject::new(namespace, "").unwrap();
        let ours = Definitions::of(&[definition(), namespace.clone()]);
        assert!(ours.will_serve("example.com/v1", "Thing"));
        assert!(!ours.will_serve("example.com/v0", "Thing"));
        assert!(!ours.will_serve("example.com/v1", "Other"));
        assert!(ours.will_have("n") && !ours.will_have("m"));
        ours.give_up(&definition());
        ours.give_up(&namespace);
        assert!(!ours.will_serve("example.com/v1", "Thing") && !ours.will_have("n"));
    }

    #[test]
    fn a_definition_stands_when_it_says_so() {
        let says = |conditions: Value| standing(&json!({"status": {"conditions": conditions}}));
        assert_eq!(standing(&json!({})), Standing::Pending);
        let accepted = json!({"type": "NamesAccepted", "status": "True"});
        assert_eq!(says(json!([accepted])), Standing::Pending);
        let established = json!({"type": "Established", "status": "True"});
        assert_eq!(says(json!([accepted, established])), Standing::Established);
        let taken = json!({"type": "NamesAccepted", "status": "False", "message": "taken"});
        assert!(matches!(says(json!([taken])), Standing::Refused(why) if why.contains("taken")));
    }
}
