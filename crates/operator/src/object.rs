//! Which object of the API a manifest speaks of.

use std::fmt;

use serde_json::Value;

/// An object of the API, by its kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId {
    /// The API group; empty for the core.
    pub(crate) group: String,
    /// The version of the group.
    pub(crate) version: String,
    /// The kind.
    pub(crate) kind: String,
    /// The namespace, if the manifest names one.
    pub(crate) namespace: Option<String>,
    /// The name.
    pub(crate) name: String,
}

impl ObjectId {
    /// Reads the id of an object, or tells which part of it is missing.
    pub(crate) fn of(object: &Value) -> Result<Self, String> {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str);
        let needed = |at: &str, field: &str| match text(at) {
            Some(value) if !value.is_empty() => Ok(value.to_owned()),
            _ => Err(format!("it has no {field}")),
        };
        let api_version = needed("/apiVersion", "apiVersion")?;
        let kind = needed("/kind", "kind")?;
        let name = needed("/metadata/name", "metadata.name")?;
        let namespace = text("/metadata/namespace").filter(|namespace| !namespace.is_empty());
        for part in [&*api_version, &*kind, &*name].into_iter().chain(namespace) {
            let strange = |c: char| c.is_whitespace() || c.is_control() || "?#%\\".contains(c);
            if part.contains(strange) || part.contains("..") {
                return Err(format!("{part:?} cannot be part of an object's address"));
            }
        }
        if kind.contains('/') || name.contains('/') {
            return Err(format!("{kind} {name}: a kind or a name holds no slash"));
        }
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), api_version),
        };
        Ok(Self {
            group,
            version,
            kind,
            namespace: namespace.map(ToOwned::to_owned),
            name,
        })
    }

    /// Tells whether both name the same object, in whatever version of its group.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        let key = |id: &Self| {
            let namespace = id.namespace.clone().unwrap_or_default();
            (
                id.group.clone(),
                id.kind.clone(),
                namespace,
                id.name.clone(),
            )
        };
        key(self) == key(other)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_read_from_the_core_and_from_groups() {
        let id = ObjectId::of(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"}}))
        .unwrap();
        assert_eq!((&*id.group, &*id.version), ("apps", "v1"));
        assert_eq!(id.to_string(), "Deployment shop/web");
        let id = ObjectId::of(&json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "shop"}}))
        .unwrap();
        assert_eq!((&*id.group, &*id.version), ("", "v1"));
        assert_eq!(id.to_string(), "Namespace shop");
    }

    #[test]
    fn what_is_missing_or_strange_is_said() {
        let cases = [
            (
                json!({"kind": "A", "metadata": {"name": "n"}}),
                "apiVersion",
            ),
            (
                json!({"apiVersion": "v1", "metadata": {"name": "n"}}),
                "kind",
            ),
            (json!({"apiVersion": "v1", "kind": "A"}), "metadata.name"),
            (
                json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a?b"}}),
                "a?b",
            ),
            (
                json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a/b"}}),
                "slash",
            ),
            (
                json!({"apiVersion": "v1", "kind": "A",
                "metadata": {"name": "a", "namespace": "../x"}}),
                "../x",
            ),
        ];
        for (object, expected) in cases {
            let problem = ObjectId::of(&object).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
