//! Where things lie on a control-plane machine; kubeadm's names where it has one.

/// Certificates and keys.
pub(super) const PKI: &str = "/etc/kubernetes/pki";
/// The certificates and keys of etcd.
pub(super) const ETCD_PKI: &str = "/etc/kubernetes/pki/etcd";
/// Configuration files of the control plane.
pub(super) const CONFIGS: &str = "/etc/kubernetes/configs";
/// How the API server finds out who asks.
pub(super) const AUTHENTICATION: &str = "/etc/kubernetes/configs/authentication.yaml";
/// What the API server writes to its audit log.
pub(super) const AUDIT_POLICY: &str = "/etc/kubernetes/configs/audit-policy.yaml";
/// The configuration of admission plug-ins.
pub(super) const ADMISSION: &str = "/etc/kubernetes/configs/admission.yaml";
/// The key by which Secrets are encrypted in etcd.
pub(crate) const ENCRYPTION: &str = "/etc/kubernetes/configs/encryption.yaml";
/// The folder of the audit log.
pub(super) const AUDIT_LOG: &str = "/var/log/kubernetes/audit";
/// The controller manager's kubeconfig.
pub(super) const CONTROLLER_MANAGER_CONF: &str = "/etc/kubernetes/controller-manager.conf";
/// The scheduler's kubeconfig.
pub(super) const SCHEDULER_CONF: &str = "/etc/kubernetes/scheduler.conf";
/// What only the bootstrap needs.
pub(super) const BOOTSTRAP_SECRETS: &str = "/etc/kubernetes/bootstrap-secrets";
/// The manifests of the release.
pub(super) const RELEASE_MANIFESTS: &str = "/etc/kubernetes/release-manifests";
/// The data of etcd.
pub(super) const ETCD_DATA: &str = "/var/lib/etcd";

/// Returns the path of a key or certificate.
pub(super) fn pki(name: &str) -> String {
    format!("{PKI}/{name}")
}
