//! The document that people write. Its keys, types and descriptions are written here and nowhere
//! else: the JSON Schema, the check for misspelt keys and the texts of type errors come from it.
//!
//! Nearly everything is optional and is text where it has a grammar of its own; `validate` reads
//! that grammar, because there the place of each value is known.

use schemars::JsonSchema;
use serde::Deserialize;

use super::security::SecurityProfile;
use super::settings::{CgroupDriver, Profile};

/// The version of the document that this tool reads.
pub(super) const API_VERSION: &str = "bootlace.dev/v1alpha1";

/// The only kind of document.
pub(super) const KIND: &str = "Cluster";

/// A cluster, as `bootlace --config FILE` reads it.
///
/// Several files are merged in the order given: maps key by key, everything else replaces. A key
/// that is left out, or is null, has its default.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(title = "Cluster")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Document {
    /// The version of this document.
    #[serde(rename = "apiVersion")]
    _api_version: ApiVersion,
    /// The kind of this document.
    #[serde(rename = "kind")]
    _kind: Kind,
    /// What the cluster is called.
    pub(super) metadata: Option<Metadata>,
    /// What the cluster shall be.
    pub(super) spec: Option<Spec>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum ApiVersion {
    #[serde(rename = "bootlace.dev/v1alpha1")]
    V1Alpha1,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum Kind {
    Cluster,
}

/// What the cluster is called.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Metadata {
    /// The cluster's name: lower-case letters, digits and hyphens, at most 63.
    #[schemars(example = &"demo")]
    pub(super) name: Option<String>,
}

/// What the cluster shall be.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Spec {
    /// Which family of components the cluster is made of.
    pub(super) profile: Option<Profile>,
    /// The version of Kubernetes.
    #[schemars(example = &"v1.36.3")]
    pub(super) kubernetes_version: Option<String>,
    /// The release payload; without one the built-in names and versions, which are not pinned.
    pub(super) release: Option<ReleaseDocument>,
    /// The control plane.
    pub(super) control_plane: Option<ControlPlaneDocument>,
    /// The networks.
    pub(super) network: Option<NetworkDocument>,
    /// Folders with manifests of your own, which the step `copy-manifests` copies in. Relative
    /// ones begin at the folder of the file that names them.
    #[schemars(example = example_folders())]
    pub(super) manifests: Option<Vec<String>>,
    /// What is applied once the cluster works.
    pub(super) add_ons: Option<AddOnsDocument>,
    /// How keys and certificates are made.
    pub(super) pki: Option<PkiDocument>,
    /// What the machines are like.
    pub(super) node: Option<NodeDocument>,
    /// Who renders, if not this tool itself.
    pub(super) rendering: Option<RenderingDocument>,
    /// The server from which further machines take their first config.
    pub(super) machine_config_server: Option<MachineConfigServerDocument>,
    /// How hardened the cluster is.
    pub(super) security: Option<SecurityDocument>,
}

/// The release payload: a folder or an image, not both.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReleaseDocument {
    /// A folder in the layout of a release payload.
    #[schemars(example = &"release")]
    pub(super) dir: Option<String>,
    /// A release image.
    #[schemars(example = &"registry.example/bootlace/release:v1.36.3")]
    pub(super) image: Option<String>,
    /// What the folder must hash to.
    #[schemars(
        example = &"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )]
    pub(super) digest: Option<String>,
}

/// The control plane.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ControlPlaneDocument {
    /// Where clients reach the API: HOST:PORT, an IPv6 address in brackets.
    #[schemars(example = &"api.demo.example:6443")]
    pub(super) endpoint: Option<String>,
    /// How many machines the control plane has: 1, 3 or 5.
    #[schemars(example = 1)]
    pub(super) replicas: Option<u32>,
    /// The address that this machine's API server announces; the loopback address by default.
    #[schemars(example = &"192.0.2.10")]
    pub(super) advertise_address: Option<String>,
    /// This machine's name in the cluster; by default what the machine calls itself.
    #[schemars(example = &"node-1")]
    pub(super) node_name: Option<String>,
    /// Where its components listen; the API server's port is that of the endpoint.
    pub(super) ports: Option<PortsDocument>,
}

/// Where the components of the control plane listen; no two may share a port.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PortsDocument {
    /// etcd, for its clients.
    #[schemars(example = 2379)]
    pub(super) etcd_clients: Option<u32>,
    /// etcd, for its other members.
    #[schemars(example = 2380)]
    pub(super) etcd_peers: Option<u32>,
    /// etcd, for its health and its numbers, without TLS and only on this machine.
    #[schemars(example = 2381)]
    pub(super) etcd_metrics: Option<u32>,
    /// The controller manager, for its health and its numbers.
    #[schemars(example = 10257)]
    pub(super) controller_manager: Option<u32>,
    /// The scheduler, for its health and its numbers.
    #[schemars(example = 10259)]
    pub(super) scheduler: Option<u32>,
}

/// The networks.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NetworkDocument {
    /// The network of the pods; each machine gets a part of it.
    #[serde(rename = "podCIDR")]
    #[schemars(example = &"10.244.0.0/16")]
    pub(super) pod_cidr: Option<String>,
    /// The network of the services.
    #[serde(rename = "serviceCIDR")]
    #[schemars(example = &"10.96.0.0/12")]
    pub(super) service_cidr: Option<String>,
    /// The DNS domain of the services.
    #[schemars(example = &"cluster.local")]
    pub(super) cluster_domain: Option<String>,
}

/// What is applied once the cluster works.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AddOnsDocument {
    /// The folder that the step `add-ons` applies. A relative one begins at the folder of the file
    /// that names it.
    #[schemars(example = &"add-ons")]
    pub(super) dir: Option<String>,
}

/// How keys and certificates are made.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PkiDocument {
    /// How long authorities are valid: a number and y, d, h, m or s; a year is 365 days.
    #[schemars(example = &"10y")]
    pub(super) authority_validity: Option<String>,
    /// How long other certificates are valid; not longer than authorities.
    #[schemars(example = &"1y")]
    pub(super) leaf_validity: Option<String>,
    /// How far their begin lies in the past, for machines whose clock is behind; at most 30 days.
    #[schemars(example = &"1h")]
    pub(super) back_date: Option<String>,
    /// Further DNS names and addresses of the API server.
    #[schemars(example = example_names())]
    pub(super) extra_names: Option<Vec<String>>,
}

/// What the machines are like.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NodeDocument {
    /// Who makes cgroups for pods; it must be the same in the kubelet and in the runtime.
    pub(super) cgroup_driver: Option<CgroupDriver>,
    /// Where the kubelet's program lies on the machine.
    #[schemars(example = &"/usr/bin/kubelet")]
    pub(super) kubelet: Option<String>,
    /// The socket at which the container runtime answers.
    #[schemars(example = &"unix:///run/containerd/containerd.sock")]
    pub(super) container_runtime_endpoint: Option<String>,
}

/// The server from which further machines take their first config.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MachineConfigServerDocument {
    /// Where machines reach it: HOST:PORT; the host of spec.controlPlane.endpoint and port 22623 by
    /// default.
    #[schemars(example = &"configs.demo.example:22623")]
    pub(super) endpoint: Option<String>,
    /// How long the tokens are valid that machines ask with: a number and d, h or m; at most a year.
    #[schemars(example = &"24h")]
    pub(super) token_validity: Option<String>,
}

/// How hardened the cluster is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SecurityDocument {
    /// Which settings the components get; `cis` by default.
    pub(super) profile: Option<SecurityProfile>,
    /// How long the bootstrap token that you bring is valid: a number and d, h or m; from 10 minutes
    /// to 30 days.
    #[schemars(example = &"24h")]
    pub(super) bootstrap_token_validity: Option<String>,
}

/// Who renders, if not this tool itself.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RenderingDocument {
    /// How long one image may take, pulling included: a number and m or s; at most an hour.
    #[schemars(example = &"5m")]
    pub(super) within: Option<String>,
    /// Words that stand between `podman` and `run`.
    #[schemars(example = example_podman_flags())]
    pub(super) podman_flags: Option<Vec<String>>,
    /// Words that stand after `podman run`; not those that bootlace sets itself.
    #[schemars(example = example_run_flags())]
    pub(super) run_flags: Option<Vec<String>>,
    /// The images, each by the component that it renders.
    pub(super) images: Option<RenderersDocument>,
}

/// The images, each by the component that it renders.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RenderersDocument {
    /// The first API server.
    api: Option<RendererDocument>,
    /// Who may do what.
    auth: Option<RendererDocument>,
    /// The cluster's facts.
    config: Option<RendererDocument>,
    /// The version operator.
    version_operator: Option<RendererDocument>,
    /// etcd.
    etcd: Option<RendererDocument>,
    /// The API server.
    kube_apiserver: Option<RendererDocument>,
    /// The controller manager.
    kube_controller_manager: Option<RendererDocument>,
    /// The scheduler.
    kube_scheduler: Option<RendererDocument>,
    /// The ingress.
    ingress: Option<RendererDocument>,
    /// What further machines are told.
    machine_config: Option<RendererDocument>,
}

impl RenderersDocument {
    /// Lists them by the names of the components.
    pub(super) fn named(self) -> [(&'static str, Option<RendererDocument>); 10] {
        [
            ("api", self.api),
            ("auth", self.auth),
            ("config", self.config),
            ("version-operator", self.version_operator),
            ("etcd", self.etcd),
            ("kube-apiserver", self.kube_apiserver),
            ("kube-controller-manager", self.kube_controller_manager),
            ("kube-scheduler", self.kube_scheduler),
            ("ingress", self.ingress),
            ("machine-config", self.machine_config),
        ]
    }
}

/// An image that renders a component.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RendererDocument {
    /// The image, by its digest.
    #[schemars(
        example = &"registry.example/renderer@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )]
    pub(super) image: Option<String>,
    /// What it is called with; without any, as `bootlace render` is. $(input), $(output), $(config),
    /// $(image) and $(version) are put in.
    #[schemars(example = example_arguments())]
    pub(super) arguments: Option<Vec<String>>,
}

fn example_podman_flags() -> [&'static str; 1] {
    ["--storage-driver=vfs"]
}

fn example_run_flags() -> [&'static str; 1] {
    ["--ulimit=nofile=1024:4096"]
}

fn example_arguments() -> [&'static str; 3] {
    [
        "render",
        "--asset-input-dir=$(input)",
        "--asset-output-dir=$(output)",
    ]
}

fn example_folders() -> [&'static str; 1] {
    ["manifests"]
}

fn example_names() -> [&'static str; 1] {
    ["api.internal.example"]
}
