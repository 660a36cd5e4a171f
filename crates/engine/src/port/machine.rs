//! The part of the port that a running machine answers: units, containers, images, ports.

use std::time::Duration;

use bootlace_model::effect::{Product, UnitName};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;

use super::HostResult;

/// A machine that runs, beside its files.
pub trait Machine {
    /// Tells whether the root is this machine itself and not a folder.
    fn is_live(&self) -> bool;
    /// Tells what systemd says of a unit; an unknown one is inactive.
    fn unit(&self, unit: &UnitName) -> HostResult<UnitActivity>;
    /// Reads changed unit files and starts a unit, or restarts it; returns when systemd is done.
    fn start_unit(&self, unit: &UnitName, anew: bool, within: Duration) -> HostResult<()>;
    /// Returns the last lines that a unit logged, oldest first.
    fn unit_log(&self, unit: &UnitName, lines: usize) -> HostResult<Vec<String>>;
    /// Lists all containers, ended ones too; none if no runtime answers.
    fn containers(&self) -> HostResult<Option<Vec<ContainerStatus>>>;
    /// Returns the last lines of a container's log, oldest first.
    fn container_log(&self, container: &ContainerStatus, lines: usize) -> HostResult<Vec<String>>;
    /// Lists the references of all images; none if no runtime answers.
    fn images(&self) -> HostResult<Option<Vec<String>>>;
    /// Loads the images of an archive, after its digest was compared where one is given.
    fn import_images(
        &self,
        archive: &TargetPath,
        digest: Option<Digest>,
        within: Duration,
    ) -> HostResult<()>;
    /// Tells whether a product that is no path is there.
    fn has_product(&self, product: &Product) -> HostResult<bool>;
    /// Lists those of several products that are there; all are no paths.
    fn products_there(&self, products: &[Product]) -> HostResult<Vec<Product>> {
        let mut there = Vec::new();
        for product in products {
            if self.has_product(product)? {
                there.push(product.clone());
            }
        }
        Ok(there)
    }
    /// Removes a product that is no path, and returns when it is gone.
    fn remove_product(&self, product: &Product, within: Duration) -> HostResult<()>;
    /// Tells whether this machine's own address accepts connections to a TCP port.
    fn listens(&self, port: u16) -> HostResult<bool>;

    /// Names who listens on a TCP port, if anybody does.
    fn port_holder(&self, port: u16) -> HostResult<Option<String>>;
    /// Returns how many bytes are free below a path, or its nearest parent that exists.
    fn free_bytes(&self, path: &TargetPath) -> HostResult<u64>;
    /// Lists the swap areas in use.
    fn swap_areas(&self) -> HostResult<Vec<String>>;
    /// Lists the control group controllers that can be used.
    fn cgroup_controllers(&self) -> HostResult<Vec<String>>;
}

/// What systemd says of a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitActivity {
    /// Whether a unit file of that name is there.
    pub is_known: bool,
    /// Whether it is active.
    pub is_active: bool,
    /// Whether it failed for good.
    pub has_failed: bool,
    /// How often systemd restarted it since it was started by hand.
    pub restarts: u32,
    /// How its last process ended, in systemd's words, such as `exit-code 1`.
    pub result: String,
}

/// What the container runtime says of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerStatus {
    /// The runtime's id.
    pub id: String,
    /// The pod's namespace and name.
    pub pod: (String, String),
    /// The container's name within the pod.
    pub name: String,
    /// Counts starts of it from 0.
    pub attempt: u32,
    /// What it is doing.
    pub state: ContainerState,
    /// Where its log lies.
    pub log: String,
}

/// What a container is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerState {
    /// It was made and not started.
    Created,
    /// It runs.
    Running,
    /// It ended.
    Exited {
        /// Its exit code.
        code: i32,
        /// What the runtime says about it.
        reason: String,
    },
    /// The runtime does not know.
    Unknown,
}
