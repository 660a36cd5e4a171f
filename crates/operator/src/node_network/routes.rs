//! Which routes lead to the pods of other nodes.

use std::fmt;
use std::net::IpAddr;

use super::node::Node;

/// A way to a network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    /// The network's first address.
    pub(super) network: IpAddr,
    /// How many bits of it count.
    pub(super) length: u8,
    /// The machine that leads there.
    pub(super) gateway: IpAddr,
}

/// A change of the kernel's routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// Packets take this way from now on.
    Set(Route),
    /// This way leads nowhere any more.
    Remove(Route),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, route) = match self {
            Self::Set(route) => ("replace", route),
            Self::Remove(route) => ("delete", route),
        };
        let Route {
            network,
            length,
            gateway,
        } = route;
        write!(f, "ip route {verb} {network}/{length} via {gateway}")
    }
}

/// Returns the ways to the pods of nodes, by addresses of the same family.
pub(super) fn wanted<'n>(nodes: impl Iterator<Item = &'n Node>) -> Vec<Route> {
    let mut routes = vec![];
    for node in nodes {
        for network in node.pod_networks() {
            let Some((network, length)) = parse(&network) else {
                continue;
            };
            let gateway = node
                .addresses()
                .find(|address| address.is_ipv4() == network.is_ipv4());
            routes.extend(gateway.map(|gateway| Route {
                network,
                length,
                gateway,
            }));
        }
    }
    routes.sort();
    routes
}

fn parse(network: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = network.split_once('/')?;
    let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
    let most = if address.is_ipv4() { 32 } else { 128 };
    (length <= most).then_some((address, length))
}

/// Returns what must change so that exactly the wanted ways are there, among those that are ours.
pub(super) fn changes(wanted: &[Route], ours: &[Route]) -> Vec<Change> {
    let leads_there = |route: &&Route| {
        let is_same =
            |other: &Route| (other.network, other.length) == (route.network, route.length);
        wanted.iter().any(is_same)
    };
    let set = wanted
        .iter()
        .filter(|route| !ours.contains(route))
        .cloned()
        .map(Change::Set);
    // What leads to the same network by another way is replaced, not removed.
    let stale = ours.iter().filter(|route| !leads_there(route)).cloned();
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
        let (network, length) = parse(network).unwrap();
        let gateway = gateway.parse().unwrap();
        Route {
            network,
            length,
            gateway,
        }
    }

    #[test]
    fn every_node_s_pods_are_reached_by_an_address_of_their_family() {
        let nodes = [
            node(
                "a",
                &["10.244.1.0/24", "fd00:1::/64"],
                &["fe80::1", "10.0.0.1"],
            ),
            node("b", &[], &["10.0.0.2"]),
            node("c", &["10.244.3.0/24"], &[]),
            node("d", &["nonsense", "10.244.4.0/99"], &["10.0.0.4"]),
        ];
        assert_eq!(
            wanted(nodes.iter()),
            [
                route("10.244.1.0/24", "10.0.0.1"),
                route("fd00:1::/64", "fe80::1")
            ]
        );
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
            let mut table: std::collections::BTreeMap<(IpAddr, u8), Route> =
                routes(&ours).into_iter().map(|r| ((r.network, r.length), r)).collect();
            for change in changes(&routes(&wanted), &routes(&ours)) {
                match change {
                    Change::Set(route) => drop(table.insert((route.network, route.length), route)),
                    Change::Remove(route) => drop(table.remove(&(route.network, route.length))),
                }
            }
            prop_assert_eq!(table.into_values().collect::<Vec<_>>(), routes(&wanted));
        }
    }
}
