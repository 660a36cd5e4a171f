//! Static pods: what the fake kubelet makes of the files in its folder.

use std::collections::BTreeMap;

use bootlace_model::effect::Product;
use bootlace_model::path::TargetPath;
use serde_json::Value;

use super::super::state::State;
use super::containers::Failure;
use super::{Component, Container, KUBELET, RUNTIME, Running};

/// Where the kubelet looks for static pods.
const MANIFESTS: &str = "/etc/kubernetes/manifests";
/// Where the kubelet mounts what pods need.
const VOLUMES: &str = "/var/lib/kubelet/pods";
/// Where etcd keeps its data if nothing else is said.
const ETCD_DATA: &str = "/var/lib/etcd";

/// A static pod that the kubelet made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(super) namespace: String,
    /// The name in the file; the API adds the node's.
    pub(super) name: String,
    labels: Value,
    /// The containers' names and images.
    pub(super) containers: Vec<(String, String)>,
    /// The first container's command and arguments.
    args: Vec<String>,
    /// The file's content.
    text: String,
    /// When its containers were made; none while an image is missing.
    pub(super) since: Option<jiff::Timestamp>,
    /// Whether etcd has made its data.
    has_data: bool,
    /// What is left of a failure whose cause is gone.
    pub(super) failure: Option<Failure>,
}

impl Pod {
    /// Reads a pod; none if the text is none.
    fn read(text: &str) -> Option<Self> {
        let pod: Value = serde_saphyr::from_str(text).ok()?;
        let word = |value: &Value, pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_str);
            found.map(ToOwned::to_owned)
        };
        let containers = pod.pointer("/spec/containers")?.as_array()?;
        let first = containers.first()?;
        let words = ["command", "args"].into_iter();
        let words = words.filter_map(|key| first.get(key)?.as_array()).flatten();
        Some(Self {
            namespace: word(&pod, "/metadata/namespace").unwrap_or_else(|| "default".into()),
            name: word(&pod, "/metadata/name")?,
            labels: pod["metadata"]["labels"].clone(),
            containers: containers
                .iter()
                .filter_map(|it| Some((word(it, "/name")?, word(it, "/image")?)))
                .collect(),
            args: words
                .filter_map(|it| it.as_str().map(ToOwned::to_owned))
                .collect(),
            text: text.to_owned(),
            since: None,
            has_data: false,
            failure: None,
        })
    }

    /// Returns the value of a flag of its program.
    pub(crate) fn flag(&self, name: &str) -> Option<&str> {
        let mut values = self.args.iter().filter_map(|arg| {
            let value = arg.strip_prefix("--")?.strip_prefix(name)?;
            value.strip_prefix('=')
        });
        values.next()
    }

    /// Returns its namespace.
    pub(crate) fn pod_namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns its labels.
    pub(crate) fn labels(&self) -> &Value {
        &self.labels
    }

    /// Lists its images.
    pub(crate) fn image_names(&self) -> impl Iterator<Item = &str> {
        self.containers.iter().map(|(_, image)| image.as_str())
    }

    /// Names its images.
    pub(super) fn images(&self) -> String {
        self.image_names().collect::<Vec<_>>().join(" ")
    }

    fn mount(&self) -> Option<Product> {
        let path = format!("{VOLUMES}/{}/volumes", self.name);
        TargetPath::new(&path).ok().map(Product::Mounts)
    }
}

impl State {
    /// Lets the kubelet make and end pods, and etcd its data.
    pub(super) fn settle_pods(&mut self) {
        if self.works_since(KUBELET).is_some() && self.works_since(RUNTIME).is_some() {
            self.follow_manifests();
            self.begin_containers();
        }
        self.make_etcd_data();
    }

    fn follow_manifests(&mut self) {
        let mut wanted = BTreeMap::new();
        for name in self.names_in(MANIFESTS) {
            // The kubelet skips names that begin with a dot: they are not finished yet.
            let text = self.text(&format!("{MANIFESTS}/{name}"));
            if let Some(text) = text.filter(|_| !name.starts_with('.')) {
                wanted.insert(name, text);
            }
        }
        let is_same = |name: &String, pod: &Pod| wanted.get(name) == Some(&pod.text);
        let gone: Vec<String> = self
            .running
            .pods
            .iter()
            .filter(|(name, pod)| !is_same(name, pod))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            if let Some(pod) = self.running.pods.remove(&name) {
                self.unmount(&pod);
            }
        }
        for (name, text) in wanted {
            if !self.running.pods.contains_key(&name)
                && let Some(pod) = Pod::read(&text)
            {
                self.running.pods.insert(name, pod);
            }
        }
    }

    fn begin_containers(&mut self) {
        let images = self.loaded_images();
        let (now, Running { pods, kernel, .. }) = (self.now, &mut self.running);
        for pod in pods.values_mut().filter(|pod| pod.since.is_none()) {
            if pod
                .containers
                .iter()
                .all(|(_, image)| images.contains(image))
            {
                pod.since = Some(now);
                kernel.extend(pod.mount());
            }
        }
    }

    /// Lets etcd make its data when it comes up; it does not mind data that is there.
    fn make_etcd_data(&mut self) {
        if !self.is_up(Component::Etcd) {
            return;
        }
        let folder = self.etcd_data();
        let pods = self.running.pods.values_mut();
        let mut fresh =
            pods.filter(|pod| Component::of(&pod.name) == Some(Component::Etcd) && !pod.has_data);
        if let Some(pod) = fresh.next() {
            pod.has_data = true;
            self.begin_store(&folder);
        }
    }

    /// Returns the folder in which etcd keeps its data.
    pub(crate) fn etcd_data(&self) -> String {
        let etcd = self.pod_of(Component::Etcd);
        let given = etcd.and_then(|pod| pod.flag("data-dir"));
        given.unwrap_or(ETCD_DATA).to_owned()
    }

    /// Returns the pod of a component.
    pub(crate) fn pod_of(&self, component: Component) -> Option<&Pod> {
        let mut pods = self.running.pods.values();
        pods.find(|pod| Component::of(&pod.name) == Some(component))
    }

    /// Ends all pods with their containers.
    pub(super) fn end_pods(&mut self, most: usize) {
        let names: Vec<String> = self.running.pods.keys().take(most).cloned().collect();
        for name in names {
            if let Some(pod) = self.running.pods.remove(&name) {
                self.unmount(&pod);
            }
        }
    }

    fn unmount(&mut self, pod: &Pod) {
        let mount = pod.mount();
        self.running.kernel.retain(|it| Some(it) != mount.as_ref());
    }

    /// Lists what the kubelet says of images that pods wait for.
    pub(super) fn images_not_pulled(&self) -> Vec<String> {
        if self.works_since(KUBELET).is_none() || self.works_since(RUNTIME).is_none() {
            return vec![];
        }
        let loaded = self.loaded_images();
        let waiting = self.running.pods.values().filter(|pod| pod.since.is_none());
        let images = waiting.flat_map(|pod| pod.image_names().map(|image| (&pod.name, image)));
        images
            .filter(|(_, image)| !loaded.contains(*image))
            .map(|(pod, image)| format!("Error syncing pod {pod}: ErrImagePull: {image}"))
            .collect()
    }

    /// Counts the pods.
    pub(super) fn count_pods(&self) -> usize {
        self.running.pods.len()
    }

    /// Lists the pods with the names that the API gives them, and whether each is ready.
    pub(crate) fn mirror_pods(&self) -> Vec<MirrorPod<'_>> {
        let pods = self.running.pods.values();
        let mirrored = pods.map(|pod| {
            let component = Component::of(&pod.name);
            let runs = self.containers_of(pod);
            let is_ready = match component {
                Some(component) => self.is_up(component),
                None => !runs.is_empty() && runs.iter().all(Container::is_running),
            };
            let name = format!("{}-{}", pod.name, super::NODE_NAME);
            MirrorPod {
                pod,
                name,
                is_ready,
            }
        });
        mirrored.collect()
    }
}

/// A static pod as the API shows it.
#[derive(Debug)]
pub(crate) struct MirrorPod<'a> {
    pub(crate) pod: &'a Pod,
    pub(crate) name: String,
    pub(crate) is_ready: bool,
}
