//! The definitions of the kinds that our objects use.
//!
//! `MachineConfig` and `MachineConfigPool` are OpenShift's, so that its manifests and tools can be
//! used; as there, whatever a machine config holds beside the known fields is kept.

mod cluster_version;
mod machine_config;

use serde_json::{Value, json};

/// A kind of objects.
#[derive(Debug)]
pub(super) struct Definition {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    /// What an object holds.
    schema: Value,
    /// What `kubectl get` shows: title, type, path.
    columns: &'static [(&'static str, &'static str, &'static str)],
}

/// Returns every definition, in a fixed order.
pub(super) fn all() -> Vec<Definition> {
    vec![
        cluster_version::definition(),
        machine_config::config(),
        machine_config::pool(),
    ]
}

impl Definition {
    /// Returns the name of the definition.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// Writes the definition.
    pub(super) fn object(&self) -> Value {
        let columns = self
            .columns
            .iter()
            .map(|(name, kind, path)| json!({"name": name, "type": kind, "jsonPath": path}));
        let mut version = json!({
            "name": self.version,
            "served": true,
            "storage": true,
            "schema": {"openAPIV3Schema": self.whole()},
            "additionalPrinterColumns": columns.collect::<Vec<_>>(),
        });
        if self.schema["properties"]["status"].is_object() {
            version["subresources"] = json!({"status": {}});
        }
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": self.kind.to_lowercase(),
        });
        if !self.short.is_empty() {
            names["shortNames"] = json!(self.short);
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name()},
            "spec": {
                "group": self.group,
                "names": names,
                "scope": "Cluster",
                "versions": [version],
            },
        })
    }

    /// Adds what every object has to the schema.
    fn whole(&self) -> Value {
        let mut schema = self.schema.clone();
        for (key, kind) in [
            ("apiVersion", "string"),
            ("kind", "string"),
            ("metadata", "object"),
        ] {
            schema["properties"][key] = json!({"type": kind});
        }
        schema
    }
}

/// A text.
fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// A whole number.
fn number(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "description": description})
}

/// An object with these fields.
fn object(description: &str, properties: &Value) -> Value {
    json!({"type": "object", "description": description, "properties": properties})
}

/// An object of whose fields only some are known; the others are kept.
fn open_object(description: &str, properties: &Value) -> Value {
    let mut object = object(description, properties);
    object["x-kubernetes-preserve-unknown-fields"] = true.into();
    object
}

/// A list.
fn list(description: &str, items: &Value) -> Value {
    json!({"type": "array", "description": description, "items": items})
}

/// The conditions of a status, as everywhere in Kubernetes.
fn conditions() -> Value {
    let condition = json!({
        "type": "object",
        "required": ["type", "status"],
        "properties": {
            "type": text("Names the condition."),
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": text("The reason, as one word."),
            "message": text("The reason, as a sentence."),
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "observedGeneration": number("Of which generation this is said."),
        },
    });
    let mut conditions = list("How it stands.", &condition);
    conditions["x-kubernetes-list-type"] = "map".into();
    conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    conditions
}
