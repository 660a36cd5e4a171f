//! Networks that are large enough, apart from each other, and of one family.

use std::net::{IpAddr, Ipv6Addr};

use super::Check;
use crate::config::document::NetworkDocument;
use crate::config::grammar::{address, name};
use crate::config::{Cidr, ControlPlane, Network};

const PODS: &str = "spec.network.podCIDR";
const SERVICES: &str = "spec.network.serviceCIDR";
const ADVERTISED: &str = "spec.controlPlane.advertiseAddress";
const ENDPOINT: &str = "spec.controlPlane.endpoint";

const WHY_FAMILY: &str = "pods, services and the API server must be able to reach each other";
const WHY_APART: &str =
    "an address that belongs to both could mean either, and packets would go to the wrong one";
const WHY_PODS: &str = "each machine gets a part of it for its pods";
const WHY_SERVICES: &str = "the API, DNS and every other service need an address of it";

/// What the controllers cut out of the pods' network for each machine.
const fn bits_of_a_machine(network: &Cidr) -> u8 {
    if network.is_ipv4() { 24 } else { 64 }
}

impl Check<'_> {
    /// Checks the networks, each alone and both together.
    pub(super) fn network(
        &mut self,
        document: NetworkDocument,
        defaults: Network,
    ) -> Option<Network> {
        let pods = self.text(PODS, document.pod_cidr, defaults.pod_cidr, address::network);
        let services = self.text(
            SERVICES,
            document.service_cidr,
            defaults.service_cidr,
            address::network,
        );
        let cluster_domain = self.text(
            "spec.network.clusterDomain",
            document.cluster_domain,
            defaults.cluster_domain,
            name::subdomain,
        );
        let pods = pods.filter(|pods| self.pods_fit(pods));
        let services = services.filter(|services| self.services_fit(services));
        let (pods, services) = (pods?, services?);
        let apart = self.apart(&pods, &services);
        Some(Network {
            pod_cidr: apart.then_some(pods)?,
            service_cidr: services,
            cluster_domain: cluster_domain?,
        })
    }

    fn pods_fit(&mut self, pods: &Cidr) -> bool {
        let machine = bits_of_a_machine(pods);
        // The controller that hands the parts out keeps a table with at most 2^16 of them.
        let smallest = machine - 16;
        let fits = (smallest..=machine).contains(&pods.prefix());
        if !fits {
            let what = format!("{PODS}: {pods} cannot be cut into parts of /{machine}");
            let hint = format!("write a prefix from /{smallest} to /{machine}");
            self.refuse(PODS, what, WHY_PODS, hint);
        }
        fits
    }

    fn services_fit(&mut self, services: &Cidr) -> bool {
        // Sixteen addresses are the least: DNS takes the tenth. The API server refuses an IPv6
        // network that is larger than /64.
        let (largest, smallest) = if services.is_ipv4() {
            (8, 28)
        } else {
            (64, 124)
        };
        let fits = (largest..=smallest).contains(&services.prefix());
        if !fits {
            let size = if services.prefix() > smallest {
                "small"
            } else {
                "large"
            };
            let what = format!("{SERVICES}: {services} is too {size}");
            let hint = format!("write a prefix from /{largest} to /{smallest}");
            self.refuse(SERVICES, what, WHY_SERVICES, hint);
        }
        fits
    }

    fn apart(&mut self, pods: &Cidr, services: &Cidr) -> bool {
        let (at, other) = self.later([PODS, SERVICES]);
        if pods.is_ipv4() != services.is_ipv4() {
            let what = format!(
                "{PODS} {pods} is {}, but {SERVICES} {services} is {}",
                family(pods.address()),
                family(services.address())
            );
            let hint = format!("write both networks, of the same family; {other}");
            self.refuse_beside(at, what, WHY_FAMILY, hint);
            return false;
        }
        if pods.overlaps(services) {
            let what = format!("{PODS} {pods} and {SERVICES} {services} overlap");
            let hint = format!("take networks that share no address; {other}");
            self.refuse_beside(at, what, WHY_APART, hint);
            return false;
        }
        true
    }

    /// Checks the control plane beside the networks, and gives it the default address of their
    /// family.
    pub(super) fn together(
        &mut self,
        control_plane: Option<ControlPlane>,
        network: Option<&Network>,
    ) -> Option<ControlPlane> {
        let (mut control_plane, Some(network)) = (control_plane?, network) else {
            return None;
        };
        let given = self.tree.find(ADVERTISED).is_some();
        if !given && !network.service_cidr.is_ipv4() {
            control_plane.advertise_address = IpAddr::V6(Ipv6Addr::LOCALHOST);
        }
        let mut fits = self.room_for_machines(control_plane.replicas, &network.pod_cidr);
        let advertised = control_plane.advertise_address;
        if advertised.is_ipv4() != network.service_cidr.is_ipv4() {
            let what = format!(
                "{ADVERTISED} {advertised} is {}, but {SERVICES} {} is {}",
                family(advertised),
                network.service_cidr,
                family(network.service_cidr.address())
            );
            let hint = "write an address of this machine of the same family";
            self.refuse_beside(ADVERTISED, what, WHY_FAMILY, hint);
            fits = false;
        }
        let endpoint = control_plane.endpoint.host.parse().ok();
        for (path, address) in [(ADVERTISED, Some(advertised)), (ENDPOINT, endpoint)] {
            let Some(address) = address else { continue };
            fits &= self.outside(path, address, PODS, &network.pod_cidr)
                && self.outside(path, address, SERVICES, &network.service_cidr);
        }
        fits.then_some(control_plane)
    }

    fn room_for_machines(&mut self, replicas: u32, pods: &Cidr) -> bool {
        let parts = 1_u64 << (bits_of_a_machine(pods).saturating_sub(pods.prefix())).min(63);
        let room = parts >= u64::from(replicas);
        if !room {
            let what = format!(
                "{PODS}: {pods} has room for {parts} of the {replicas} machines of the control plane"
            );
            let hint = "write a shorter prefix, such as /16";
            self.refuse_beside(PODS, what, WHY_PODS, hint);
        }
        room
    }

    fn outside(&mut self, path: &str, address: IpAddr, network_path: &str, network: &Cidr) -> bool {
        let outside = !network.contains(address);
        if !outside {
            let what = format!("{path}: {address} lies in {network_path} {network}");
            let hint = "take an address of a machine, or another network";
            self.refuse_beside(path, what, WHY_APART, hint);
        }
        outside
    }
}

fn family(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}
