//! The CIS Kubernetes Benchmark: its automated checks, and those of its manual ones that a program can
//! decide.

use super::machine::Program::{ApiServer, ControllerManager, Etcd, Scheduler};
use super::rule::Rule::{
    Among, AtLeast, Is, Lists, ListsNot, Not, NotZero, Set, Unset, UnsetOr, UnsetOrAtLeast,
};
use super::subject::Files::{Certificates, Keys, One, Pki};
use super::subject::Subject::{
    self, CertifiedName, Encryption, Flag, Flags, Kubelet, Mode, OpenPaths, OwnedByAccount,
    OwnedByRoot, Proxy, PullPolicies,
};
use crate::render::CIPHERS;

/// The version of the benchmark whose numbers these are.
pub(super) const VERSION: &str = "1.12";

/// A check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Its number in the benchmark.
    pub(super) number: &'static str,
    /// What it asks for.
    pub(super) title: &'static str,
    /// Whether the benchmark itself calls it automated.
    pub(super) automated: bool,
    /// What it looks at.
    pub(super) subject: Subject,
    /// Why a cluster of ours need not fulfil it.
    pub(super) exception: Option<Exception>,
}

/// A reason to accept that a check fails, with what must hold in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exception {
    /// The reason, for people.
    pub(super) reason: &'static str,
    /// The facts that the reason claims. If one of them is not true, the check fails.
    pub(super) claims: &'static [Subject],
}

const fn row(number: &'static str, title: &'static str, subject: Subject) -> Row {
    Row {
        number,
        title,
        automated: true,
        subject,
        exception: None,
    }
}

const fn manual(number: &'static str, title: &'static str, subject: Subject) -> Row {
    Row {
        automated: false,
        ..row(number, title, subject)
    }
}

const fn but(exception: Exception, row: Row) -> Row {
    Row {
        exception: Some(exception),
        ..row
    }
}

const API_POD: &str = ApiServer.manifest();
const MANAGER_POD: &str = ControllerManager.manifest();
const SCHEDULER_POD: &str = Scheduler.manifest();
const ETCD_POD: &str = Etcd.manifest();
const ETCD_DATA: &str = "var/lib/etcd";
const ADMIN: &str = "etc/kubernetes/admin.conf";
const SCHEDULER_CONF: &str = "etc/kubernetes/scheduler.conf";
const MANAGER_CONF: &str = "etc/kubernetes/controller-manager.conf";
const KUBELET_CONF: &str = "etc/kubernetes/kubelet.conf";
const KUBELET_CONFIG: &str = "var/lib/kubelet/config.yaml";
const KUBELET_UNIT: &str = "etc/systemd/system/kubelet.service";
const CNI_CONFIG: &str = "etc/cni/net.d/10-bootlace.conflist";
const AUTHORITY: &str = "etc/kubernetes/pki/ca.crt";

const AS_ROOT: Exception = Exception {
    reason: "etcd runs as root in a static pod, as kubeadm's does; the directory has mode 0700",
    claims: &[Mode(One(ETCD_DATA), 0o700), OwnedByRoot(One(ETCD_DATA))],
};
const ANONYMOUS: Exception = Exception {
    reason: "only /livez, /readyz, /healthz and cluster-info are open, by --authentication-config",
    claims: &[Flag(ApiServer, "anonymous-auth", Unset), OpenPaths],
};
const NO_REGISTRY: Exception = Exception {
    reason: "images are brought along with the release; with the plug-in, no pod would start without a registry",
    claims: &[PullPolicies],
};
const OWN_NAME: Exception = Exception {
    reason: "the certificates speak for exactly this name, even if the machine is renamed",
    claims: &[CertifiedName],
};

/// Every check, in the order of the benchmark.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row("1.1.1", "The API server's manifest has mode 0600", Mode(One(API_POD), 0o600)),
    row("1.1.2", "The API server's manifest belongs to root", OwnedByRoot(One(API_POD))),
    row("1.1.3", "The controller manager's manifest has mode 0600", Mode(One(MANAGER_POD), 0o600)),
    row("1.1.4", "The controller manager's manifest belongs to root", OwnedByRoot(One(MANAGER_POD))),
    row("1.1.5", "The scheduler's manifest has mode 0600", Mode(One(SCHEDULER_POD), 0o600)),
    row("1.1.6", "The scheduler's manifest belongs to root", OwnedByRoot(One(SCHEDULER_POD))),
    row("1.1.7", "etcd's manifest has mode 0600", Mode(One(ETCD_POD), 0o600)),
    row("1.1.8", "etcd's manifest belongs to root", OwnedByRoot(One(ETCD_POD))),
    manual("1.1.9", "The CNI config has mode 0600", Mode(One(CNI_CONFIG), 0o600)),
    manual("1.1.10", "The CNI config belongs to root", OwnedByRoot(One(CNI_CONFIG))),
    row("1.1.11", "etcd's data has mode 0700", Mode(One(ETCD_DATA), 0o700)),
    but(AS_ROOT, row("1.1.12", "etcd's data belongs to an account of etcd", OwnedByAccount(ETCD_DATA, Etcd))),
    row("1.1.13", "The administrator's kubeconfig has mode 0600", Mode(One(ADMIN), 0o600)),
    row("1.1.14", "The administrator's kubeconfig belongs to root", OwnedByRoot(One(ADMIN))),
    row("1.1.15", "The scheduler's kubeconfig has mode 0600", Mode(One(SCHEDULER_CONF), 0o600)),
    row("1.1.16", "The scheduler's kubeconfig belongs to root", OwnedByRoot(One(SCHEDULER_CONF))),
    row("1.1.17", "The controller manager's kubeconfig has mode 0600", Mode(One(MANAGER_CONF), 0o600)),
    row("1.1.18", "The controller manager's kubeconfig belongs to root", OwnedByRoot(One(MANAGER_CONF))),
    row("1.1.19", "Keys and certificates belong to root", OwnedByRoot(Pki)),
    manual("1.1.20", "Certificates have mode 0644", Mode(Certificates, 0o644)),
    manual("1.1.21", "Private keys have mode 0600", Mode(Keys, 0o600)),

    but(ANONYMOUS, manual("1.2.1", "The API server answers no anonymous request", Flag(ApiServer, "anonymous-auth", Is("false")))),
    row("1.2.2", "The API server takes no static tokens", Flag(ApiServer, "token-auth-file", Unset)),
    manual("1.2.3", "Services cannot take over external addresses", Flag(ApiServer, "enable-admission-plugins", Lists("DenyServiceExternalIPs"))),
    row("1.2.4", "The API server shows kubelets a client certificate", Flags(ApiServer, ["kubelet-client-certificate", "kubelet-client-key"])),
    row("1.2.5", "The API server checks the certificates of kubelets", Flag(ApiServer, "kubelet-certificate-authority", Set)),
    row("1.2.6", "Requests are not all allowed", Flag(ApiServer, "authorization-mode", ListsNot("AlwaysAllow"))),
    row("1.2.7", "Nodes are authorized as nodes", Flag(ApiServer, "authorization-mode", Lists("Node"))),
    row("1.2.8", "Requests are authorized by RBAC", Flag(ApiServer, "authorization-mode", Lists("RBAC"))),
    manual("1.2.9", "Events are limited", Flag(ApiServer, "enable-admission-plugins", Lists("EventRateLimit"))),
    row("1.2.10", "Objects are not all admitted", Flag(ApiServer, "enable-admission-plugins", ListsNot("AlwaysAdmit"))),
    but(NO_REGISTRY, manual("1.2.11", "Images are pulled for every pod", Flag(ApiServer, "enable-admission-plugins", Lists("AlwaysPullImages")))),
    row("1.2.12", "Pods get service accounts", Flag(ApiServer, "disable-admission-plugins", ListsNot("ServiceAccount"))),
    row("1.2.13", "Nothing is created in a namespace that is being deleted", Flag(ApiServer, "disable-admission-plugins", ListsNot("NamespaceLifecycle"))),
    row("1.2.14", "A node changes only what is its own", Flag(ApiServer, "enable-admission-plugins", Lists("NodeRestriction"))),
    row("1.2.15", "The API server serves no profiles", Flag(ApiServer, "profiling", Is("false"))),
    row("1.2.16", "There is an audit log", Flag(ApiServer, "audit-log-path", Set)),
    row("1.2.17", "Audit logs are kept for 30 days", Flag(ApiServer, "audit-log-maxage", AtLeast(30))),
    row("1.2.18", "10 audit logs are kept", Flag(ApiServer, "audit-log-maxbackup", AtLeast(10))),
    row("1.2.19", "An audit log holds 100 MB", Flag(ApiServer, "audit-log-maxsize", AtLeast(100))),
    manual("1.2.20", "Requests time out", Flag(ApiServer, "request-timeout", NotZero)),
    row("1.2.21", "Tokens of deleted service accounts are refused", Flag(ApiServer, "service-account-lookup", UnsetOr("true"))),
    row("1.2.22", "Service account tokens are checked with a key of their own", Flag(ApiServer, "service-account-key-file", Set)),
    row("1.2.23", "The API server shows etcd a client certificate", Flags(ApiServer, ["etcd-certfile", "etcd-keyfile"])),
    row("1.2.24", "The API server serves TLS", Flags(ApiServer, ["tls-cert-file", "tls-private-key-file"])),
    row("1.2.25", "The API server checks client certificates", Flag(ApiServer, "client-ca-file", Set)),
    row("1.2.26", "The API server checks etcd's certificate", Flag(ApiServer, "etcd-cafile", Set)),
    manual("1.2.27", "Secrets are encrypted in etcd", Flag(ApiServer, "encryption-provider-config", Set)),
    manual("1.2.28", "Secrets are encrypted with aescbc, kms or secretbox", Encryption),
    manual("1.2.29", "The API server uses strong ciphers alone", Flag(ApiServer, "tls-cipher-suites", Among(&CIPHERS))),
    row("1.2.30", "Service account tokens are not extended", Flag(ApiServer, "service-account-extend-token-expiration", Is("false"))),

    manual("1.3.1", "Ended pods are collected", Flag(ControllerManager, "terminated-pod-gc-threshold", UnsetOrAtLeast(1))),
    row("1.3.2", "The controller manager serves no profiles", Flag(ControllerManager, "profiling", Is("false"))),
    row("1.3.3", "Each controller has credentials of its own", Flag(ControllerManager, "use-service-account-credentials", Is("true"))),
    row("1.3.4", "Service account tokens are signed with a key of their own", Flag(ControllerManager, "service-account-private-key-file", Set)),
    row("1.3.5", "Pods are told the cluster's authority", Flag(ControllerManager, "root-ca-file", Set)),
    row("1.3.6", "Kubelets can renew their serving certificates", Flag(ControllerManager, "feature-gates", ListsNot("RotateKubeletServerCertificate=false"))),
    row("1.3.7", "The controller manager listens on this machine alone", Flag(ControllerManager, "bind-address", Is("127.0.0.1"))),
    row("1.4.1", "The scheduler serves no profiles", Flag(Scheduler, "profiling", Is("false"))),
    row("1.4.2", "The scheduler listens on this machine alone", Flag(Scheduler, "bind-address", Is("127.0.0.1"))),

    row("2.1", "etcd serves TLS", Flags(Etcd, ["cert-file", "key-file"])),
    row("2.2", "etcd checks client certificates", Flag(Etcd, "client-cert-auth", Is("true"))),
    row("2.3", "etcd makes no certificates up for clients", Flag(Etcd, "auto-tls", UnsetOr("false"))),
    row("2.4", "etcd's members use TLS", Flags(Etcd, ["peer-cert-file", "peer-key-file"])),
    row("2.5", "etcd checks the certificates of members", Flag(Etcd, "peer-client-cert-auth", Is("true"))),
    row("2.6", "etcd makes no certificates up for members", Flag(Etcd, "peer-auto-tls", UnsetOr("false"))),
    manual("2.7", "etcd has an authority of its own", Flag(Etcd, "trusted-ca-file", Not("/etc/kubernetes/pki/ca.crt"))),
    manual("3.2.1", "There is an audit policy", Flag(ApiServer, "audit-policy-file", Set)),

    row("4.1.1", "The kubelet's unit has mode 0600", Mode(One(KUBELET_UNIT), 0o600)),
    row("4.1.2", "The kubelet's unit belongs to root", OwnedByRoot(One(KUBELET_UNIT))),
    row("4.1.5", "The kubelet's kubeconfig has mode 0600", Mode(One(KUBELET_CONF), 0o600)),
    row("4.1.6", "The kubelet's kubeconfig belongs to root", OwnedByRoot(One(KUBELET_CONF))),
    manual("4.1.7", "The kubelet's authority has mode 0644", Mode(One(AUTHORITY), 0o644)),
    manual("4.1.8", "The kubelet's authority belongs to root", OwnedByRoot(One(AUTHORITY))),
    row("4.1.9", "The kubelet's config has mode 0600", Mode(One(KUBELET_CONFIG), 0o600)),
    row("4.1.10", "The kubelet's config belongs to root", OwnedByRoot(One(KUBELET_CONFIG))),

    row("4.2.1", "The kubelet answers no anonymous request", Kubelet("/authentication/anonymous/enabled", "anonymous-auth", Is("false"))),
    row("4.2.2", "The kubelet asks the API server who may do what", Kubelet("/authorization/mode", "authorization-mode", Is("Webhook"))),
    row("4.2.3", "The kubelet checks client certificates", Kubelet("/authentication/x509/clientCAFile", "client-ca-file", Set)),
    manual("4.2.4", "The kubelet has no read-only port", Kubelet("/readOnlyPort", "read-only-port", UnsetOr("0"))),
    manual("4.2.5", "Idle streams of the kubelet end", Kubelet("/streamingConnectionIdleTimeout", "streaming-connection-idle-timeout", NotZero)),
    row("4.2.6", "The kubelet keeps its packet-filter chains", Kubelet("/makeIPTablesUtilChains", "make-iptables-util-chains", UnsetOr("true"))),
    but(OWN_NAME, manual("4.2.7", "The kubelet uses the machine's own name", Kubelet("/hostnameOverride", "hostname-override", Unset))),
    manual("4.2.8", "The kubelet reports events", Kubelet("/eventRecordQPS", "event-qps", UnsetOrAtLeast(1))),
    manual("4.2.9", "The kubelet serves a certificate of the cluster", Kubelet("/tlsCertFile", "tls-cert-file", Set)),
    row("4.2.10", "The kubelet renews its client certificate", Kubelet("/rotateCertificates", "rotate-certificates", Is("true"))),
    manual("4.2.11", "The kubelet may renew its serving certificate", Kubelet("/featureGates/RotateKubeletServerCertificate", "feature-gates", UnsetOr("true"))),
    manual("4.2.12", "The kubelet uses strong ciphers alone", Kubelet("/tlsCipherSuites", "tls-cipher-suites", Among(&CIPHERS))),
    manual("4.2.13", "Pods have a limit of processes", Kubelet("/podPidsLimit", "pod-max-pids", AtLeast(1))),
    manual("4.2.14", "Pods run with a seccomp profile", Kubelet("/seccompDefault", "seccomp-default", Is("true"))),
    row("4.3.1", "kube-proxy serves its metrics on this machine alone", Proxy("/metricsBindAddress", UnsetOr("127.0.0.1:10249"))),
];
