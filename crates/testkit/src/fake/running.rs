//! What runs on the fake machine beside its disk: units, pods, and what they leave in the kernel.
//!
//! Time does the work: whoever looks lets the machine settle first, and what a thing is doing
//! follows from when it was started. So a machine that is left alone comes up by itself, as a real
//! one does, and the same seed sees the same machine.

mod ailments;
mod components;
mod containers;
mod images;
mod kernel;
mod pods;
mod units;

use std::collections::BTreeMap;

pub use ailments::Ailment;
use bootlace_model::effect::Product;
use bootlace_model::path::TargetPath;
pub(crate) use components::Component;
pub(crate) use containers::Container;
pub use images::archive;
pub(crate) use pods::Pod;

use self::units::Started;
use super::state::State;

/// What the kubelet's unit is called.
pub(crate) const KUBELET: &str = "kubelet.service";
/// What the container runtime's unit is called.
pub(crate) const RUNTIME: &str = "containerd.service";
/// What the fake machine calls itself.
pub(crate) const NODE_NAME: &str = "fake-0";

/// What runs on the fake machine, beside its disk.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// The units that were started, by name.
    units: BTreeMap<String, Started>,
    /// The static pods that the kubelet made, by the file that asks for them.
    pods: BTreeMap<String, Pod>,
    /// Mounts, interfaces, tables and control groups.
    kernel: Vec<Product>,
    /// What a unit makes when it is started, by name.
    leaves: BTreeMap<String, Vec<Product>>,
    /// What is wrong with the machine.
    ailments: Vec<Ailment>,
    /// Paths that the API was asked for and has no route to.
    unanswered: Vec<String>,
}

impl Running {
    pub(super) fn new() -> Self {
        let folder = |text| TargetPath::new(text).unwrap_or_else(|_| TargetPath::root());
        let kubelet = vec![
            Product::Path(folder("/var/lib/kubelet")),
            Product::Cgroup("kubepods".into()),
        ];
        let runtime = vec![Product::Path(folder("/var/lib/containerd"))];
        Self {
            units: BTreeMap::new(),
            pods: BTreeMap::new(),
            kernel: Vec::new(),
            leaves: BTreeMap::from([(KUBELET.into(), kubelet), (RUNTIME.into(), runtime)]),
            ailments: Vec::new(),
            unanswered: Vec::new(),
        }
    }

    /// Adds to what a unit makes when it is started.
    pub(super) fn add_leaves(&mut self, unit: &str, products: Vec<Product>) {
        self.leaves.entry(unit.into()).or_default().extend(products);
    }

    /// Lets something be wrong with the machine.
    pub(super) fn ail(&mut self, ailment: Ailment) {
        self.ailments.push(ailment);
    }

    /// Remembers that the API was asked for something that it has no route to.
    pub(super) fn miss(&mut self, path: &str) {
        self.unanswered.push(path.to_owned());
    }

    /// Takes what the API was asked for in vain.
    pub(super) fn take_unanswered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unanswered)
    }
}

impl State {
    /// Ends all that runs, as a power cut does.
    pub(super) fn power_off(&mut self) {
        self.running.units.clear();
        self.running.pods.clear();
        self.running.kernel.clear();
    }

    /// Lets nothing be wrong with the machine any more; what it did meanwhile stays.
    pub(super) fn heal(&mut self) {
        self.settle();
        self.remember_restarts();
        self.remember_failures();
        self.running.ailments.clear();
    }

    /// Lets the machine come to where it goes by itself until now.
    pub(crate) fn settle(&mut self) {
        self.settle_pods();
    }

    /// Lists what runs, in words; what a log or a clock would tell is left out.
    pub(crate) fn what_runs(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let working = self.running.units.iter().filter(|(_, it)| !it.failed);
        for (unit, _) in working {
            found.insert(format!("unit {unit}"), "started".into());
        }
        for pod in self.running.pods.values() {
            found.insert(format!("pod {}/{}", pod.namespace, pod.name), pod.images());
        }
        for product in &self.running.kernel {
            found.insert(product.what(), "there".into());
        }
        found
    }
}
