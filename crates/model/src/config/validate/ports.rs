//! Ports that no two components share.

use super::Check;
use crate::config::document::PortsDocument;
use crate::config::{Endpoint, Ports};

const ENDPOINT: &str = "spec.controlPlane.endpoint";

const WHY_PORT: &str = "others have to know the port before the component listens";
const WHY_SHARED: &str = "the second component that listens on a port ends at once";

impl Check<'_> {
    /// Checks the ports, each alone and all together.
    pub(super) fn ports(
        &mut self,
        document: &PortsDocument,
        defaults: Ports,
        endpoint: Option<&Endpoint>,
    ) -> Option<Ports> {
        let mut used: Vec<(&'static str, u16)> = Vec::new();
        used.extend(endpoint.map(|endpoint| (ENDPOINT, endpoint.port)));
        let mut read = |path: &'static str, given: Option<u32>, default: u16| {
            let port = self.port(path, given, default)?;
            let shared = used.iter().find(|(_, other)| *other == port);
            let fits = shared.is_none_or(|(other, _)| self.share(other, path, port));
            used.push((path, port));
            fits.then_some(port)
        };
        let etcd_clients = read(
            "spec.controlPlane.ports.etcdClients",
            document.etcd_clients,
            defaults.etcd_clients,
        );
        let etcd_peers = read(
            "spec.controlPlane.ports.etcdPeers",
            document.etcd_peers,
            defaults.etcd_peers,
        );
        let etcd_metrics = read(
            "spec.controlPlane.ports.etcdMetrics",
            document.etcd_metrics,
            defaults.etcd_metrics,
        );
        let controller_manager = read(
            "spec.controlPlane.ports.controllerManager",
            document.controller_manager,
            defaults.controller_manager,
        );
        let scheduler = read(
            "spec.controlPlane.ports.scheduler",
            document.scheduler,
            defaults.scheduler,
        );
        Some(Ports {
            etcd_clients: etcd_clients?,
            etcd_peers: etcd_peers?,
            etcd_metrics: etcd_metrics?,
            controller_manager: controller_manager?,
            scheduler: scheduler?,
        })
    }

    fn port(&mut self, path: &str, given: Option<u32>, default: u16) -> Option<u16> {
        let Some(given) = given else {
            return Some(default);
        };
        let port = u16::try_from(given).ok().filter(|port| *port > 0);
        if port.is_none() {
            let what = format!("{path}: {given} is no port");
            self.refuse(path, what, WHY_PORT, "write a number from 1 to 65535");
        }
        port
    }

    /// Refuses a port that two components share.
    fn share(&mut self, other: &str, path: &str, port: u16) -> bool {
        let (at, from) = self.later([other, path]);
        let what = format!("{other} and {path} share the port {port}");
        let hint = format!("write another one; {from}");
        self.refuse_beside(at, what, WHY_SHARED, hint);
        false
    }
}
