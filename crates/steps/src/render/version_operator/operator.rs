//! The operator's own pods: one that begins, and one that stays.

use bootlace_model::fault::Fault;
use serde_json::{Map, Value, json};

use super::super::input::RenderInput;
use super::super::objects::NAMESPACE;
use super::super::places::{BOOTSTRAP_SECRETS, RELEASE_MANIFESTS};
use super::super::pod::{Mount, StaticPod, command};

const NAME: &str = "version-operator";
const IMAGE: &str = "bootlace";
const PROGRAM: &[&str] = &["bootlace", "version-operator"];
/// Where the operator looks for the release, whoever put it there.
const RELEASE: &str = "/release-manifests";

const MOUNTS: &[Mount] = &[
    Mount::folder("bootstrap-secrets", BOOTSTRAP_SECRETS),
    RELEASE_MOUNT,
];
const RELEASE_MOUNT: Mount = Mount::folder("release-manifests", RELEASE_MANIFESTS).at(RELEASE);

/// Returns the static pod. It needs nothing but the API on this machine.
pub(super) fn pod(input: &RenderInput<'_>) -> Result<Value, Fault> {
    let pod = StaticPod {
        name: NAME,
        image: input.image(IMAGE)?,
        program: PROGRAM,
        flags: vec![
            ("kubeconfig", format!("{BOOTSTRAP_SECRETS}/kubeconfig")),
            ("release-manifests", RELEASE.into()),
        ],
        mounts: MOUNTS,
        probes: None,
        requests: requests(),
        annotations: Map::new(),
    };
    Ok(pod.object())
}

/// Returns the deployment, and the rights that it has.
pub(super) fn objects(input: &RenderInput<'_>) -> Result<Vec<Value>, Fault> {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
    });
    // It applies whatever a release holds, rights included.
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("bootlace:{NAME}")},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    });
    Ok(vec![account, binding, deployment(input)?])
}

fn deployment(input: &RenderInput<'_>) -> Result<Value, Fault> {
    let labels = json!({"app.kubernetes.io/name": NAME});
    Ok(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            // Two of them would only wait for each other.
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(input)?},
        },
    }))
}

fn pod_spec(input: &RenderInput<'_>) -> Result<Value, Fault> {
    let flags = [("release-manifests", RELEASE.to_owned())];
    let container = json!({
        "name": NAME,
        "image": input.image(IMAGE)?,
        "imagePullPolicy": "IfNotPresent",
        "command": command(PROGRAM, &flags),
        // The service network comes with the release, so the API is asked at its own address.
        "env": [
            {"name": "KUBERNETES_SERVICE_HOST", "value": input.advertised()},
            {"name": "KUBERNETES_SERVICE_PORT", "value": input.api_port().to_string()},
        ],
        "resources": {"requests": requests()},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [RELEASE_MOUNT.mount()],
    });
    Ok(json!({
        "containers": [container],
        "dnsPolicy": "Default",
        "hostNetwork": true,
        // The release lies on the machine that began, and on no other. A kubelet may give its node any
        // name in the first label, and would run a pod with all rights; it may not set the second.
        "nodeSelector": {
            "kubernetes.io/hostname": input.node()?,
            "node-role.kubernetes.io/control-plane": "",
        },
        "priorityClassName": "system-cluster-critical",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "serviceAccountName": NAME,
        // It makes nodes ready, so it cannot wait until they are.
        "tolerations": [{"operator": "Exists"}],
        "volumes": [RELEASE_MOUNT.volume()],
    }))
}

fn requests() -> Value {
    json!({"cpu": "20m", "memory": "50Mi"})
}
