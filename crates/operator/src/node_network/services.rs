//! The way to the service network, for programs on the node itself.
//!
//! Service addresses exist in the packet filter alone: a packet to one of them gets the address of a pod on
//! its way out. But the kernel looks for a route before it asks the filter, and a machine without a default
//! route has none. Connections of the API server to webhooks and aggregated APIs then end with `network is
//! unreachable`. Any route helps, because the filter looks for the real one: ours names the device and the
//! address of the node. It is there only while no route of others leads to these addresses.

use std::io;
use std::net::IpAddr;

use super::netlink::Routes;
use super::routes::{Change, Network, Route, Way};

/// What is to be done for one service network.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Routes of others lead there; one of ours that is there goes.
    Covered(Option<Change>),
    /// Our route is there.
    Ours,
    /// Our route is missing, or is an old one that goes first.
    Missing(Vec<Change>),
    /// No device has an address of the node and of this family.
    NoDevice,
}

impl Decision {
    /// Returns the changes, in their order.
    pub(super) fn changes(&self) -> &[Change] {
        match self {
            Self::Covered(change) => change.as_slice(),
            Self::Missing(changes) => changes,
            Self::Ours | Self::NoDevice => &[],
        }
    }
}

/// Decides what is missing for a service network, of a node with these addresses.
pub(super) fn decide(
    kernel: &mut Routes,
    services: &Network,
    node: &[IpAddr],
) -> io::Result<Decision> {
    let table = kernel.table()?;
    let old = table.ours.into_iter().find(|route| route.to == *services);
    if table.others.iter().any(|other| other.covers(services)) {
        return Ok(Decision::Covered(old.map(Change::Remove)));
    }
    // Rules may send packets to another table than the main one.
    if old.is_none() && kernel.leads_to(services.address)? {
        return Ok(Decision::Covered(None));
    }
    let is_alike = |address: &&IpAddr| address.is_ipv4() == services.address.is_ipv4();
    let mut wanted = None;
    for source in node.iter().copied().filter(|address| is_alike(&address)) {
        if let Some(device) = kernel.device_of(source)? {
            let way = Way::Link { device, source };
            wanted = Some(Route { to: *services, way });
            break;
        }
    }
    Ok(match (old, wanted) {
        (_, None) => Decision::NoDevice,
        (Some(old), Some(wanted)) if old == wanted => Decision::Ours,
        (old, Some(wanted)) => {
            let old = old.map(Change::Remove);
            Decision::Missing(old.into_iter().chain([Change::Add(wanted)]).collect())
        }
    })
}
