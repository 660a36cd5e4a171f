//! Small objects that several renderers write.

use serde_json::{Value, json};

/// The namespace of our own objects.
pub(super) const NAMESPACE: &str = "bootlace-system";

/// The label by which what we rendered is told from what the user wrote, where both are read.
pub(super) const RENDERED_BY: &str = "bootlace.dev/rendered-by";

/// Returns a `ConfigMap` with one entry.
pub(super) fn config_map(namespace: &str, name: &str, key: &str, value: String) -> Value {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {},
    });
    object["data"][key] = value.into();
    object
}
