//! The roles of machines, and what each is told.

use bootlace_model::config::CgroupDriver;
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::super::input::RenderInput;
use super::super::{hardening, kubelet};
use super::ignition;
use crate::yaml;

/// Versions of containerd that fit the kubelet, the best first.
const CONTAINERD: [&str; 4] = ["2.1", "2.0", "1.7", "1.6"];

/// What the kernel is set to before the kubelet starts.
const SYSCTLS: &str = "/etc/sysctl.d/90-bootlace-kubelet.conf";

/// A role of machines.
#[derive(Debug)]
pub(super) struct Role {
    /// Its name, and the name of its pool.
    pub(super) name: &'static str,
    /// The label of its nodes.
    pub(super) node_label: &'static str,
    /// Folders that only machines of this role need, with their modes.
    folders: &'static [(&'static str, u32)],
}

/// All roles.
pub(super) const ROLES: &[Role] = &[
    Role {
        name: "master",
        node_label: "node-role.kubernetes.io/control-plane",
        folders: &[
            ("/etc/kubernetes/manifests", 0o700),
            ("/var/lib/etcd", 0o700),
        ],
    },
    Role {
        name: "worker",
        node_label: "node-role.kubernetes.io/worker",
        folders: &[("/etc/kubernetes/manifests", 0o700)],
    },
];

impl Role {
    /// Returns the name of the config that every other one comes after.
    pub(super) fn base_name(&self) -> String {
        format!("00-{}", self.name)
    }

    /// Returns what every machine of the role is told.
    pub(super) fn spec(&self, input: &RenderInput<'_>) -> Result<Value, Fault> {
        let settings = input.settings;
        let kubelet = yaml::document(&kubelet::of_pool(settings));
        let is_hardened = settings.cluster.security.is_hardened();
        let kubelet_mode = if is_hardened { 0o600 } else { 0o644 };
        let mut files = vec![
            ignition::file(
                "/etc/kubernetes/installer/kubelet.env",
                0o644,
                &installed(input),
            ),
            ignition::file(
                "/etc/kubernetes/installer/runtime-mappings.yaml",
                0o644,
                &runtime_mappings(input),
            ),
            ignition::file("/var/lib/kubelet/config.yaml", kubelet_mode, &kubelet),
        ];
        if is_hardened {
            let file = ignition::file(SYSCTLS, 0o600, hardening::SYSCTLS);
            files.push(file);
        }
        let runtime = &settings.cluster.node.container_runtime_endpoint;
        if runtime.contains("containerd") {
            let config = containerd(input)?;
            files.push(ignition::file(
                "/etc/containerd/config.toml",
                0o644,
                &config,
            ));
        }
        let folders = self.folders.iter();
        let folders: Vec<Value> = folders
            .map(|(path, mode)| ignition::folder(path, *mode))
            .collect();
        let unit = ignition::unit("kubelet.service", &kubelet::unit_of_joining(settings));
        Ok(json!({
            "config": {
                "ignition": {"version": ignition::VERSION},
                "storage": {"directories": folders, "files": files},
                "systemd": {"units": [unit]},
            },
            "kernelArguments": [],
            "extensions": [],
        }))
    }
}

/// Returns which version of the kubelet the cluster began with, for machines that cannot ask the API.
///
/// A tag of an image cannot hold a `+`.
fn installed(input: &RenderInput<'_>) -> String {
    let version = input.settings.cluster.kubernetes_version.replace('+', "_");
    format!("KUBELET_IMAGE_TAG=\"{version}\"\n")
}

/// Returns which runtimes fit the kubelet, in the order of preference.
fn runtime_mappings(input: &RenderInput<'_>) -> String {
    let version = input
        .settings
        .cluster
        .kubernetes_version
        .trim_start_matches('v');
    let minor: Vec<&str> = version.split('.').take(2).collect();
    let mut mappings = json!({"kind": "VersionManifestV1", "versions": {"k8s": {}}});
    mappings["versions"]["k8s"][minor.join(".")] = json!({"containerd": CONTAINERD});
    yaml::document(&mappings)
}

/// Returns the runtime's configuration. Strings of TOML are quoted as those of JSON.
fn containerd(input: &RenderInput<'_>) -> Result<String, Fault> {
    let pause = Value::from(input.image("pause")?);
    let systemd = input.settings.cluster.node.cgroup_driver == CgroupDriver::Systemd;
    Ok(format!(
        "\
version = 2

[plugins.\"io.containerd.grpc.v1.cri\"]
  sandbox_image = {pause}

[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]
  runtime_type = \"io.containerd.runc.v2\"

[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]
  SystemdCgroup = {systemd}
"
    ))
}
