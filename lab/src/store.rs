//! The image store: what containerd of a machine has on its disk once the images were imported.
//!
//! An import takes many seconds, and every new machine would need it. So it is done once, on a machine
//! that is made for it, and later machines begin with a disk that shares its files.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bootlace_machines::{Bind, Machine, MachineName, MachineSpec, Machines};

use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::files;
use crate::images::ReleaseImage;
use crate::key::Key;
use crate::oci;
use crate::progress::Progress;

/// Changes when the store is made in another way.
const RECIPE: u32 = 1;

/// Where the machine sees the archive.
const ARCHIVE: &str = "/opt/lab/images.tar";

/// How long a machine may take to boot and to end.
const BOOTS_WITHIN: Duration = Duration::from_mins(1);

/// How long an import may take.
const IMPORTS_WITHIN: Duration = Duration::from_mins(5);

/// Makes image stores in the cache.
#[derive(Debug)]
pub(crate) struct Stores<'a> {
    /// The cache.
    pub(crate) cache: &'a Cache,
    /// Keeps others out.
    pub(crate) lock: &'a Lock,
    /// Tells what goes on.
    pub(crate) progress: &'a Progress,
    /// What the machine's root is read from.
    pub(crate) layers: &'a [PathBuf],
    /// The key of the machine's root, whose containerd writes the store.
    pub(crate) base: &'a str,
}

impl Stores<'_> {
    /// Makes the store of images; it begins with another store, if one is given.
    pub(crate) fn make(
        &self,
        name: &str,
        images: &[&ReleaseImage],
        begins_with: Option<&Path>,
    ) -> Result<PathBuf, LabError> {
        let mut key = Key::new(name, RECIPE).text("base", self.base);
        if let Some(store) = begins_with {
            key = key.text("begins with", &store.to_string_lossy());
        }
        for image in images {
            key = key.text(&image.tagged(), &image.reference());
        }
        let product = self.cache.product(name, &key.finish());
        product.make(self.lock, |folder| {
            let task = self
                .progress
                .task("imports images into a machine's containerd");
            let archive = folder.join("images.tar");
            let both = |image: &&ReleaseImage| image.named(vec![image.tagged(), image.reference()]);
            let named: Vec<_> = images.iter().map(both).collect();
            oci::archive(&archive, &named)?;
            let lab = self.machines()?;
            let made = self.import(&lab, &archive, begins_with, |line| task.detail(line));
            let disk = made.and_then(|machine| {
                let to = folder.join("containerd");
                fs::rename(machine.disk(), &to).map_err(LabError::file("keep", &to))
            });
            lab.clean()?;
            fs::remove_file(&archive).map_err(LabError::file("remove", &archive))?;
            disk
        })?;
        Ok(product.path().join("containerd"))
    }

    /// Returns a folder for machines in which nothing is left from an import that was cut short.
    fn machines(&self) -> Result<Machines, LabError> {
        let folder = self.cache.root().join("machine");
        Machines::open(&folder)?.clean()?;
        Ok(Machines::open(&folder)?)
    }

    /// Imports an archive on a machine, and shuts the machine down.
    fn import(
        &self,
        lab: &Machines,
        archive: &Path,
        begins_with: Option<&Path>,
        tell: impl Fn(&str),
    ) -> Result<Machine, LabError> {
        let machine = lab.create(MachineSpec {
            name: MachineName::new("import")?,
            address: Ipv4Addr::new(10, 90, 0, 2),
            layers: self.layers.to_vec(),
            images: begins_with.map(Path::to_owned),
            binds: vec![Bind {
                from: archive.to_owned(),
                to: ARCHIVE.into(),
                read_only: true,
            }],
            files: Vec::new(),
        })?;
        tell("boots a machine");
        machine.boot()?;
        machine.wait_booted(BOOTS_WITHIN)?;
        tell("imports");
        let words = ["ctr", "--namespace=k8s.io", "images", "import", ARCHIVE];
        let done = machine.run(&words, IMPORTS_WITHIN)?;
        if done.code != 0 {
            return Err(LabError::Program {
                what: "importing images".into(),
                command: words.join(" "),
                how: format!("ended with {}", done.code),
                output: done.stderr,
            });
        }
        tell("shuts the machine down");
        machine.power_off(BOOTS_WITHIN)?;
        files::remove_folder(&machine.disk().join("tmpmounts"))?;
        Ok(machine)
    }
}
