//! Rights, named as kubeadm names them, so that its commands find what they look for.

use serde_json::{Value, json};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Everybody who shows a bootstrap token for machines.
const TOKENS: &str = "system:bootstrappers:kubeadm:default-node-token";
/// Every kubelet that has a certificate.
const NODES: &str = "system:nodes";
/// The administrators that kubeadm makes.
const ADMINS: &str = "kubeadm:cluster-admins";

/// A role, where it holds, and who has it.
struct Grant {
    /// The namespace; everywhere if there is none.
    namespace: Option<&'static str>,
    /// The binding's name.
    name: &'static str,
    /// The role.
    role: Role,
    /// Who has it: kind and name.
    subjects: &'static [(&'static str, &'static str)],
}

/// A role.
enum Role {
    /// One that every API server brings along.
    BuiltIn(&'static str),
    /// To get one kind of objects, under the binding's own name.
    Get(&'static str),
    /// To get one object, under the binding's own name.
    GetOne(&'static str),
}

const NODE_BOOTSTRAP: [Grant; 8] = [
    // A machine that shows a token may ask for a certificate …
    Grant {
        namespace: None,
        name: "kubeadm:kubelet-bootstrap",
        role: Role::BuiltIn("system:node-bootstrapper"),
        subjects: &[("Group", TOKENS)],
    },
    // … gets it without anybody's help …
    Grant {
        namespace: None,
        name: "kubeadm:node-autoapprove-bootstrap",
        role: Role::BuiltIn("system:certificates.k8s.io:certificatesigningrequests:nodeclient"),
        subjects: &[("Group", TOKENS)],
    },
    // … and a new one before it expires.
    Grant {
        namespace: None,
        name: "kubeadm:node-autoapprove-certificate-rotation",
        role: Role::BuiltIn("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"),
        subjects: &[("Group", NODES)],
    },
    // kubeadm looks whether a node of the same name is there already.
    Grant {
        namespace: None,
        name: "kubeadm:get-nodes",
        role: Role::Get("nodes"),
        subjects: &[("Group", TOKENS)],
    },
    Grant {
        namespace: None,
        name: "kubeadm:apiserver-kubelet-client",
        role: Role::BuiltIn("system:kubelet-api-admin"),
        subjects: &[("User", "kube-apiserver-kubelet-client")],
    },
    // What it reads before it can log in, and after.
    Grant {
        namespace: Some("kube-public"),
        name: "kubeadm:bootstrap-signer-clusterinfo",
        role: Role::GetOne("cluster-info"),
        subjects: &[("User", "system:anonymous")],
    },
    Grant {
        namespace: Some("kube-system"),
        name: "kubeadm:nodes-kubeadm-config",
        role: Role::GetOne("kubeadm-config"),
        subjects: &[("Group", TOKENS), ("Group", NODES)],
    },
    Grant {
        namespace: Some("kube-system"),
        name: "kubeadm:kubelet-config",
        role: Role::GetOne("kubelet-config"),
        subjects: &[("Group", TOKENS), ("Group", NODES)],
    },
];

const ADMINISTRATORS: [Grant; 1] = [Grant {
    namespace: None,
    name: ADMINS,
    role: Role::BuiltIn("cluster-admin"),
    subjects: &[("Group", ADMINS)],
}];

/// Returns what lets a machine with a bootstrap token become a node.
pub(super) fn node_bootstrap() -> Vec<Value> {
    NODE_BOOTSTRAP.iter().flat_map(Grant::objects).collect()
}

/// Returns what lets administrators administer whose certificates kubeadm made.
pub(super) fn administrators() -> Vec<Value> {
    ADMINISTRATORS.iter().flat_map(Grant::objects).collect()
}

impl Grant {
    fn objects(&self) -> Vec<Value> {
        let subjects = self
            .subjects
            .iter()
            .map(|(kind, name)| json!({"apiGroup": GROUP, "kind": kind, "name": name}));
        let (kind, name) = match self.role {
            Role::BuiltIn(name) => ("ClusterRole", name),
            _ if self.namespace.is_none() => ("ClusterRole", self.name),
            _ => ("Role", self.name),
        };
        let binding = self
            .namespace
            .map_or("ClusterRoleBinding", |_| "RoleBinding");
        let mut binding = self.object(binding);
        binding["roleRef"] = json!({"apiGroup": GROUP, "kind": kind, "name": name});
        binding["subjects"] = subjects.collect();
        let allowed = match self.role {
            Role::BuiltIn(_) => return vec![binding],
            Role::Get(resource) => json!({"apiGroups": [""], "resources": [resource]}),
            Role::GetOne(name) => {
                json!({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name]})
            }
        };
        let mut role = self.object(kind);
        role["rules"] = json!([allowed]);
        role["rules"][0]["verbs"] = json!(["get"]);
        vec![role, binding]
    }

    fn object(&self, kind: &str) -> Value {
        let mut object = json!({
            "apiVersion": format!("{GROUP}/v1"),
            "kind": kind,
            "metadata": {"name": self.name},
        });
        if let Some(namespace) = self.namespace {
            object["metadata"]["namespace"] = namespace.into();
        }
        object
    }
}
