//! The facts that belong to the cluster as a whole, and the kubelet's files.

use bootlace_model::config::Settings;
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::content::RenderedFile;
use super::input::{RenderInput, host_port};
use super::objects::{NAMESPACE, config_map};
use super::places::{ETCD_DATA, PKI};
use super::{hardening, kubelet, network_policies};
use crate::yaml;

/// Renders the objects and the files.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let settings = input.settings;
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE},
    });
    let system = |name: &str, key: &str, value: &Value| {
        config_map("kube-system", name, key, yaml::document(value))
    };
    let kubeadm = system("kubeadm-config", "ClusterConfiguration", &kubeadm(settings));
    let kubelets = system("kubelet-config", "kubelet", &kubelet::common(settings));
    let whole = yaml::document(&cluster(settings));
    let mut cluster = config_map(NAMESPACE, "cluster-config", "cluster.yaml", whole);
    for (key, value) in words(input) {
        cluster["data"][key] = value.into();
    }
    let mut files = vec![
        RenderedFile::manifest("bootlace-system.yaml", vec![namespace]),
        RenderedFile::manifest("cluster-config.yaml", vec![cluster]),
        RenderedFile::manifest("kubeadm-config.yaml", vec![kubeadm]),
        RenderedFile::manifest("kubelet-config.yaml", vec![kubelets]),
        RenderedFile::object("kubelet-config.yaml", kubelet::of_this_machine(settings)),
        RenderedFile::text("kubelet.env", kubelet::environment(settings, input.node()?)),
        RenderedFile::text("kubelet.service", kubelet::unit(settings)),
    ];
    if settings.cluster.security.is_hardened() {
        files.push(RenderedFile::text(
            "kubelet-sysctl.conf",
            hardening::SYSCTLS,
        ));
        let policies = network_policies::policies();
        files.push(RenderedFile::manifest("network-policies.yaml", policies));
    }
    Ok(files)
}

/// Returns what `kubeadm join` and kubeadm's other commands read of the cluster.
fn kubeadm(settings: &Settings) -> Value {
    let cluster = &settings.cluster;
    let seconds = |duration: std::time::Duration| format!("{}s", duration.as_secs());
    json!({
        "apiVersion": "kubeadm.k8s.io/v1beta4",
        "kind": "ClusterConfiguration",
        "clusterName": cluster.name,
        "kubernetesVersion": cluster.kubernetes_version,
        "controlPlaneEndpoint": cluster.control_plane.endpoint.to_string(),
        "certificatesDir": PKI,
        "imageRepository": "registry.k8s.io",
        "encryptionAlgorithm": "ECDSA-P256",
        "caCertificateValidityPeriod": seconds(cluster.pki.authority_validity),
        "certificateValidityPeriod": seconds(cluster.pki.leaf_validity),
        "apiServer": {"certSANs": cluster.pki.extra_names},
        "etcd": {"local": {"dataDir": ETCD_DATA}},
        "networking": {
            "dnsDomain": cluster.network.cluster_domain,
            "podSubnet": cluster.network.pod_cidr.to_string(),
            "serviceSubnet": cluster.network.service_cidr.to_string(),
        },
        // Both come with the release, and kubeadm must not bring its own.
        "dns": {"disabled": true},
        "proxy": {"disabled": true},
    })
}

/// Returns what the manifests of a release leave open, because each cluster has its own.
fn words(input: &RenderInput<'_>) -> [(&'static str, String); 5] {
    let settings = input.settings;
    let network = &settings.cluster.network;
    let endpoint = &settings.cluster.control_plane.endpoint;
    // Pods have a localhost of their own.
    let server = if endpoint.host == "localhost" {
        host_port(input.advertised(), endpoint.port)
    } else {
        endpoint.to_string()
    };
    [
        ("podCIDR", network.pod_cidr.to_string()),
        ("serviceCIDR", network.service_cidr.to_string()),
        ("clusterDNS", kubelet::cluster_dns(settings).concat()),
        ("clusterDomain", network.cluster_domain.clone()),
        ("server", format!("https://{server}")),
    ]
}

/// Returns what anybody in the cluster may want to know of it.
fn cluster(settings: &Settings) -> Value {
    let cluster = &settings.cluster;
    let endpoint = cluster.control_plane.endpoint.to_string();
    json!({
        "name": cluster.name,
        "profile": cluster.profile,
        "kubernetesVersion": cluster.kubernetes_version,
        "controlPlane": {
            "endpoint": endpoint,
            "replicas": cluster.control_plane.replicas,
        },
        "network": cluster.network,
        "infrastructure": {
            "apiServerURL": format!("https://{endpoint}"),
            "platform": "None",
        },
    })
}
