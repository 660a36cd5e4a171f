//! etcd's first member.

use bootlace_model::fault::Fault;
use serde_json::{Map, json};

use super::content::RenderedFile;
use super::input::{RenderInput, host_port};
use super::objects::{NAMESPACE, config_map};
use super::places::{ETCD_DATA, ETCD_PKI, pki};
use super::pod::{Mount, Probes, StaticPod};

const CLIENTS: u16 = 2379;
const PEERS: u16 = 2380;
const METRICS: u16 = 2381;

const MOUNTS: [Mount; 2] = [
    Mount::folder("etcd-certs", ETCD_PKI),
    Mount::data("etcd-data", ETCD_DATA),
];

/// Renders the pod, and how many members there shall be in the end.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let url = |port| format!("https://{}", host_port(input.advertised(), port));
    let mut annotations = Map::new();
    let key = "kubeadm.kubernetes.io/etcd.advertise-client-urls";
    annotations.insert(key.into(), url(CLIENTS).into());
    let pod = StaticPod {
        name: "etcd",
        image: input.image("etcd")?,
        program: &["etcd"],
        flags: flags(input, &url)?,
        mounts: &MOUNTS,
        probes: Some(Probes {
            scheme: "HTTP",
            host: input.loopback().into(),
            port: METRICS,
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
    let node = input.node()?;
    let local = format!("https://{}", host_port(input.loopback(), CLIENTS));
    let mut clients = vec![local];
    // A machine that announces its loopback address cannot listen there twice.
    if !clients.contains(&url(CLIENTS)) {
        clients.push(url(CLIENTS));
    }
    let etcd = |name: &str| pki(&format!("etcd/{name}"));
    Ok(vec![
        ("name", node.into()),
        ("data-dir", ETCD_DATA.into()),
        ("listen-client-urls", clients.join(",")),
        ("advertise-client-urls", url(CLIENTS)),
        ("listen-peer-urls", url(PEERS)),
        ("initial-advertise-peer-urls", url(PEERS)),
        ("initial-cluster", format!("{node}={}", url(PEERS))),
        (
            "listen-metrics-urls",
            format!("http://{}", host_port(input.loopback(), METRICS)),
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
    ])
}
