//! Which routes lead to the pods of other nodes.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::node::{Metadata, Node};

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    /// Its first address.
    pub(super) address: IpAddr,
    /// How many bits of an address name the network.
    pub(super) length: u8,
}

impl Network {
    /// Tells whether all addresses of another network are in this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let bits = |address| match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        };
        let differ = bits(self.address) ^ bits(other.address);
        self.address.is_ipv4() == other.address.is_ipv4()
            && self.length <= other.length
            && differ.leading_zeros() >= u32::from(self.length)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(address, length)| {
            let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
            let most = if address.is_ipv4() { 32 } else { 128 };
            (length <= most).then_some(Self { address, length })
        });
        parsed.ok_or_else(|| format!("{text:?} is not a network such as 10.96.0.0/12"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// How packets get to a network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// A machine that leads there.
    Gateway(IpAddr),
    /// A device, as if the network were on its link.
    Link {
        /// The device's number.
        device: u32,
        /// The address that packets come from.
        source: IpAddr,
    },
}

/// A way to a network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    /// The network.
    pub(super) to: Network,
    /// How packets get there.
    pub(super) way: Way,
}

/// A change of the kernel's routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// This way is new; the kernel refuses it if there is another one.
    Add(Route),
    /// Packets take this way from now on.
    Set(Route),
    /// This way leads nowhere any more.
    Remove(Route),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, route) = match self {
            Self::Add(route) => ("add", route),
            Self::Set(route) => ("replace", route),
            Self::Remove(route) => ("delete", route),
        };
        write!(f, "ip route {verb} {}", route.to)?;
        match route.way {
            Way::Gateway(gateway) => write!(f, " via {gateway}"),
            Way::Link { device, source } => write!(f, " dev if{device} src {source}"),
        }
    }
}

/// The ways to the pods of other nodes, and what nodes claim without a right to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The ways, by addresses of the same family.
    pub(super) routes: Vec<Route>,
    /// What is not believed, one sentence each.
    pub(super) refused: Vec<String>,
}

/// Returns the ways to the pods of all nodes but this one.
///
/// A node says itself which part of the pod network it has when it registers. So that it cannot draw
/// the packets of others to it, a part counts only inside the cluster's pod networks, at most as large
/// as those that are handed out, and if no older node has any of it. The node that this runs on comes
/// first of all.
pub(super) fn wanted(nodes: &[&Node], here: &str, pods: &[Network]) -> Wanted {
    let mut nodes = nodes.to_vec();
    nodes.sort_by_key(|node| {
        let Metadata {
            name,
            creation_timestamp,
            ..
        } = &node.metadata;
        (name != here, creation_timestamp, name)
    });
    let mut wanted = Wanted::default();
    let mut taken: Vec<(Network, &str)> = vec![];
    for node in nodes {
        let name = node.metadata.name.as_str();
        for network in node.pod_networks() {
            let to = match claimed(&network, pods, &taken) {
                Ok(to) => to,
                Err(why) => {
                    let claim = format!("no route to {network} of the node {name}: {why}");
                    wanted.refused.push(claim);
                    continue;
                }
            };
            taken.push((to, name));
            let gateway = node
                .addresses()
                .find(|address| address.is_ipv4() == to.address.is_ipv4());
            if let Some(gateway) = gateway.filter(|_| name != here) {
                let way = Way::Gateway(gateway);
                wanted.routes.push(Route { to, way });
            }
        }
    }
    wanted.routes.sort();
    wanted
}

/// Returns the network that a node claims, or says why it cannot have it.
fn claimed(text: &str, pods: &[Network], taken: &[(Network, &str)]) -> Result<Network, String> {
    let network: Network = text.parse()?;
    if !pods.iter().any(|pods| pods.covers(&network)) {
        return Err("it is outside the cluster's pod network".into());
    }
    let least = if network.address.is_ipv4() { 24 } else { 64 };
    if network.length < least {
        return Err(format!("it is larger than a node's part, a /{least}"));
    }
    let overlaps = |other: &Network| other.covers(&network) || network.covers(other);
    match taken.iter().find(|(other, _)| overlaps(other)) {
        Some((other, owner)) => Err(format!("{other} belongs to the node {owner}")),
        None => Ok(network),
    }
}

/// Returns what must change so that exactly the wanted ways lead over gateways, among those that are ours.
pub(super) fn changes(wanted: &[Route], ours: &[Route]) -> Vec<Change> {
    let leads_there = |route: &&Route| wanted.iter().any(|other| other.to == route.to);
    let over_gateway = |route: &&Route| matches!(route.way, Way::Gateway(_));
    let set = wanted
        .iter()
        .filter(|route| !ours.contains(route))
        .cloned()
        .map(Change::Set);
    // What leads to the same network by another way is replaced, not removed.
    let stale = ours.iter().filter(over_gateway);
    let stale = stale.filter(|route| !leads_there(route)).cloned();
    set.chain(stale.map(Change::Remove)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::node_network::node::{Address, Metadata, Spec, Status};

    fn node(name: &str, networks: &[&str], addresses: &[&str]) -> Node {
        let address = |address: &&str| Address {
            kind: "InternalIP".into(),
            address: address.to_string(),
        };
        Node {
            metadata: Metadata {
                name: name.into(),
                ..Metadata::default()
            },
            spec: Spec {
                pod_cidr: networks
                    .first()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                pod_cidrs: networks.iter().map(ToString::to_string).collect(),
            },
            status: Status {
                addresses: addresses.iter().map(address).collect(),
            },
        }
    }

    fn route(network: &str, gateway: &str) -> Route {
        Route {
            to: network.parse().unwrap(),
            way: Way::Gateway(gateway.parse().unwrap()),
        }
    }

    fn wanted_among(nodes: &[Node]) -> Wanted {
        let pods = ["10.244.0.0/16", "fd00:1::/48"].map(|pods| pods.parse().unwrap());
        wanted(&nodes.iter().collect::<Vec<_>>(), "here", &pods)
    }

    #[test]
    fn every_other_node_s_pods_are_reached_by_an_address_of_their_family() {
        let nodes = [
            node("here", &["10.244.0.0/24"], &["10.0.0.9"]),
            node(
                "a",
                &["10.244.1.0/24", "fd00:1::/64"],
                &["fe80::1", "10.0.0.1"],
            ),
            node("b", &[], &["10.0.0.2"]),
            node("c", &["10.244.3.0/24"], &[]),
        ];
        let expected = Wanted {
            routes: vec![
                route("10.244.1.0/24", "10.0.0.1"),
                route("fd00:1::/64", "fe80::1"),
            ],
            refused: vec![],
        };
        assert_eq!(wanted_among(&nodes), expected);
    }

    #[test]
    fn no_node_draws_the_packets_of_others_to_it() {
        let created = |second: u8, mut node: Node| {
            node.metadata.creation_timestamp = format!("2026-01-01T00:00:0{second}Z");
            node
        };
        let claims = |networks: &[&str]| created(9, node("a-thief", networks, &["10.0.0.66"]));
        let refused = [
            // Everything, the service network, the nodes themselves, another family.
            ("0.0.0.0/0", "outside"),
            ("10.0.0.0/8", "outside"),
            ("10.96.0.1/32", "outside"),
            ("10.0.0.0/24", "outside"),
            ("::/0", "outside"),
            // All pods, or half of them.
            ("10.244.0.0/16", "larger"),
            ("10.244.128.0/17", "larger"),
            ("fd00:1::/48", "larger"),
            // This node, an older one, one pod of it, both of them.
            ("10.244.0.0/24", "here"),
            ("10.244.0.7/32", "here"),
            ("10.244.1.0/24", "older"),
            ("10.244.1.128/25", "older"),
            ("nonsense", "not a network"),
            ("10.244.4.0/99", "not a network"),
        ];
        let ours = || {
            [
                created(5, node("here", &["10.244.0.0/24"], &["10.0.0.9"])),
                created(1, node("z-older", &["10.244.1.0/24"], &["10.0.0.1"])),
            ]
        };
        for (claim, why) in refused {
            let [here, older] = ours();
            let wanted = wanted_among(&[claims(&[claim]), here, older]);
            assert_eq!(
                wanted.routes,
                [route("10.244.1.0/24", "10.0.0.1")],
                "{claim}"
            );
            let [told] = wanted.refused.try_into().unwrap();
            assert!(told.contains("a-thief") && told.contains(why), "{told}");
        }
        // What is refused takes nothing else from it.
        let [here, older] = ours();
        let wanted = wanted_among(&[claims(&["10.244.1.0/24", "10.244.7.0/24"]), here, older]);
        assert_eq!(wanted.routes.len(), 2);
    }

    #[test]
    fn a_way_that_changes_is_replaced_and_one_that_ends_is_removed() {
        let wanted = [
            route("10.244.1.0/24", "10.0.0.9"),
            route("10.244.2.0/24", "10.0.0.2"),
        ];
        let ours = [
            route("10.244.1.0/24", "10.0.0.1"),
            route("10.244.2.0/24", "10.0.0.2"),
            route("10.244.3.0/24", "10.0.0.3"),
        ];
        let changes: Vec<String> = changes(&wanted, &ours)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            changes,
            [
                "ip route replace 10.244.1.0/24 via 10.0.0.9",
                "ip route delete 10.244.3.0/24 via 10.0.0.3"
            ]
        );
    }

    #[test]
    fn a_network_covers_what_is_in_it_and_of_its_family() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        for (outer, inner) in [
            ("0.0.0.0/0", "10.96.0.0/12"),
            ("10.0.0.0/8", "10.96.0.0/12"),
            ("10.96.0.0/12", "10.96.0.0/12"),
            ("::/0", "fd00:2::/108"),
            ("fd00::/8", "fd00:2::/108"),
        ] {
            assert!(network(outer).covers(&network(inner)), "{outer} {inner}");
        }
        for (outer, inner) in [
            ("::/0", "10.96.0.0/12"),
            ("0.0.0.0/0", "fd00:2::/108"),
            ("10.96.0.0/13", "10.96.0.0/12"),
            ("10.112.0.0/12", "10.96.0.0/12"),
            ("10.90.0.0/24", "10.96.0.0/12"),
        ] {
            assert!(!network(outer).covers(&network(inner)), "{outer} {inner}");
        }
        for bad in ["10.96.0.0", "10.96.0.0/33", "x/8", "fd00::/129", ""] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }

    proptest! {
        /// The oracle is a table of routes that does as it is told.
        #[test]
        fn after_the_changes_the_wanted_ways_are_there_and_no_others(
            wanted in prop::collection::btree_map(0..6u8, 0..3u8, 0..6),
            ours in prop::collection::btree_map(0..6u8, 0..3u8, 0..6),
        ) {
            let routes = |map: &std::collections::BTreeMap<u8, u8>| -> Vec<Route> {
                let pairs = map.iter();
                pairs.map(|(n, g)| route(&format!("10.244.{n}.0/24"), &format!("10.0.0.{g}"))).collect()
            };
            let mut table: std::collections::BTreeMap<Network, Route> =
                routes(&ours).into_iter().map(|r| (r.to, r)).collect();
            for change in changes(&routes(&wanted), &routes(&ours)) {
                match change {
                    Change::Add(route) | Change::Set(route) => drop(table.insert(route.to, route)),
                    Change::Remove(route) => drop(table.remove(&route.to)),
                }
            }
            prop_assert_eq!(table.into_values().collect::<Vec<_>>(), routes(&wanted));
        }
    }
}
