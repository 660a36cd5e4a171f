//! Who may connect to the pods of the system namespaces, where the pod network enforces it.

use serde_json::{Value, json};

use super::objects::NAMESPACE;

/// Returns the policies of profile `cis`. Pods in the network of their node, such as the control plane,
/// kube-proxy and the version operator, are subject to none.
pub(super) fn policies() -> Vec<Value> {
    vec![
        deny_ingress("kube-system"),
        allow_dns(),
        deny_ingress(NAMESPACE),
    ]
}

/// Lets nothing in that no other policy allows. Probes of the kubelet come from the node itself, which
/// may always connect.
fn deny_ingress(namespace: &str) -> Value {
    policy(
        namespace,
        "default-deny-ingress",
        &json!({"podSelector": {}, "policyTypes": ["Ingress"]}),
    )
}

/// Allows DNS from everywhere. Nothing that bootlace installs reads the metrics of the DNS server.
fn allow_dns() -> Value {
    let port = |protocol: &str| json!({"port": 53, "protocol": protocol});
    policy(
        "kube-system",
        "allow-dns",
        &json!({
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [port("UDP"), port("TCP")]}],
        }),
    )
}

fn policy(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}
