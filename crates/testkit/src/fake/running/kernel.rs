//! What units and pods leave behind: folders, and things that the kernel holds.

use bootlace_engine::port::HostResult;
use bootlace_model::effect::Product;

use super::super::state::State;
use super::super::world::World;
use super::RUNTIME;
use super::units::refused;

impl State {
    /// Makes what a unit makes when it is started.
    pub(super) fn leave(&mut self, unit: &str) -> HostResult<()> {
        let leaves = self.running.leaves.get(unit).cloned().unwrap_or_default();
        for product in leaves {
            match &product {
                Product::Path(path) | Product::Copy { path, .. } => {
                    self.keep(&format!("{path}/state"), b"made by a unit\n")?;
                }
                other if self.running.kernel.contains(other) => {}
                other => self.running.kernel.push(other.clone()),
            }
        }
        if unit == RUNTIME {
            self.begin_images()?;
        }
        Ok(())
    }

    /// Tells whether a product that is no path is there.
    pub(crate) fn has_product(&self, product: &Product) -> bool {
        match product {
            Product::Path(_) | Product::Copy { .. } => false,
            Product::Pods => self.works_since(RUNTIME).is_some() && self.count_pods() > 0,
            Product::Image(image) => self.images().is_some_and(|images| images.contains(image)),
            Product::Container { id_file, .. } => {
                matches!(self.disk.walk(id_file.as_str()), Ok(Some(_)))
            }
            other => self.running.kernel.iter().any(|it| belongs(it, other)),
        }
    }

    /// Removes a product that is no path, or a part of it.
    pub(crate) fn remove_product(&mut self, product: &Product, in_part: bool) -> HostResult<()> {
        match product {
            Product::Path(path) | Product::Copy { path, .. } => {
                Err(refused("remove", path.as_str(), "it is a path"))
            }
            Product::Pods if self.count_pods() == 0 => Ok(()),
            Product::Pods => {
                self.must_have_runtime("remove", "pods")?;
                let all = self.count_pods();
                let most = if in_part { self.parts.index(all) } else { all };
                self.end_pods(most);
                Ok(())
            }
            Product::Image(image) if !in_part => self.unload_image(image),
            // Its id is what is known of a container; the file stays, as podman may leave it.
            Product::Container { .. } => Ok(()),
            _ if in_part => Ok(()),
            other => self.remove_from_kernel(other),
        }
    }

    fn remove_from_kernel(&mut self, product: &Product) -> HostResult<()> {
        let busy = |why: &str| Err(refused("remove", &product.what(), why));
        let made = |unit: &String| {
            let leaves = self.running.leaves.get(unit);
            leaves.is_some_and(|leaves| leaves.contains(product))
        };
        if let Some(unit) = self.running.units.keys().find(|unit| made(unit)) {
            return busy(&format!("{unit} uses it"));
        }
        let of_pods = match product {
            Product::Mounts(_) => true,
            Product::Cgroup(name) => name.starts_with("kubepods"),
            _ => false,
        };
        if of_pods && self.count_pods() > 0 {
            return busy("pods use it");
        }
        self.running.kernel.retain(|it| !belongs(it, product));
        Ok(())
    }

    /// Writes a file so that it is there whole and for good, without counting.
    pub(crate) fn keep(&mut self, path: &str, content: &[u8]) -> HostResult<()> {
        let folder = path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned();
        let mut world = World::beside(self);
        world.write_durably(path, content)?;
        world.sync_below(&folder)
    }
}

/// Tells whether something that is there belongs to a product.
fn belongs(there: &Product, product: &Product) -> bool {
    match (there, product) {
        (Product::Mounts(there), Product::Mounts(above)) => there.below(above).is_some(),
        (Product::Cgroup(there), Product::Cgroup(above)) => there
            .strip_prefix(above.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        (there, product) => there == product,
    }
}
