//! Objects that the release is told to leave alone.

use serde::{Deserialize, Serialize};

use crate::object::ObjectId;

/// One object that somebody takes care of in the operator's place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Override {
    /// The object's API group; empty for the core.
    pub(crate) group: String,
    /// The object's kind.
    pub(crate) kind: String,
    /// The object's namespace; empty for objects that are in none.
    pub(crate) namespace: String,
    /// The object's name.
    pub(crate) name: String,
    /// Whether the operator leaves the object alone; an entry without it has no effect.
    pub(crate) unmanaged: bool,
}

/// Tells whether the operator leaves an object alone.
pub(crate) fn is_left_alone(id: &ObjectId, overrides: &[Override]) -> bool {
    overrides.iter().any(|entry| {
        entry.unmanaged
            && entry.group == id.group
            && entry.kind == id.kind
            && entry.name == id.name
            && is_namespace(id.namespace.as_deref(), &entry.namespace)
    })
}

/// A manifest without a namespace may be of the namespace `default` or of none; both may be meant.
fn is_namespace(manifest: Option<&str>, entry: &str) -> bool {
    match manifest {
        Some(namespace) => namespace == entry,
        None => entry.is_empty() || entry == "default",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(namespace: Option<&str>) -> ObjectId {
        ObjectId::of(&json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "proxy", "namespace": namespace}}))
        .unwrap()
    }

    fn entry(change: impl FnOnce(&mut Override)) -> Vec<Override> {
        let mut entry = Override {
            group: "apps".into(),
            kind: "DaemonSet".into(),
            namespace: "kube-system".into(),
            name: "proxy".into(),
            unmanaged: true,
        };
        change(&mut entry);
        vec![Override::default(), entry]
    }

    #[test]
    fn an_entry_counts_only_if_every_part_is_the_object_s() {
        let object = id(Some("kube-system"));
        assert!(is_left_alone(&object, &entry(|_| {})));
        let changes: [fn(&mut Override); 5] = [
            |entry| entry.group.clear(),
            |entry| entry.kind = "Deployment".into(),
            |entry| entry.namespace.clear(),
            |entry| entry.name = "other".into(),
            |entry| entry.unmanaged = false,
        ];
        for change in changes {
            assert!(!is_left_alone(&object, &entry(change)));
        }
    }

    #[test]
    fn no_namespace_is_the_default_one_or_none() {
        let object = id(None);
        assert!(is_left_alone(
            &object,
            &entry(|entry| entry.namespace.clear())
        ));
        assert!(is_left_alone(
            &object,
            &entry(|entry| entry.namespace = "default".into())
        ));
        assert!(!is_left_alone(&object, &entry(|_| {})));
    }

    #[test]
    fn entries_are_read_as_people_write_them() {
        let entry: Override = serde_json::from_value(
            json!({"kind": "ConfigMap", "name": "x", "unmanaged": true, "note": 1}),
        )
        .unwrap();
        assert_eq!(
            (&*entry.group, &*entry.namespace, entry.unmanaged),
            ("", "", true)
        );
    }
}
