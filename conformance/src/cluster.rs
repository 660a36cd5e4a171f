//! A cluster of `bootlace up` with the images that specs need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use bootlace_lab::Lab;
use bootlace_machines::Machines;

use crate::{ConformanceError, Result};

/// How long an import may take.
const IMPORTS_WITHIN: Duration = Duration::from_mins(5);

/// The archive inside of a machine's disk for containers.
const ARCHIVE: &str = "conformance-images.tar";

/// A cluster that is removed when it is dropped.
#[derive(Debug)]
pub struct Cluster {
    bootlace: PathBuf,
    state: PathBuf,
    kept: bool,
}

impl Cluster {
    /// Brings a cluster up with a release binary, in a state folder of its own.
    ///
    /// What a killed run left in that folder is removed first.
    pub fn up(bootlace: &Path, state: &Path) -> Result<Self> {
        fs::create_dir_all(state).map_err(ConformanceError::file("make", state))?;
        let record = state.join("lab.json");
        let text = serde_json::to_vec(&Lab::load()?)
            .map_err(|error| ConformanceError::content(&record, &error))?;
        fs::write(&record, text).map_err(ConformanceError::file("write", &record))?;
        let cluster = Self {
            bootlace: bootlace.to_owned(),
            state: state.to_owned(),
            kept: false,
        };
        if cluster.folder().exists() {
            cluster.call("down", &record)?;
        }
        cluster.call("up", &record)?;
        Ok(cluster)
    }

    /// Returns the kubeconfig of its administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder().join("kubeconfig")
    }

    /// Imports an archive of images into every machine.
    pub fn import(&self, archive: &Path) -> Result<()> {
        for machine in Machines::open(&self.folder())?.list()? {
            let seen_outside = machine.disk().join(ARCHIVE);
            fs::copy(archive, &seen_outside)
                .map_err(ConformanceError::file("write", &seen_outside))?;
            let seen_inside = format!("/var/lib/containerd/{ARCHIVE}");
            let words = [
                "ctr",
                "--namespace=k8s.io",
                "images",
                "import",
                &seen_inside,
            ];
            let done = machine.run(&words, IMPORTS_WITHIN)?;
            fs::remove_file(&seen_outside)
                .map_err(ConformanceError::file("remove", &seen_outside))?;
            if done.code != 0 {
                return Err(ConformanceError::program("importing images", &done.stderr));
            }
        }
        Ok(())
    }

    /// Leaves the cluster up.
    pub fn keep(mut self) {
        self.kept = true;
    }

    fn folder(&self) -> PathBuf {
        self.state.join("up")
    }

    fn call(&self, verb: &str, lab: &Path) -> Result<()> {
        let mut command = Command::new(&self.bootlace);
        command
            .args([verb, "--progress=plain", "--state"])
            .arg(&self.state)
            .env("BOOTLACE_LAB", lab)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let what = format!("`bootlace {verb}`");
        let status = command
            .status()
            .map_err(|error| ConformanceError::program(&what, &error))?;
        if status.success() {
            return Ok(());
        }
        Err(ConformanceError::program(&what, &status))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = self.call("down", &self.state.join("lab.json"))
        {
            eprintln!("conformance: {error}");
            let state = self.state.display();
            eprintln!("  hint: `bootlace down --state {state}` tries it again");
        }
    }
}
