//! A node, as far as its network matters.

use std::net::IpAddr;

use serde::Deserialize;

/// All nodes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NodeList {
    /// Which state of all nodes this is.
    pub(super) metadata: Metadata,
    /// The nodes.
    #[serde(default)]
    pub(super) items: Vec<Node>,
}

/// Name, version and age.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    /// The name.
    pub(super) name: String,
    /// The version of the API's answer.
    pub(super) resource_version: String,
    /// When the API server took it in, as text that sorts by time.
    pub(super) creation_timestamp: String,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    /// Its name.
    pub(super) metadata: Metadata,
    /// What it was given.
    pub(super) spec: Spec,
    /// What it tells about itself.
    pub(super) status: Status,
}

/// What a node was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Spec {
    /// Its part of the pod network.
    #[serde(rename = "podCIDR")]
    pub(super) pod_cidr: String,
    /// The same, one for each family of addresses.
    #[serde(rename = "podCIDRs")]
    pub(super) pod_cidrs: Vec<String>,
}

/// What a node tells about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    /// Its addresses.
    pub(super) addresses: Vec<Address>,
}

/// An address of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Address {
    /// What it is for.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The address.
    pub(super) address: String,
}

impl Node {
    /// Returns the node's parts of the pod network, one for each family of addresses.
    pub(super) fn pod_networks(&self) -> Vec<String> {
        let Spec {
            pod_cidr,
            pod_cidrs,
        } = &self.spec;
        let all = if pod_cidrs.is_empty() {
            std::slice::from_ref(pod_cidr)
        } else {
            pod_cidrs
        };
        all.iter()
            .filter(|network| !network.is_empty())
            .cloned()
            .collect()
    }

    /// Returns the addresses under which other nodes reach it.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let internal = self
            .status
            .addresses
            .iter()
            .filter(|address| address.kind == "InternalIP");
        internal.filter_map(|address| address.address.parse().ok())
    }

    /// Tells whether nothing changed that matters to the network.
    pub(super) fn is_reached_like(&self, other: &Self) -> bool {
        self.spec == other.spec && self.status == other.status
    }
}
