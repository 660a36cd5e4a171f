//! The machine: what its kernel says, its units, its containers, and what those leave behind.
//!
//! Only a root that is `/` is the machine that runs. For a root in a folder nothing of the running
//! machine is told or changed: it would be another machine's.

mod cgroups;
mod container_log;
mod containers;
mod facts;
mod images;
pub(crate) mod kernel;
mod mounts;
mod packet_tables;
mod ports;
mod products;
pub(crate) mod runtime;
mod units;

use std::time::Duration;

use bootlace_engine::port::{
    Command, ContainerStatus, HostError, HostResult, Machine, Output, UnitActivity,
};
use bootlace_model::effect::{Product, UnitName};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;

use crate::RealHost;
use crate::error::{refused, senseless};

/// How much of what a program prints is kept.
const KEPT: usize = 4 << 20;

impl Machine for RealHost {
    fn is_live(&self) -> bool {
        self.roots.is_live()
    }

    fn unit(&self, unit: &UnitName) -> HostResult<UnitActivity> {
        units::activity(self, unit)
    }

    fn start_unit(&self, unit: &UnitName, anew: bool, within: Duration) -> HostResult<()> {
        units::start(self, unit, anew, within)
    }

    fn unit_log(&self, unit: &UnitName, lines: usize) -> HostResult<Vec<String>> {
        units::log(self, unit, lines)
    }

    fn containers(&self) -> HostResult<Option<Vec<ContainerStatus>>> {
        self.runtime.containers(&self.stop)
    }

    fn container_log(&self, container: &ContainerStatus, lines: usize) -> HostResult<Vec<String>> {
        container_log::tail(self, &container.log, lines)
    }

    fn images(&self) -> HostResult<Option<Vec<String>>> {
        self.runtime.images(&self.stop)
    }

    fn import_images(
        &self,
        archive: &TargetPath,
        digest: Option<Digest>,
        within: Duration,
    ) -> HostResult<()> {
        images::import(self, archive, digest, within)
    }

    fn has_product(&self, product: &Product) -> HostResult<bool> {
        products::has(self, product)
    }

    fn products_there(&self, products: &[Product]) -> HostResult<Vec<Product>> {
        products::there(self, products)
    }

    fn remove_product(&self, product: &Product, within: Duration) -> HostResult<()> {
        products::remove(self, product, within)
    }

    fn listens(&self, port: u16) -> HostResult<bool> {
        Ok(ports::listens(port))
    }

    fn port_holder(&self, port: u16) -> HostResult<Option<String>> {
        ports::holder(port)
    }

    fn free_bytes(&self, path: &TargetPath) -> HostResult<u64> {
        facts::free_bytes(self, path)
    }

    fn swap_areas(&self) -> HostResult<Vec<String>> {
        facts::swap_areas()
    }

    fn cgroup_controllers(&self) -> HostResult<Vec<String>> {
        facts::cgroup_controllers()
    }
}

impl RealHost {
    /// Runs a program of this machine.
    fn call(&self, words: &[&str], within: Duration) -> HostResult<Output> {
        let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let command = Command {
            argv: &argv,
            env: vec![],
            directory: None,
            within,
            keep: KEPT,
            input: None,
        };
        let folder = self.working_folder(None)?;
        crate::exec::run(&command, &folder.handle, &self.stop, Duration::ZERO)
    }

    /// Runs a program of this machine that must succeed, and returns what it printed.
    fn succeed(
        &self,
        act: &'static str,
        target: &str,
        words: &[&str],
        within: Duration,
    ) -> HostResult<String> {
        let output = self.call(words, within)?;
        if output.code == Some(0) {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint.trim();
        let end = match output.code {
            Some(code) => format!("{} ended with code {code}", words[0]),
            None => format!("{} was killed", words[0]),
        };
        let why = if complaint.is_empty() {
            end
        } else {
            format!("{end}: {complaint}")
        };
        Err(refused(act, target, std::io::Error::other(why)))
    }
}

/// Says that a root in a folder is not the machine that runs.
fn not_live(act: &'static str, target: &str) -> HostError {
    let why = "the root is a folder, not the machine that runs; work on / instead";
    senseless(act, target, why)
}
