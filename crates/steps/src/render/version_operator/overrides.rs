//! Which objects of the release are left alone, during the bootstrap and afterwards.

use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::super::user::UserObject;
use super::payload::Payload;
use crate::copied::Copied;

/// The user's overrides, and those that hold until their objects exist.
#[derive(Debug)]
pub(super) struct Overrides {
    /// As the user wrote them.
    original: Vec<Value>,
    /// For objects of the release that the user defines, too.
    added: Vec<Value>,
}

impl Overrides {
    /// Compares what the release defines with what the user does.
    pub(super) fn new(theirs: Option<&UserObject>, payload: &Payload, copied: &Copied) -> Self {
        let original = theirs.and_then(|theirs| theirs.object.pointer("/spec/overrides"));
        let original = original
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let both = payload
            .objects()
            .filter(|object| copied.find(object.identity()).is_some());
        let added = both.map(|object| {
            json!({
                "group": object.group,
                "kind": object.kind,
                "namespace": object.namespace.as_deref().unwrap_or_default(),
                "name": object.name,
                "unmanaged": true,
            })
        });
        let added = added.filter(|added| !original.iter().any(|own| is_about(own, added)));
        Self {
            added: added.collect(),
            original,
        }
    }

    /// Returns the list that the operator starts with.
    pub(super) fn during_bootstrap(&self) -> Value {
        self.original.iter().chain(&self.added).cloned().collect()
    }

    /// Writes the patch that sets the list back to what the user asked for.
    pub(super) fn original(&self) -> Result<String, Fault> {
        crate::cluster::record(&json!({"spec": {"overrides": self.original}}))
    }
}

/// Tells whether two entries are about one object.
fn is_about(one: &Value, other: &Value) -> bool {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let keys = ["group", "kind", "namespace", "name"];
    keys.iter().all(|key| text(one, key) == text(other, key))
}
