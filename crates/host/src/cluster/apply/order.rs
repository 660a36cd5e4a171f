//! The order in which an API can accept objects.

use std::collections::BTreeMap;

use bootlace_model::effect::{ApiObject, ObjectId};

/// When an object is applied; those of a phase need each other at most for running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// Namespaces, without which nothing can be in them.
    Namespaces,
    /// Definitions, without which no object of their kinds can be.
    Definitions,
    /// What others need the moment they are there: identities, rights, configuration.
    Foundations,
    /// Everything else.
    Rest,
    /// What is asked before every later object is accepted, and may not answer yet.
    Gatekeepers,
}

/// Groups objects, named by their places, into phases.
///
/// An object that is given twice is applied twice, one after the other, so that the last one wins.
pub(super) fn phases(objects: &[ApiObject]) -> Vec<Vec<usize>> {
    let mut seen: BTreeMap<&ObjectId, usize> = BTreeMap::new();
    let mut phases: BTreeMap<(When, usize), Vec<usize>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let before = seen.entry(&object.id).or_default();
        phases
            .entry((when(&object.id), *before))
            .or_default()
            .push(index);
        *before += 1;
    }
    phases.into_values().collect()
}

fn when(id: &ObjectId) -> When {
    let group = id
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group);
    match (group, id.kind.as_str()) {
        ("", "Namespace") => When::Namespaces,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => When::Definitions,
        ("", "ServiceAccount" | "ConfigMap" | "Secret")
        | ("rbac.authorization.k8s.io", _)
        | ("scheduling.k8s.io", "PriorityClass") => When::Foundations,
        ("admissionregistration.k8s.io" | "apiregistration.k8s.io", _) => When::Gatekeepers,
        _ => When::Rest,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(kinds: &[(&str, &str)]) -> Vec<Vec<usize>> {
        let objects: Vec<ApiObject> = kinds
            .iter()
            .map(|(version, kind)| {
                let object =
                    json!({"apiVersion": version, "kind": kind, "metadata": {"name": "n"}});
                ApiObject::new(object, "").unwrap()
            })
            .collect();
        phases(&objects)
    }

    #[test]
    fn what_others_need_comes_first() {
        let kinds = [
            ("apps/v1", "Deployment"),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
            ),
            ("v1", "ConfigMap"),
            ("example.com/v1", "Namespace"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
            ("v1", "Namespace"),
            ("v1", "Service"),
        ];
        assert_eq!(
            order(&kinds),
            [vec![6], vec![4], vec![2, 5], vec![0, 3, 7], vec![1]]
        );
    }

    #[test]
    fn of_two_for_the_same_object_the_last_one_wins() {
        let kinds = [("v1", "Secret"), ("v1", "Secret"), ("v1", "ConfigMap")];
        assert_eq!(order(&kinds), [vec![0, 2], vec![1]]);
    }
}
