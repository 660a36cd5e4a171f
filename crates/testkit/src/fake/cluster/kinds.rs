//! The kinds that the fake API serves: some that every API has, and those that are defined in it.

use serde_json::Value;

use super::super::state::State;
use super::store::Objects;

/// A kind and where it is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Served {
    /// Group and version, such as `apps/v1`.
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) is_namespaced: bool,
}

/// What every API serves: group and version, kinds in namespaces, kinds outside of them.
const BUILT_IN: [(&str, &[&str], &[&str]); 15] = [
    (
        "v1",
        &[
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "PersistentVolumeClaim",
            "Pod",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
        &["Namespace", "Node", "PersistentVolume"],
    ),
    (
        "apps/v1",
        &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
        &[],
    ),
    ("batch/v1", &["CronJob", "Job"], &[]),
    ("autoscaling/v2", &["HorizontalPodAutoscaler"], &[]),
    ("policy/v1", &["PodDisruptionBudget"], &[]),
    ("discovery.k8s.io/v1", &["EndpointSlice"], &[]),
    ("coordination.k8s.io/v1", &["Lease"], &[]),
    (
        "networking.k8s.io/v1",
        &["Ingress", "NetworkPolicy"],
        &["IngressClass"],
    ),
    (
        "rbac.authorization.k8s.io/v1",
        &["Role", "RoleBinding"],
        &["ClusterRole", "ClusterRoleBinding"],
    ),
    ("storage.k8s.io/v1", &[], &["CSIDriver", "StorageClass"]),
    ("scheduling.k8s.io/v1", &[], &["PriorityClass"]),
    (
        "certificates.k8s.io/v1",
        &[],
        &["CertificateSigningRequest"],
    ),
    (
        "apiextensions.k8s.io/v1",
        &[],
        &["CustomResourceDefinition"],
    ),
    ("apiregistration.k8s.io/v1", &[], &["APIService"]),
    (
        "admissionregistration.k8s.io/v1",
        &[],
        &[
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
];

/// Lists everything that is served.
fn served(objects: &Objects) -> Vec<Served> {
    let mut served = Vec::new();
    for (api_version, inside, outside) in BUILT_IN {
        let of = |kind: &&str, is_namespaced| Served {
            api_version: api_version.into(),
            kind: (*kind).to_owned(),
            plural: plural(kind),
            is_namespaced,
        };
        served.extend(inside.iter().map(|kind| of(kind, true)));
        served.extend(outside.iter().map(|kind| of(kind, false)));
    }
    let definitions = objects
        .values()
        .filter(|it| it["kind"] == "CustomResourceDefinition");
    served.extend(definitions.flat_map(defined));
    served
}

/// Finds what is served as a kind.
pub(super) fn served_kind(objects: &Objects, api_version: &str, kind: &str) -> Option<Served> {
    let mut served = served(objects).into_iter();
    served.find(|it| it.api_version == api_version && it.kind == kind)
}

impl State {
    /// Lists everything that is served.
    pub(super) fn served(&self) -> Vec<Served> {
        served(&self.objects())
    }

    /// Finds what is served under a plural.
    pub(super) fn served_plural(&self, api_version: &str, plural: &str) -> Option<Served> {
        let mut served = self.served().into_iter();
        served.find(|it| it.api_version == api_version && it.plural == plural)
    }
}

/// Lists what a definition defines.
fn defined(definition: &Value) -> Vec<Served> {
    let spec = &definition["spec"];
    let word = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let (Some(group), Some(kind), Some(plural)) = (
        word(&spec["group"]),
        word(&spec["names"]["kind"]),
        word(&spec["names"]["plural"]),
    ) else {
        return vec![];
    };
    let versions = spec["versions"].as_array().into_iter().flatten();
    let versions = versions.filter_map(|version| word(&version["name"]));
    let served = versions.map(|version| Served {
        api_version: format!("{group}/{version}"),
        kind: kind.clone(),
        plural: plural.clone(),
        is_namespaced: spec["scope"] == "Namespaced",
    });
    served.collect()
}

/// Forms the plural of a kind as the API does.
fn plural(kind: &str) -> String {
    let name = kind.to_lowercase();
    if name == "endpoints" {
        return name;
    }
    if name.ends_with('s') {
        return format!("{name}es");
    }
    match name.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_the_api() {
        for (kind, expected) in [
            ("Pod", "pods"),
            ("Endpoints", "endpoints"),
            ("IngressClass", "ingressclasses"),
            ("NetworkPolicy", "networkpolicies"),
            ("ClusterVersion", "clusterversions"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }
}
