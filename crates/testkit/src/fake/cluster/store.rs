//! Objects in etcd's folder, each under the key that says what it is.

use std::collections::BTreeMap;

use bootlace_engine::port::HostResult;
use bootlace_model::effect::ObjectId;
use serde_json::Value;

use super::super::state::State;

/// Where the objects lie in etcd's folder.
const FILE: &str = "member/snap/db";

/// What is stored, by key.
pub(super) type Objects = BTreeMap<String, Value>;

/// Returns the key of an object.
pub(super) fn key(id: &ObjectId) -> String {
    let namespace = id.namespace.as_deref().unwrap_or("-");
    format!("{} {} {namespace} {}", id.api_version, id.kind, id.name)
}

impl State {
    /// Makes the data of a new etcd, unless there is some.
    pub(in super::super) fn begin_store(&mut self, folder: &str) {
        if self.text(&format!("{folder}/{FILE}")).is_none() {
            // An etcd that cannot write does not come up; nothing on the fake disk keeps it from it.
            drop(self.keep(&format!("{folder}/{FILE}"), b"{}\n"));
        }
    }

    /// Reads all objects.
    pub(super) fn objects(&self) -> Objects {
        let text = self.text(&format!("{}/{FILE}", self.etcd_data()));
        // What cannot be read is data of somebody else's etcd: nothing of ours is in it.
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Keeps all objects, durably.
    pub(super) fn keep_objects(&mut self, objects: &Objects) -> HostResult<()> {
        let text = serde_json::to_string_pretty(objects).unwrap_or_default();
        let path = format!("{}/{FILE}", self.etcd_data());
        self.keep(&path, (text + "\n").as_bytes())
    }
}

/// Puts the fields of one value into another; lists are replaced as a whole.
pub(super) fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
