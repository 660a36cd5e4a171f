//! Ports that no two components share.

use super::Check;
use crate::config::document::PortsDocument;
use crate::config::{Endpoint, Ports};

const ENDPOINT: &str = "spec.controlPlane.endpoint";
const PORTS: &str = "spec.controlPlane.ports";

const WHY_ZERO: &str = "others have to know the port before the component listens";
const WHY_SHARED: &str = "the second component that listens on a port ends at once";

impl Check<'_> {
    /// Checks the ports, each alone and all together.
    pub(super) fn ports(
        &mut self,
        document: &PortsDocument,
        defaults: Ports,
        endpoint: Option<&Endpoint>,
    ) -> Option<Ports> {
        let ports = Ports {
            etcd_clients: document.etcd_clients.unwrap_or(defaults.etcd_clients),
            etcd_peers: document.etcd_peers.unwrap_or(defaults.etcd_peers),
            etcd_metrics: document.etcd_metrics.unwrap_or(defaults.etcd_metrics),
            controller_manager: document
                .controller_manager
                .unwrap_or(defaults.controller_manager),
            scheduler: document.scheduler.unwrap_or(defaults.scheduler),
        };
        let keys = [
            "etcdClients",
            "etcdPeers",
            "etcdMetrics",
            "controllerManager",
            "scheduler",
        ];
        let of_api = endpoint.map(|endpoint| (ENDPOINT.to_owned(), endpoint.port));
        let named = keys.map(|key| format!("{PORTS}.{key}"));
        let named = named.into_iter().zip(ports.all());
        let named: Vec<(String, u16)> = of_api.into_iter().chain(named).collect();
        let before = self.findings.len();
        for (index, (path, port)) in named.iter().enumerate() {
            if *port == 0 {
                let what = format!("{path}: 0 is no port");
                self.refuse(path, what, WHY_ZERO, "write a number from 1 to 65535");
            }
            let shared = named[..index].iter().find(|(_, other)| other == port);
            if let Some((other, _)) = shared.filter(|_| *port != 0) {
                let (at, from) = self.later([other, path]);
                let what = format!("{other} and {path} share the port {port}");
                let hint = format!("write another one; {from}");
                self.refuse(at, what, WHY_SHARED, hint);
            }
        }
        (self.findings.len() == before).then_some(ports)
    }
}
