//! A document → settings: every value makes sense, alone and beside the others.

mod machine_config_server;
mod network;
mod node;
mod pki;
mod ports;
mod release;
mod rendering;
mod security;

use super::document::{ControlPlaneDocument, Document};
use super::findings::{Finding, fault};
use super::grammar::{Problem, address, name, version};
use super::settings::{ClusterSettings, ControlPlane, Paths, Settings};
use super::tree::{Node, Origin};
use crate::fault::Fault;

/// How many machines a control plane can have.
const REPLICAS: [u32; 3] = [1, 3, 5];

const WHY_REPLICAS: &str = "etcd works as long as more than half of its members do: \
     an even number fails as easily as the odd one below it, and more than five are slow";

/// Checks a document; `tree` tells where each of its values was written, and `findings` is what was
/// taken out of it before.
pub(super) fn validate(
    document: &Document,
    tree: &Node,
    paths: Paths,
    findings: Vec<Finding>,
) -> Result<Settings, Fault> {
    let mut check = Check {
        tree,
        is_complete: findings.is_empty(),
        findings,
    };
    let defaults = Settings::defaults(paths);
    let cluster = check.cluster(document, defaults.cluster);
    match (cluster, fault(check.findings)) {
        (_, Some(fault)) => Err(fault),
        (Some(cluster), None) => Ok(Settings {
            cluster,
            paths: defaults.paths,
            clean: defaults.clean,
            placement: defaults.placement,
            ignition: None,
        }),
        (None, None) => Err(Fault::internal("the config was refused without a reason")),
    }
}

/// Collects what is wrong. A check returns none for a value that it found something against;
/// checks of several values together leave out those.
struct Check<'a> {
    tree: &'a Node,
    /// Whether nothing was taken out of the document. Else a default may stand where a person wrote
    /// something, and would be found to conflict with the rest.
    is_complete: bool,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn cluster(
        &mut self,
        document: &Document,
        defaults: ClusterSettings,
    ) -> Option<ClusterSettings> {
        let metadata = document.metadata.clone().unwrap_or_default();
        let spec = document.spec.clone().unwrap_or_default();
        let name = self.text("metadata.name", metadata.name, defaults.name, name::label);
        let kubernetes_version = self.text(
            "spec.kubernetesVersion",
            spec.kubernetes_version,
            defaults.kubernetes_version,
            version::version,
        );
        let release = self.release(&spec.release.unwrap_or_default());
        let control_plane = spec.control_plane.unwrap_or_default();
        let control_plane = self.control_plane(control_plane, defaults.control_plane);
        let network = self.network(spec.network.unwrap_or_default(), defaults.network);
        let control_plane = self.together(control_plane, network.as_ref());
        let manifests = self.folders("spec.manifests", &spec.manifests.unwrap_or_default());
        let add_ons = spec.add_ons.unwrap_or_default().dir;
        let add_ons = match &add_ons {
            Some(text) => self.folder("spec.addOns.dir", text).map(Some),
            None => Some(None),
        };
        let pki = self.pki(spec.pki.unwrap_or_default(), &defaults.pki);
        let node = self.node(spec.node.unwrap_or_default(), defaults.node);
        let rendering = self.rendering(spec.rendering.unwrap_or_default());
        let server = spec.machine_config_server.unwrap_or_default();
        let server = self.machine_config_server(server, control_plane.as_ref());
        let security = self.security(spec.security.unwrap_or_default());
        Some(ClusterSettings {
            name: name?,
            profile: spec.profile.unwrap_or(defaults.profile),
            kubernetes_version: kubernetes_version?,
            release: release?,
            control_plane: control_plane?,
            network: network?,
            manifests: manifests?,
            add_ons: add_ons?,
            pki: pki?,
            node: node?,
            rendering: rendering?,
            machine_config_server: server?,
            security: security?,
        })
    }

    /// Checks the values of the control plane, each alone. The address is optional here, because
    /// its default depends on the networks.
    fn control_plane(
        &mut self,
        document: ControlPlaneDocument,
        defaults: ControlPlane,
    ) -> Option<ControlPlane> {
        let endpoint = self.text(
            "spec.controlPlane.endpoint",
            document.endpoint,
            defaults.endpoint,
            address::endpoint,
        );
        let replicas = document.replicas.unwrap_or(defaults.replicas);
        let replicas_fit = REPLICAS.contains(&replicas);
        if !replicas_fit {
            let what = format!("spec.controlPlane.replicas: {replicas} is not 1, 3 or 5");
            let hint = format!("write {}", nearest_replicas(replicas));
            self.refuse("spec.controlPlane.replicas", what, WHY_REPLICAS, hint);
        }
        let advertise_address = self.text(
            "spec.controlPlane.advertiseAddress",
            document.advertise_address,
            defaults.advertise_address,
            address::address,
        );
        let node_name = match document.node_name {
            Some(text) => {
                let read = |text: &str| name::subdomain(text).map(Some);
                self.text("spec.controlPlane.nodeName", Some(text), None, read)
            }
            None => Some(defaults.node_name),
        };
        let ports = document.ports.unwrap_or_default();
        let ports = self.ports(&ports, defaults.ports, endpoint.as_ref());
        Some(ControlPlane {
            endpoint: endpoint?,
            replicas: replicas_fit.then_some(replicas)?,
            advertise_address: advertise_address?,
            node_name: node_name?,
            ports: ports?,
        })
    }

    /// Reads a text by its grammar, or takes the default if there is none.
    fn text<T>(
        &mut self,
        path: &str,
        text: Option<String>,
        default: T,
        read: impl Fn(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        let Some(text) = text else {
            return Some(default);
        };
        match read(&text) {
            Ok(value) => Some(value),
            Err(Problem { what, why, hint }) => {
                self.refuse(path, format!("{path}: {text:?} {what}"), why, hint);
                None
            }
        }
    }

    /// Reads a list of texts by their grammar; each may stand in it only once.
    fn texts<T: PartialEq>(
        &mut self,
        path: &str,
        texts: &[String],
        mut read: impl FnMut(&mut Self, &str, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut values: Vec<Option<T>> = vec![];
        for (index, text) in texts.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let mut value = read(self, &path, text);
            if value.is_some() && values.contains(&value) {
                let what = format!("{path}: {text:?} stands in the list already");
                let why = "what is written twice is mostly meant to be two different things";
                self.refuse(&path, what, why, "keep one of the two");
                value = None;
            }
            values.push(value);
        }
        values.into_iter().collect()
    }

    /// Notes something against the value at a path.
    fn refuse(
        &mut self,
        path: &str,
        what: impl Into<String>,
        why: &'static str,
        hint: impl Into<String>,
    ) {
        let finding = Finding::new(self.origin(path), what, why, hint);
        self.findings.push(finding);
    }

    /// Notes that a value does not fit beside another one.
    fn refuse_beside(
        &mut self,
        path: &str,
        what: impl Into<String>,
        why: &'static str,
        hint: impl Into<String>,
    ) {
        if self.is_complete {
            self.refuse(path, what, why, hint);
        }
    }

    fn origin(&self, path: &str) -> &Origin {
        self.tree.nearest_origin(path)
    }

    /// Returns, of two values that do not fit together, the path of the one that was written last,
    /// and where the other one comes from.
    fn later<'p>(&self, paths: [&'p str; 2]) -> (&'p str, String) {
        let order = |path: &str| self.tree.find(path).map(|node| node.origin.order());
        let [mut last, mut other] = paths;
        if order(last) < order(other) {
            std::mem::swap(&mut last, &mut other);
        }
        let from = match self.tree.find(other) {
            Some(node) => format!("{other} is written at {}", node.origin.place()),
            None => format!("{other} is a default"),
        };
        (last, from)
    }
}

fn nearest_replicas(replicas: u32) -> u32 {
    let above = REPLICAS.into_iter().find(|allowed| *allowed > replicas);
    above.unwrap_or(REPLICAS[REPLICAS.len() - 1])
}
