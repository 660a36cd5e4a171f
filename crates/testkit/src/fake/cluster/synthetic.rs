//! Objects as the API shows them: what was applied, and what a control plane adds to it.

use bootlace_model::ids::Digest;
use serde_json::{Value, json};

use super::super::running::{Ailment, Component, NODE_NAME, Pod};
use super::super::state::State;
use super::apply::NAMESPACES;
use super::kinds::Served;
use super::store::merge;

/// The version that is told if no image's tag says another.
const VERSION: &str = "v1.36.3";

impl State {
    /// Tells the version of the API server, by its image's tag.
    pub(super) fn api_version(&self) -> String {
        let images = self.pod_of(Component::ApiServer).map(Pod::image_names);
        let tags = images.into_iter().flatten();
        let mut tags = tags.filter_map(|image| image.rsplit_once(':').map(|(_, tag)| tag));
        let version = tags.find(|tag| tag.starts_with("v1."));
        version.unwrap_or(VERSION).to_owned()
    }

    /// Lists all objects of a kind, those in one namespace only if it is given.
    pub(super) fn all_of(&self, served: &Served, namespace: Option<&str>) -> Vec<Value> {
        let mut all = self.made_by_itself(served);
        let stored = self.objects().into_values();
        let stored = stored.filter(|it| {
            it["apiVersion"] == served.api_version.as_str() && it["kind"] == served.kind.as_str()
        });
        for object in stored {
            let is_same = |other: &&mut Value| {
                ["namespace", "name"]
                    .iter()
                    .all(|field| other["metadata"][*field] == object["metadata"][*field])
            };
            match all.iter_mut().find(is_same) {
                Some(there) => merge(there, &object),
                None => all.push(object),
            }
        }
        if let Some(namespace) = namespace {
            all.retain(|it| it["metadata"]["namespace"] == namespace);
        }
        for object in &mut all {
            self.complete(served, object);
        }
        all
    }

    /// Lists what a control plane makes without being told.
    fn made_by_itself(&self, served: &Served) -> Vec<Value> {
        match served.kind.as_str() {
            "Namespace" => NAMESPACES
                .iter()
                .map(|name| json!({"metadata": {"name": name}}))
                .collect(),
            "Node" if self.is_registered() => vec![self.node()],
            "Pod" => self
                .static_pods()
                .into_iter()
                .chain(self.controlled_pods())
                .collect(),
            "Lease" => self.leases(),
            "ServiceAccount" if self.is_up(Component::ControllerManager) => NAMESPACES
                .iter()
                .map(|name| json!({"metadata": {"namespace": name, "name": "default"}}))
                .collect(),
            // The last that a real one makes before it calls itself ready.
            "Role" if self.is_up(Component::ApiServer) => vec![json!({
                "metadata": {"namespace": "kube-system",
                    "name": "system::leader-locking-kube-controller-manager"},
            })],
            "Service" => vec![json!({
                "metadata": {"namespace": "default", "name": "kubernetes"},
                "spec": {"clusterIP": "10.96.0.1"},
            })],
            _ => vec![],
        }
    }

    fn node(&self) -> Value {
        let (ready, pressure) = if self.node_is_ready() {
            ("True", "False")
        } else {
            ("Unknown", "Unknown")
        };
        json!({
            "metadata": {"name": NODE_NAME, "labels": {"kubernetes.io/hostname": NODE_NAME}},
            "status": {
                "conditions": [condition("MemoryPressure", pressure), condition("Ready", ready)],
                "nodeInfo": {"kubeletVersion": self.api_version()},
            },
        })
    }

    fn static_pods(&self) -> Vec<Value> {
        let pods = self.mirror_pods().into_iter();
        let shown = pods.filter(|_| self.is_registered()).map(|mirror| {
            let (namespace, labels) = (mirror.pod.pod_namespace(), mirror.pod.labels());
            let mut shown = pod(namespace, &mirror.name, labels, mirror.is_ready);
            if let Some(since) = self.marked_since() {
                shown["status"]["conditions"][0] = json!({"type": "Ready", "status": "False",
                    "lastTransitionTime": since.to_string()});
            }
            shown
        });
        shown.collect()
    }

    fn marked_since(&self) -> Option<jiff::Timestamp> {
        let now = self.clock_shows();
        self.running.ailing(|ailment| match ailment {
            Ailment::PodsMarked { since, until } => (now < *until).then_some(*since),
            _ => None,
        })
    }

    /// Lists a pod for each deployment and each daemon set, once somebody makes them.
    fn controlled_pods(&self) -> Vec<Value> {
        if !self.controls() {
            return vec![];
        }
        let objects = self.objects().into_values();
        let owners = objects.filter(|it| it["kind"] == "Deployment" || it["kind"] == "DaemonSet");
        let pods = owners.map(|owner| {
            let word = |field: &str| {
                owner["metadata"][field]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let labels = &owner["spec"]["template"]["metadata"]["labels"];
            pod(
                &word("namespace"),
                &format!("{}-0", word("name")),
                labels,
                true,
            )
        });
        pods.collect()
    }

    fn leases(&self) -> Vec<Value> {
        let holders = [
            (Component::ControllerManager, "kube-controller-manager"),
            (Component::Scheduler, "kube-scheduler"),
        ];
        let held = holders
            .into_iter()
            .filter(|(component, _)| self.is_up(*component));
        let lease = |namespace: &str, name: &str| {
            json!({
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"holderIdentity": NODE_NAME, "renewTime": self.clock_shows().to_string()},
            })
        };
        let mut leases: Vec<Value> = held.map(|(_, name)| lease("kube-system", name)).collect();
        if self.node_is_ready() {
            leases.push(lease("kube-node-lease", NODE_NAME));
        }
        leases
    }

    /// Tells whether this node was registered: once it was, the API remembers it.
    fn is_registered(&self) -> bool {
        self.is_up(Component::ApiServer)
    }

    /// Tells whether deployments become pods, and pods run.
    fn controls(&self) -> bool {
        let parts = [Component::ControllerManager, Component::Scheduler];
        self.node_is_ready() && parts.iter().all(|part| self.is_up(*part))
    }

    /// Adds what the API, or a controller, adds to every object of a kind.
    fn complete(&self, served: &Served, object: &mut Value) {
        let name = format!(
            "{}/{}",
            object["metadata"]["namespace"], object["metadata"]["name"]
        );
        let uid = Digest::of(format!("{} {name}", served.kind).as_bytes()).short();
        merge(
            object,
            &json!({
                "apiVersion": served.api_version, "kind": served.kind,
                "metadata": {"uid": uid, "resourceVersion": "1", "generation": 1},
            }),
        );
        if let Some(status) = self.status_of(served, object) {
            merge(object, &json!({"status": status}));
        }
    }

    fn status_of(&self, served: &Served, object: &Value) -> Option<Value> {
        let controls = self.controls();
        let wanted = object["spec"]["replicas"].as_u64().unwrap_or(1);
        let count = if controls { wanted } else { 0 };
        let truth = |it: bool| if it { "True" } else { "False" };
        Some(match served.kind.as_str() {
            "Deployment" | "StatefulSet" | "ReplicaSet" => json!({
                "observedGeneration": 1, "replicas": count, "readyReplicas": count,
                "updatedReplicas": count, "availableReplicas": count,
                "conditions": [condition("Available", truth(controls))],
            }),
            "DaemonSet" => json!({
                "observedGeneration": 1, "desiredNumberScheduled": 1,
                "currentNumberScheduled": count, "updatedNumberScheduled": count,
                "numberReady": count, "numberAvailable": count, "numberMisscheduled": 0,
            }),
            "Job" => json!({
                "succeeded": count, "conditions": [condition("Complete", truth(controls))],
            }),
            "Namespace" => json!({"phase": "Active"}),
            "CustomResourceDefinition" => json!({"conditions": [
                condition("NamesAccepted", "True"), condition("Established", "True"),
            ]}),
            "ClusterVersion" => {
                let reconciled = self.is_up(Component::VersionOperator)
                    || (controls && self.has_operator_deployment());
                let version = self.api_version();
                let mut status = json!({
                    "observedGeneration": 1, "desired": {"version": version}, "conditions": [
                        condition("Available", truth(reconciled)),
                        condition("Progressing", truth(!reconciled)),
                        condition("Failing", "False"),
                    ],
                });
                // Nothing works on the release here; a test may say what an operator would.
                if reconciled && object["status"]["objects"].is_null() {
                    status["objects"] = json!([]);
                }
                status
            }
            _ => return None,
        })
    }

    fn has_operator_deployment(&self) -> bool {
        self.objects().values().any(|it| {
            let name = it["metadata"]["name"].as_str().unwrap_or_default();
            it["kind"] == "Deployment" && name.contains("version-operator")
        })
    }
}

fn condition(name: &str, status: &str) -> Value {
    json!({"type": name, "status": status})
}

fn pod(namespace: &str, name: &str, labels: &Value, is_ready: bool) -> Value {
    let status = if is_ready { "True" } else { "False" };
    json!({
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"nodeName": NODE_NAME},
        "status": {
            "phase": "Running",
            "conditions": [condition("Ready", status), condition("ContainersReady", status)],
        },
    })
}
