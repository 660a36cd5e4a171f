//! Settings: validated, complete, nothing left to check.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::Digest;
use crate::path::TargetPath;

/// Everything that steps may know of what the user wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// The cluster.
    pub cluster: ClusterSettings,
    /// Where things lie on the target.
    pub paths: Paths,
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
    pub authority_validity: Duration,
    /// How long other certificates are valid.
    pub leaf_validity: Duration,
    /// How far their begin lies in the past, for machines whose clock is behind.
    pub back_date: Duration,
    /// Further names of the API server.
    pub extra_names: Vec<String>,
}

/// A network, such as `10.96.0.0/12`; the host bits are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

/// Says why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a network: {reason}")]
pub struct BadCidr {
    text: String,
    reason: String,
}

impl Cidr {
    /// Returns the address of the network.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns how many bits are fixed.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Returns the n-th address of the network, if it has that many.
    pub fn nth(&self, n: u32) -> Option<IpAddr> {
        match self.address {
            IpAddr::V4(base) => {
                let size = 1_u64 << (32 - u32::from(self.prefix));
                let address = u32::from(base).checked_add(n)?;
                (u64::from(n) < size).then(|| IpAddr::V4(address.into()))
            }
            IpAddr::V6(base) => {
                let bits = 128 - u32::from(self.prefix);
                let fits = bits >= 32 || u64::from(n) < 1 << bits;
                let address = u128::from(base).checked_add(u128::from(n))?;
                fits.then(|| IpAddr::V6(address.into()))
            }
        }
    }

    /// Tells whether the two networks share an address.
    pub fn overlaps(&self, other: &Self) -> bool {
        let shorter = self.prefix.min(other.prefix);
        match (self.address, other.address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(shorter)).unwrap_or(0);
                u32::from(a) & mask == u32::from(b) & mask
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(shorter)).unwrap_or(0);
                u128::from(a) & mask == u128::from(b) & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = BadCidr;

    fn from_str(text: &str) -> Result<Self, BadCidr> {
        let bad = |reason: &str| BadCidr {
            text: text.into(),
            reason: reason.into(),
        };
        let (address, prefix) = text.split_once('/').ok_or_else(|| bad("there is no /"))?;
        let address: IpAddr = address.parse().map_err(|_| bad("the address is not one"))?;
        let prefix: u8 = prefix
            .parse()
            .map_err(|_| bad("the prefix is not a number"))?;
        let zero = match address {
            IpAddr::V4(a) if prefix <= 32 => {
                u32::from(a) & !u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0) == 0
            }
            IpAddr::V6(a) if prefix <= 128 => {
                u128::from(a) & !u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0) == 0
            }
            _ => return Err(bad("the prefix is too long")),
        };
        if !zero {
            return Err(bad("the address has bits behind the prefix"));
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl fmt::Debug for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Cidr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Settings {
    /// The settings that hold without a config: one node, plain Kubernetes, nothing pinned.
    pub fn defaults(paths: Paths) -> Self {
        let ten_years = Duration::from_hours(87600);
        let one_year = Duration::from_hours(8760);
        let v4 = |a, b, c, d, prefix| Cidr {
            address: IpAddr::from([a, b, c, d]),
            prefix,
        };
        let control_plane = ControlPlane {
            endpoint: Endpoint {
                host: "localhost".into(),
                port: 6443,
            },
            replicas: 1,
            advertise_address: IpAddr::from([127, 0, 0, 1]),
            node_name: None,
        };
        let network = Network {
            pod_cidr: v4(10, 244, 0, 0, 16),
            service_cidr: v4(10, 96, 0, 0, 12),
            cluster_domain: "cluster.local".into(),
        };
        let pki = PkiSettings {
            authority_validity: ten_years,
            leaf_validity: one_year,
            back_date: Duration::from_hours(1),
            extra_names: vec![],
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
        };
        Self { cluster, paths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_strictly() {
        let net: Cidr = "10.96.0.0/12".parse().unwrap();
        assert_eq!(net.nth(1), Some(IpAddr::from([10, 96, 0, 1])));
        assert_eq!("10.0.0.0/31".parse::<Cidr>().unwrap().nth(2), None);
        assert!(net.overlaps(&"10.100.0.0/16".parse().unwrap()));
        assert!(!net.overlaps(&"10.244.0.0/16".parse().unwrap()));
        assert!(!net.overlaps(&"fd00::/64".parse().unwrap()));
        for bad in [
            "10.0.0.0",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "x/8",
            "fd00::1/64",
            "10.0.0.0/-1",
        ] {
            assert!(bad.parse::<Cidr>().is_err(), "{bad}");
        }
    }
}
