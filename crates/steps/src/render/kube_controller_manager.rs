//! The controller manager.

use bootlace_model::fault::Fault;
use serde_json::{Map, json};

use super::content::RenderedFile;
use super::hardening;
use super::input::RenderInput;
use super::places::{CONTROLLER_MANAGER_CONF, PKI, pki};
use super::pod::{Mount, Probes, StaticPod};

const MOUNTS: [Mount; 2] = [
    Mount::folder("k8s-certs", PKI),
    Mount::file("kubeconfig", CONTROLLER_MANAGER_CONF),
];

/// Renders the pod.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let pod = StaticPod {
        name: "kube-controller-manager",
        image: input.image("kube-controller-manager")?,
        program: &["kube-controller-manager"],
        flags: flags(input),
        mounts: &MOUNTS,
        probes: Some(Probes {
            scheme: "HTTPS",
            host: "127.0.0.1".into(),
            port: input.ports().controller_manager,
            live: "/healthz",
            ready: None,
        }),
        requests: json!({"cpu": "200m"}),
        annotations: Map::new(),
    };
    let name = "kube-controller-manager-pod.yaml";
    Ok(vec![RenderedFile::static_pod(name, pod.object())])
}

fn flags(input: &RenderInput<'_>) -> Vec<(&'static str, String)> {
    let cluster = &input.settings.cluster;
    let kubeconfig = || CONTROLLER_MANAGER_CONF.to_owned();
    let mut flags = vec![
        ("bind-address", "127.0.0.1".into()),
        ("secure-port", input.ports().controller_manager.to_string()),
        ("kubeconfig", kubeconfig()),
        ("authentication-kubeconfig", kubeconfig()),
        ("authorization-kubeconfig", kubeconfig()),
        ("leader-elect", "true".into()),
        // The last two are off unless named: they sign cluster-info, and remove old tokens.
        ("controllers", "*,bootstrapsigner,tokencleaner".into()),
        ("use-service-account-credentials", "true".into()),
        // Each controller asks for an account and a token of its own. With the defaults (20 and 30) the
        // first start of them all takes five seconds, in which no controller works.
        ("kube-api-qps", "100".into()),
        ("kube-api-burst", "200".into()),
        ("cluster-name", cluster.name.clone()),
        ("allocate-node-cidrs", "true".into()),
        ("cluster-cidr", cluster.network.pod_cidr.to_string()),
        (
            "service-cluster-ip-range",
            cluster.network.service_cidr.to_string(),
        ),
        ("root-ca-file", pki("ca.crt")),
        ("client-ca-file", pki("ca.crt")),
        ("requestheader-client-ca-file", pki("front-proxy-ca.crt")),
        ("cluster-signing-cert-file", pki("ca.crt")),
        ("cluster-signing-key-file", pki("ca.key")),
        ("service-account-private-key-file", pki("sa.key")),
    ];
    flags.extend(hardening::of_component(input));
    flags
}
