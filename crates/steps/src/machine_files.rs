//! Which files of the asset folder go where on a control-plane machine of profile `kubernetes`.
//!
//! The static pods mount these places and no others. Everything but what only the bootstrap needs
//! stays there after the hand-over.

/// A file that is copied from the asset folder to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineFile {
    /// Where it comes from, below the asset folder.
    pub asset: &'static str,
    /// Where it goes, below the root.
    pub machine: &'static str,
    /// Its mode there.
    pub mode: u32,
    /// Whether it goes again with the hand-over.
    pub bootstrap_only: bool,
    /// Whether only the security profile `cis` has it.
    pub hardening: bool,
}

/// Folders that must be there before the first pod starts, with their modes.
pub const MACHINE_FOLDERS: &[(&str, u32)] = &[
    ("etc/kubernetes/pki", 0o700),
    ("etc/kubernetes/pki/etcd", 0o700),
    ("etc/kubernetes/configs", 0o700),
    ("etc/kubernetes/kubelet.conf.d", 0o755),
    ("etc/kubernetes/manifests", 0o700),
    ("etc/kubernetes/bootstrap-secrets", 0o700),
    ("var/lib/etcd", 0o700),
    ("var/log/kubernetes/audit", 0o700),
];

/// Folders that are copied with all that is in them: from the asset folder, to the machine.
pub const MACHINE_TREES: &[(&str, &str)] = &[(
    "cvo-bootstrap/release-manifests",
    "etc/kubernetes/release-manifests",
)];

const fn kept(asset: &'static str, machine: &'static str, mode: u32) -> MachineFile {
    MachineFile {
        asset,
        machine,
        mode,
        bootstrap_only: false,
        hardening: false,
    }
}

const fn gone(asset: &'static str, machine: &'static str) -> MachineFile {
    MachineFile {
        asset,
        machine,
        mode: 0o600,
        bootstrap_only: true,
        hardening: false,
    }
}

const fn hardening(asset: &'static str, machine: &'static str) -> MachineFile {
    MachineFile {
        hardening: true,
        ..kept(asset, machine, 0o600)
    }
}

/// Makes the rows of certificates and their keys.
macro_rules! pairs {
    ($($stem:literal)*) => {
        [$(
            [
                kept(concat!("tls/", $stem, ".crt"), concat!("etc/kubernetes/pki/", $stem, ".crt"), 0o644),
                kept(concat!("tls/", $stem, ".key"), concat!("etc/kubernetes/pki/", $stem, ".key"), 0o600),
            ],
        )*]
    };
}

/// Certificates, each with its key.
static PAIRS: &[[MachineFile; 2]] = &pairs!(
    "ca" "apiserver" "apiserver-kubelet-client" "apiserver-etcd-client"
    "front-proxy-ca" "front-proxy-client" "kubelet-serving"
    "etcd/ca" "etcd/server" "etcd/peer"
    "machine-config-server-ca" "machine-config-server"
);

/// Everything else, the static pods last.
static SINGLE: &[MachineFile] = &[
    kept("tls/sa.key", "etc/kubernetes/pki/sa.key", 0o600),
    kept("tls/sa.pub", "etc/kubernetes/pki/sa.pub", 0o644),
    kept("auth/admin.conf", "etc/kubernetes/admin.conf", 0o600),
    kept(
        "auth/controller-manager.conf",
        "etc/kubernetes/controller-manager.conf",
        0o600,
    ),
    kept(
        "auth/scheduler.conf",
        "etc/kubernetes/scheduler.conf",
        0o600,
    ),
    kept("auth/kubelet.conf", "etc/kubernetes/kubelet.conf", 0o600),
    gone(
        "auth/kubeconfig-loopback",
        "etc/kubernetes/bootstrap-secrets/kubeconfig",
    ),
    kept(
        "auth-bootstrap/authentication-config.yaml",
        "etc/kubernetes/configs/authentication.yaml",
        0o600,
    ),
    hardening(
        "auth-bootstrap/audit-policy.yaml",
        "etc/kubernetes/configs/audit-policy.yaml",
    ),
    hardening(
        "auth-bootstrap/admission.yaml",
        "etc/kubernetes/configs/admission.yaml",
    ),
    hardening(
        "auth/encryption.yaml",
        "etc/kubernetes/configs/encryption.yaml",
    ),
    hardening(
        "config-bootstrap/kubelet-sysctl.conf",
        "etc/sysctl.d/90-bootlace-kubelet.conf",
    ),
    kept(
        "config-bootstrap/kubelet-config.yaml",
        "var/lib/kubelet/config.yaml",
        0o600,
    ),
    kept(
        "config-bootstrap/kubelet.env",
        "etc/kubernetes/kubelet.env",
        0o644,
    ),
    kept(
        "config-bootstrap/kubelet.service",
        "etc/systemd/system/kubelet.service",
        0o600,
    ),
    kept(
        "bootstrap-manifests/etcd-pod.yaml",
        "etc/kubernetes/manifests/etcd-pod.yaml",
        0o600,
    ),
    kept(
        "bootstrap-manifests/kube-apiserver-pod.yaml",
        "etc/kubernetes/manifests/kube-apiserver-pod.yaml",
        0o600,
    ),
    kept(
        "bootstrap-manifests/kube-controller-manager-pod.yaml",
        "etc/kubernetes/manifests/kube-controller-manager-pod.yaml",
        0o600,
    ),
    kept(
        "bootstrap-manifests/kube-scheduler-pod.yaml",
        "etc/kubernetes/manifests/kube-scheduler-pod.yaml",
        0o600,
    ),
    gone(
        "bootstrap-manifests/version-operator-pod.yaml",
        "etc/kubernetes/manifests/version-operator-pod.yaml",
    ),
];

/// Lists every file, keys before what uses them, static pods last.
pub fn machine_files() -> impl Iterator<Item = &'static MachineFile> {
    PAIRS.iter().flatten().chain(SINGLE)
}
