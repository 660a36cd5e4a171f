//! The API server.

use bootlace_model::fault::Fault;
use serde_json::{Map, Value, json};

use super::content::RenderedFile;
use super::hardening;
use super::input::{RenderInput, host_port};
use super::places::{AUDIT_LOG, AUTHENTICATION, CONFIGS, PKI, pki};
use super::pod::{Mount, Probes, StaticPod};

/// The file of the pod.
pub(super) const POD: &str = "kube-apiserver-pod.yaml";

const MOUNTS: [Mount; 3] = [
    Mount::folder("configs", CONFIGS),
    Mount::folder("k8s-certs", PKI),
    Mount::data("audit-log", AUDIT_LOG),
];

/// Renders the pod that stays.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    Ok(vec![RenderedFile::static_pod(POD, pod(input)?)])
}

/// Returns the pod. The one that begins and the one that stays are the same on one machine.
pub(super) fn pod(input: &RenderInput<'_>) -> Result<Value, Fault> {
    let advertised = host_port(input.advertised(), input.api_port());
    let key = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint";
    let mut annotations = Map::new();
    annotations.insert(key.into(), advertised.into());
    let pod = StaticPod {
        name: "kube-apiserver",
        image: input.image("kube-apiserver")?,
        program: &["kube-apiserver"],
        flags: flags(input),
        mounts: if input.settings.cluster.security.is_hardened() {
            &MOUNTS
        } else {
            &MOUNTS[..2]
        },
        probes: Some(Probes {
            scheme: "HTTPS",
            host: input.advertised(),
            port: input.api_port(),
            live: "/livez",
            ready: Some("/readyz"),
        }),
        requests: json!({"cpu": "250m"}),
        annotations,
    };
    Ok(pod.object())
}

fn flags(input: &RenderInput<'_>) -> Vec<(&'static str, String)> {
    let network = &input.settings.cluster.network;
    let etcd = host_port(input.loopback(), input.ports().etcd_clients);
    let mut flags = vec![
        ("advertise-address", input.advertised()),
        ("secure-port", input.api_port().to_string()),
        ("allow-privileged", "true".into()),
        ("authorization-mode", "Node,RBAC".into()),
        // It says for which paths nobody has to log in; --anonymous-auth must not be set beside it.
        ("authentication-config", AUTHENTICATION.into()),
        ("enable-bootstrap-token-auth", "true".into()),
        ("service-cluster-ip-range", network.service_cidr.to_string()),
        ("etcd-servers", format!("https://{etcd}")),
    ];
    if input.is_private() {
        // Nobody but this machine can mean it by its name, so nobody else has to reach it.
        flags.push(("bind-address", input.advertised()));
        // Nor could anybody reach it through its service: no endpoint may be a loopback address.
        flags.push(("endpoint-reconciler-type", "none".into()));
    }
    let files = [
        ("client-ca-file", "ca.crt"),
        ("tls-cert-file", "apiserver.crt"),
        ("tls-private-key-file", "apiserver.key"),
        ("etcd-cafile", "etcd/ca.crt"),
        ("etcd-certfile", "apiserver-etcd-client.crt"),
        ("etcd-keyfile", "apiserver-etcd-client.key"),
        ("kubelet-client-certificate", "apiserver-kubelet-client.crt"),
        ("kubelet-client-key", "apiserver-kubelet-client.key"),
        ("proxy-client-cert-file", "front-proxy-client.crt"),
        ("proxy-client-key-file", "front-proxy-client.key"),
        ("requestheader-client-ca-file", "front-proxy-ca.crt"),
        ("service-account-key-file", "sa.pub"),
        ("service-account-signing-key-file", "sa.key"),
    ];
    flags.extend(files.map(|(flag, name)| (flag, pki(name))));
    let issuer = format!("https://kubernetes.default.svc.{}", network.cluster_domain);
    flags.extend([
        ("service-account-issuer", issuer),
        (
            "kubelet-preferred-address-types",
            "InternalIP,ExternalIP,Hostname".into(),
        ),
        ("requestheader-allowed-names", "front-proxy-client".into()),
        (
            "requestheader-extra-headers-prefix",
            "X-Remote-Extra-".into(),
        ),
        ("requestheader-group-headers", "X-Remote-Group".into()),
        ("requestheader-username-headers", "X-Remote-User".into()),
    ]);
    flags.extend(hardening::of_apiserver(input));
    flags.extend(hardening::of_component(input));
    flags
}
