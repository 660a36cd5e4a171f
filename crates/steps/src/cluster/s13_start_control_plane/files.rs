//! Which files of the asset folder go where on the machine.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Effect, MakeDirectory, Part, PutFile};
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;

use super::super::live::by;
use super::NAME;
use crate::assets::{asset, below, machine};

/// A static pod.
pub(super) struct Pod {
    /// Its file.
    file: &'static str,
    /// Whether it stays after the hand-over.
    pub(super) stays: bool,
}

impl Pod {
    /// Returns where the kubelet finds it.
    pub(super) fn path(&self) -> TargetPath {
        below(&machine("etc/kubernetes/manifests"), self.file)
    }
}

/// What runs before there is an API.
pub(super) static FIRST_PODS: [Pod; 2] = [
    Pod {
        file: "etcd-pod.yaml",
        stays: true,
    },
    Pod {
        file: "kube-apiserver-pod.yaml",
        stays: true,
    },
];

/// What needs the API, and would only fail and be restarted without it.
pub(super) static LATER_PODS: [Pod; 3] = [
    Pod {
        file: "kube-controller-manager-pod.yaml",
        stays: true,
    },
    Pod {
        file: "kube-scheduler-pod.yaml",
        stays: true,
    },
    Pod {
        file: "version-operator-pod.yaml",
        stays: false,
    },
];

/// Key pairs that stay on the machine, under kubeadm's names.
const PAIRS: [&str; 13] = [
    "ca",
    "apiserver",
    "apiserver-kubelet-client",
    "front-proxy-ca",
    "front-proxy-client",
    "etcd/ca",
    "etcd/server",
    "etcd/peer",
    "etcd/healthcheck-client",
    "apiserver-etcd-client",
    "kubelet-serving",
    "machine-config-server-ca",
    "machine-config-server",
];

/// Other files: where from, where to, and the mode.
const COPIES: [(&str, &str, u32); 12] = [
    ("tls/sa.key", "etc/kubernetes/pki/sa.key", 0o600),
    ("tls/sa.pub", "etc/kubernetes/pki/sa.pub", 0o644),
    ("auth/admin.conf", "etc/kubernetes/admin.conf", 0o600),
    (
        "auth/controller-manager.conf",
        "etc/kubernetes/controller-manager.conf",
        0o600,
    ),
    (
        "auth/scheduler.conf",
        "etc/kubernetes/scheduler.conf",
        0o600,
    ),
    ("auth/kubelet.conf", "etc/kubernetes/kubelet.conf", 0o600),
    (
        "auth/kubeconfig-loopback",
        "etc/kubernetes/bootstrap-secrets/kubeconfig",
        0o600,
    ),
    (
        "auth-bootstrap/authentication.yaml",
        "etc/kubernetes/configs/authentication.yaml",
        0o600,
    ),
    (
        "config-bootstrap/kubelet-config.yaml",
        "var/lib/kubelet/config.yaml",
        0o600,
    ),
    (
        "config-bootstrap/kubelet.service",
        "etc/systemd/system/kubelet.service",
        0o644,
    ),
    (
        "config-bootstrap/kubelet.env",
        "etc/kubernetes/kubelet.env",
        0o644,
    ),
    (
        "tls/ca.crt",
        "etc/kubernetes/bootstrap-secrets/ca.crt",
        0o644,
    ),
];

/// Returns everything that the kubelet and the pods read.
pub(super) fn configs(settings: &Settings) -> Vec<Effect> {
    let folders = [
        ("etc/kubernetes/pki", 0o755),
        ("etc/kubernetes/bootstrap-secrets", 0o700),
        ("etc/kubernetes/manifests", 0o755),
    ];
    let folders = folders.map(|(path, mode)| {
        Effect::MakeDirectory(MakeDirectory {
            path: machine(path),
            attributes: Attributes::mode(mode),
            origin: by(NAME),
        })
    });
    let mut effects: Vec<Effect> = folders.into();
    for pair in PAIRS {
        for (ending, mode) in [("crt", 0o644), ("key", 0o600)] {
            let from = settings.paths.assets.join(&format!("tls/{pair}.{ending}"));
            let to = machine("etc/kubernetes/pki").join(&format!("{pair}.{ending}"));
            if let (Ok(from), Ok(to)) = (from, to) {
                effects.push(copy(from, to, mode));
            }
        }
    }
    let copies = COPIES.map(|(from, to, mode)| copy(asset(settings, from), machine(to), mode));
    effects.extend(copies);
    effects
}

/// Returns static pods, as the renders left them.
pub(super) fn pods(settings: &Settings, pods: &[Pod]) -> Vec<Effect> {
    let rendered = asset(settings, "bootstrap-manifests");
    let put = |pod: &Pod| copy(below(&rendered, pod.file), pod.path(), 0o600);
    pods.iter().map(put).collect()
}

fn copy(from: TargetPath, path: TargetPath, mode: u32) -> Effect {
    Effect::PutFile(PutFile {
        path,
        body: Body::Compose(vec![Part::FileOf(from)]),
        attributes: Attributes::mode(mode),
        origin: by(NAME),
    })
}
