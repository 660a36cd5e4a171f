//! etcd's first member.

use bootlace_model::fault::Fault;
use serde_json::{Map, json};

use super::content::RenderedFile;
use super::hardening;
use super::input::{RenderInput, host_port};
use super::objects::{NAMESPACE, config_map};
use super::places::{ETCD_DATA, ETCD_PKI, pki};
use super::pod::{Mount, Probes, StaticPod};

const MOUNTS: [Mount; 2] = [
    Mount::folder("etcd-certs", ETCD_PKI),
    Mount::data("etcd-data", ETCD_DATA),
];

/// Renders the pod, and how many members there shall be in the end.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let url = |port| format!("https://{}", host_port(input.advertised(), port));
    let ports = input.ports();
    let mut annotations = Map::new();
    let key = "kubeadm.kubernetes.io/etcd.advertise-client-urls";
    annotations.insert(key.into(), url(ports.etcd_clients).into());
    let pod = StaticPod {
        name: "etcd",
        image: input.image("etcd")?,
        program: &["etcd"],
        flags: flags(input, &url)?,
        mounts: &MOUNTS,
        probes: Some(Probes {
            scheme: "HTTP",
            host: input.loopback().into(),
            port: ports.etcd_metrics,
            live: "/livez",
            ready: Some("/readyz"),
        }),
        requests: json!({"cpu": "100m", "memory": "100Mi"}),
        annotations,
    };
    let members = input.settings.cluster.control_plane.replicas;
    let scaling = config_map(NAMESPACE, "etcd-scaling", "members", members.to_string());
    Ok(vec![
        RenderedFile::static_pod("etcd-pod.yaml", pod.object()),
        RenderedFile::manifest("etcd-scaling.yaml", vec![scaling]),
    ])
}

fn flags(
    input: &RenderInput<'_>,
    url: &dyn Fn(u16) -> String,
) -> Result<Vec<(&'static str, String)>, Fault> {
    let (node, ports) = (input.node()?, input.ports());
    let local = format!(
        "https://{}",
        host_port(input.loopback(), ports.etcd_clients)
    );
    let (for_clients, for_peers) = (url(ports.etcd_clients), url(ports.etcd_peers));
    let mut clients = vec![local];
    // A machine that announces its loopback address cannot listen there twice.
    if !clients.contains(&for_clients) {
        clients.push(for_clients.clone());
    }
    let etcd = |name: &str| pki(&format!("etcd/{name}"));
    let mut flags = vec![
        ("name", node.into()),
        ("data-dir", ETCD_DATA.into()),
        ("listen-client-urls", clients.join(",")),
        ("advertise-client-urls", for_clients),
        ("listen-peer-urls", for_peers.clone()),
        ("initial-advertise-peer-urls", for_peers.clone()),
        ("initial-cluster", format!("{node}={for_peers}")),
        (
            "listen-metrics-urls",
            format!("http://{}", host_port(input.loopback(), ports.etcd_metrics)),
        ),
        ("cert-file", etcd("server.crt")),
        ("key-file", etcd("server.key")),
        ("client-cert-auth", "true".into()),
        ("trusted-ca-file", etcd("ca.crt")),
        ("peer-cert-file", etcd("peer.crt")),
        ("peer-key-file", etcd("peer.key")),
        ("peer-client-cert-auth", "true".into()),
        ("peer-trusted-ca-file", etcd("ca.crt")),
        ("snapshot-count", "10000".into()),
        // A member whose data is damaged must say so instead of serving it.
        ("feature-gates", "InitialCorruptCheck=true".into()),
        // The API server's caches are confirmed by these, and are read from only if they are fresh.
        ("watch-progress-notify-interval", "5s".into()),
    ];
    flags.extend(hardening::of_etcd(input));
    Ok(flags)
}
