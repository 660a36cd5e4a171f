//! Settings: validated, complete, nothing left to check.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cidr::Cidr;
use super::grammar::duration;
use super::machine_config_server::MachineConfigServer;
use super::placement::{Placement, Ports};
use super::rendering::RenderingSettings;
use super::security::SecuritySettings;
use crate::content::Content;
use crate::ids::Digest;
use crate::path::{BadPath, TargetPath};
use crate::provision::{Inputs, Provision};

/// Everything that steps may know of what the user wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// The cluster.
    pub cluster: ClusterSettings,
    /// Where things lie on the target.
    pub paths: Paths,
    /// Whether the asset folder goes as a whole at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clean: bool,
    /// Who runs the control plane.
    #[serde(default, skip_serializing_if = "Placement::is_kubelet")]
    pub placement: Placement,
    /// The Ignition config that the sequence `ignition` applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignition: Option<IgnitionSettings>,
}

/// An Ignition config that is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IgnitionSettings {
    /// What the list of all that it was read from hashes to.
    pub digest: Digest,
    /// What it asks for.
    #[serde(skip)]
    pub provision: Arc<Provision>,
    /// What it was read from.
    #[serde(skip)]
    pub inputs: Arc<Inputs>,
    /// The list of what it was read from, as it is kept.
    #[serde(skip)]
    pub index: Content,
}

impl IgnitionSettings {
    /// The name of the list below the folder in which a config is kept.
    pub const INDEX: &'static str = "inputs.json";
    /// The name of the config itself there.
    pub const CONFIG: &'static str = "config.ign";

    /// Takes what a config asks for, and what it was read from.
    pub fn new(provision: Provision, inputs: Inputs) -> Result<Self, serde_json::Error> {
        let index = Content::of(serde_json::to_vec_pretty(&inputs.index())?);
        Ok(Self {
            digest: index.digest(),
            provision: Arc::new(provision),
            inputs: Arc::new(inputs),
            index,
        })
    }

    /// Returns the folder in which it is kept below the state folder: its name is short enough for a
    /// line, and what is in it is compared with the whole digest.
    pub fn place(state: &TargetPath, digest: Digest) -> Result<TargetPath, BadPath> {
        state.join(&format!("ignition/{}", digest.short()))
    }

    /// Names the file in which something that was fetched is kept, counted from 0.
    pub fn fetched(number: usize) -> String {
        format!("fetched-{}", number + 1)
    }
}

/// Where things lie on the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paths {
    /// The asset folder.
    pub assets: TargetPath,
    /// Journals, blobs and locks.
    pub state: TargetPath,
}

/// The cluster that the user wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSettings {
    /// Its name.
    pub name: String,
    /// Which family of components it is made of.
    pub profile: Profile,
    /// The version of Kubernetes, such as `v1.36.3`.
    pub kubernetes_version: String,
    /// Where names and digests of images come from.
    pub release: ReleaseSource,
    /// The control plane.
    pub control_plane: ControlPlane,
    /// The networks.
    pub network: Network,
    /// Folders with the user's own manifests.
    pub manifests: Vec<TargetPath>,
    /// The folder that the step `add-ons` applies.
    pub add_ons: Option<TargetPath>,
    /// How keys and certificates are made.
    pub pki: PkiSettings,
    /// What the machines are like.
    pub node: NodeSettings,
    /// Who renders, if not this tool itself.
    #[serde(skip_serializing_if = "RenderingSettings::is_built_in")]
    pub rendering: RenderingSettings,
    /// Where further machines ask for their first config.
    #[serde(skip_serializing_if = "MachineConfigServer::is_default")]
    pub machine_config_server: MachineConfigServer,
    /// How hardened it is.
    #[serde(skip_serializing_if = "SecuritySettings::is_default")]
    pub security: SecuritySettings,
}

/// Which family of components a cluster is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Plain Kubernetes, rendered by this tool.
    Kubernetes,
    /// OpenShift, rendered by its operators.
    Openshift,
}

/// Where names and digests of images come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseSource {
    /// Names and versions that are built in, without digests.
    BuiltIn,
    /// A folder in the layout of a release payload.
    Dir {
        /// The folder.
        path: TargetPath,
        /// What the folder must hash to, if the user pinned it.
        digest: Option<Digest>,
    },
    /// A release image.
    Image(String),
}

/// The control plane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlane {
    /// Where clients reach it.
    pub endpoint: Endpoint,
    /// How many machines it has.
    pub replicas: u32,
    /// The address that this machine's API server announces.
    pub advertise_address: IpAddr,
    /// This machine's name in the cluster; what the machine calls itself if none is given.
    pub node_name: Option<String>,
    /// Where its components listen, but for the API server, whose port is the endpoint's.
    pub ports: Ports,
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// A DNS name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl Serialize for Endpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The networks of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Pods.
    #[serde(rename = "podCIDR")]
    pub pod_cidr: Cidr,
    /// Services.
    #[serde(rename = "serviceCIDR")]
    pub service_cidr: Cidr,
    /// The DNS domain of services.
    pub cluster_domain: String,
}

/// How keys and certificates are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PkiSettings {
    /// How long authorities are valid.
    #[serde(serialize_with = "duration::serialize")]
    pub authority_validity: Duration,
    /// How long other certificates are valid.
    #[serde(serialize_with = "duration::serialize")]
    pub leaf_validity: Duration,
    /// How far their begin lies in the past, for machines whose clock is behind.
    #[serde(serialize_with = "duration::serialize")]
    pub back_date: Duration,
    /// Further names of the API server.
    pub extra_names: Vec<String>,
}

/// What the machines are like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSettings {
    /// Who makes cgroups for pods.
    pub cgroup_driver: CgroupDriver,
    /// Where the kubelet's program lies, an absolute path that needs no quotes.
    pub kubelet: String,
    /// The socket at which the container runtime answers.
    pub container_runtime_endpoint: String,
}

/// Who makes cgroups for pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupDriver {
    /// systemd, on machines where it is the one manager of cgroups.
    Systemd,
    /// The kubelet and the runtime themselves.
    Cgroupfs,
}

impl CgroupDriver {
    /// Returns the name that the kubelet knows it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Cgroupfs => "cgroupfs",
        }
    }
}

impl Settings {
    /// The settings that hold without a config: one node, plain Kubernetes, nothing pinned.
    pub fn defaults(paths: Paths) -> Self {
        let ten_years = Duration::from_hours(87600);
        let one_year = Duration::from_hours(8760);
        let control_plane = ControlPlane {
            endpoint: Endpoint {
                host: "localhost".into(),
                port: 6443,
            },
            replicas: 1,
            advertise_address: IpAddr::from([127, 0, 0, 1]),
            node_name: None,
            ports: Ports::default(),
        };
        let network = Network {
            pod_cidr: Cidr::v4([10, 244, 0, 0], 16),
            service_cidr: Cidr::v4([10, 96, 0, 0], 12),
            cluster_domain: "cluster.local".into(),
        };
        let pki = PkiSettings {
            authority_validity: ten_years,
            leaf_validity: one_year,
            back_date: Duration::from_hours(1),
            extra_names: vec![],
        };
        let node = NodeSettings {
            cgroup_driver: CgroupDriver::Systemd,
            kubelet: "/usr/bin/kubelet".into(),
            container_runtime_endpoint: "unix:///run/containerd/containerd.sock".into(),
        };
        let cluster = ClusterSettings {
            name: "bootlace".into(),
            profile: Profile::Kubernetes,
            kubernetes_version: "v1.36.3".into(),
            release: ReleaseSource::BuiltIn,
            control_plane,
            network,
            manifests: vec![],
            add_ons: None,
            pki,
            node,
            rendering: RenderingSettings::default(),
            machine_config_server: MachineConfigServer::default(),
            security: SecuritySettings::default(),
        };
        Self {
            cluster,
            paths,
            clean: false,
            placement: Placement::default(),
            ignition: None,
        }
    }
}
