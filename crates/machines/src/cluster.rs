//! What a machine needs to become a cluster: bootlace, a release, and a config.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::{Bind, MachineName, MachineSpec, Result, SeedFile};

/// The API server's port.
pub const API_PORT: u16 = 6443;
/// Where the machine sees bootlace.
pub const BOOTLACE: &str = "/usr/local/bin/bootlace";
/// Where the machine sees the folder of the release.
const RELEASE: &str = "/opt/bootlace-release";

/// Machines share the disk of the computer, of which a tenth need not be free. Without this the
/// kubelet would evict pods, and remove images that cannot be pulled again.
const KUBELET: &str = "\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
evictionHard:
  memory.available: 100Mi
  nodefs.available: 500Mi
  imagefs.available: 500Mi
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
";

/// A machine that shall become a cluster of its own.
#[derive(Debug, Clone)]
pub struct ClusterMachine<'a> {
    /// Its name, which is also the node's.
    pub name: &'a str,
    /// Its address, which is also the API's.
    pub address: Ipv4Addr,
    /// What its root is read from; kubelet and containerd are in it.
    pub layers: &'a [PathBuf],
    /// What its disk for containers begins with, if its images are not to be imported again.
    pub images: Option<&'a Path>,
    /// The folder of the release; the archive of its images lies beside it.
    pub release: &'a Path,
    /// The program.
    pub bootlace: &'a Path,
    /// The add-ons, by file name.
    pub add_ons: &'a [(&'a str, String)],
}

impl ClusterMachine<'_> {
    /// Returns what the machine shall be.
    pub fn spec(&self) -> Result<MachineSpec> {
        let bind = |from: &Path, to: &str| Bind {
            from: from.to_owned(),
            to: PathBuf::from(to),
            read_only: true,
        };
        let beside = self.release.parent().unwrap_or(Path::new("/"));
        let seed = |path: String, content: &str| SeedFile {
            path: PathBuf::from(path),
            mode: 0o644,
            content: content.as_bytes().to_vec(),
        };
        let config = seed("/etc/bootlace/cluster.yaml".into(), &self.config());
        let kubelet = seed(
            "/etc/kubernetes/kubelet.conf.d/50-machine.conf".into(),
            KUBELET,
        );
        let add_ons = self.add_ons.iter();
        let add_ons =
            add_ons.map(|(name, text)| seed(format!("/etc/bootlace/add-ons/{name}"), text));
        Ok(MachineSpec {
            name: MachineName::new(self.name)?,
            address: self.address,
            layers: self.layers.to_vec(),
            images: self.images.map(Path::to_owned),
            binds: vec![bind(self.bootlace, BOOTLACE), bind(beside, RELEASE)],
            files: [config, kubelet].into_iter().chain(add_ons).collect(),
        })
    }

    /// Returns the config that the machine finds.
    pub fn config(&self) -> String {
        let release = self.release.file_name().unwrap_or_default();
        let release = Path::new(RELEASE).join(release);
        let (release, name, address) = (release.display(), self.name, self.address);
        let add_ons = if self.add_ons.is_empty() {
            ""
        } else {
            "  addOns: {dir: /etc/bootlace/add-ons}\n"
        };
        format!(
            "apiVersion: bootlace.dev/v1alpha1\n\
             kind: Cluster\n\
             metadata: {{name: {name}}}\n\
             spec:\n\
             \x20 release: {{dir: {release}}}\n\
             \x20 controlPlane:\n\
             \x20   endpoint: \"{address}:{API_PORT}\"\n\
             \x20   advertiseAddress: {address}\n\
             \x20   nodeName: {name}\n\
             \x20 node:\n\
             \x20   cgroupDriver: cgroupfs\n\
             \x20   kubelet: /usr/local/bin/kubelet\n\
             {add_ons}"
        )
    }
}
