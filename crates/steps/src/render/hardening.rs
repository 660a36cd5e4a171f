//! What the security profile `cis` adds to the components.

use serde_json::{Value, json};

use super::content::RenderedFile;
use super::input::RenderInput;
use super::places::{ADMISSION, AUDIT_LOG, AUDIT_POLICY, ENCRYPTION, pki};

/// Cipher suites of TLS 1.2 with forward secrecy and authenticated encryption, by Go's names. TLS 1.3
/// has no weaker ones.
pub(crate) const CIPHERS: [&str; 6] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/// A flag without its dashes, and its value.
type Flag = (&'static str, String);

fn is_hardened(input: &RenderInput<'_>) -> bool {
    input.settings.cluster.security.is_hardened()
}

/// Returns flags that the API server, the controller manager and the scheduler have in common.
pub(super) fn of_component(input: &RenderInput<'_>) -> Vec<Flag> {
    if !is_hardened(input) {
        return vec![];
    }
    vec![
        // Profiles show what is in memory, and taking one keeps a component busy.
        ("profiling", "false".into()),
        ("tls-min-version", "VersionTLS12".into()),
        ("tls-cipher-suites", CIPHERS.join(",")),
    ]
}

/// Returns the API server's own flags.
pub(super) fn of_apiserver(input: &RenderInput<'_>) -> Vec<Flag> {
    if !is_hardened(input) {
        return vec![("enable-admission-plugins", "NodeRestriction".into())];
    }
    let plugins = "NodeRestriction,EventRateLimit,DenyServiceExternalIPs";
    let mut flags = vec![
        ("enable-admission-plugins", plugins.into()),
        ("admission-control-config-file", ADMISSION.into()),
        ("audit-policy-file", AUDIT_POLICY.into()),
        ("audit-log-path", format!("{AUDIT_LOG}/audit.log")),
        ("audit-log-maxage", "30".into()),
        ("audit-log-maxbackup", "10".into()),
        ("audit-log-maxsize", "100".into()),
        ("encryption-provider-config", ENCRYPTION.into()),
        // A new key takes effect within a minute, without a restart.
        ("encryption-provider-config-automatic-reload", "true".into()),
        ("service-account-lookup", "true".into()),
        // Tokens of pods end when they say so, not a year later.
        ("service-account-extend-token-expiration", "false".into()),
    ];
    if input.settings.placement.is_kubelet() {
        // Without it anything that answers at a node's port 10250 would be taken for its kubelet.
        flags.push(("kubelet-certificate-authority", pki("ca.crt")));
    }
    flags
}

/// Returns etcd's flags.
pub(super) fn of_etcd(input: &RenderInput<'_>) -> Vec<Flag> {
    if !is_hardened(input) {
        return vec![];
    }
    vec![
        ("tls-min-version", "TLS1.2".into()),
        ("cipher-suites", CIPHERS.join(",")),
    ]
}

/// Adds what every kubelet of a hardened cluster is given.
pub(super) fn of_kubelet(config: &mut Value) {
    config["tlsMinVersion"] = "VersionTLS12".into();
    config["tlsCipherSuites"] = CIPHERS.as_slice().into();
    config["podPidsLimit"] = 4096.into();
    config["seccompDefault"] = true.into();
    // An attach or exec over which nothing has passed for so long is forgotten, not used.
    config["streamingConnectionIdleTimeout"] = "30m".into();
    config["makeIPTablesUtilChains"] = true.into();
    config["enableProfilingHandler"] = false.into();
}

/// What a kubelet with `protectKernelDefaults` insists to find; without it, it sets them itself.
pub(super) const SYSCTLS: &str = "\
# What the kubelet expects of the kernel; it refuses to start if something else is set.
vm.overcommit_memory = 1
vm.panic_on_oom = 0
kernel.panic = 10
kernel.panic_on_oops = 1
kernel.keys.root_maxkeys = 1000000
kernel.keys.root_maxbytes = 25000000
";

/// Renders the API server's files.
pub(super) fn files(input: &RenderInput<'_>) -> Vec<RenderedFile> {
    if !is_hardened(input) {
        return vec![];
    }
    vec![
        RenderedFile::object("audit-policy.yaml", audit_policy()),
        RenderedFile::object("admission.yaml", admission()),
    ]
}

/// Returns what is written to the audit log. Contents never are: they would be a second place where
/// secrets lie.
fn audit_policy() -> Value {
    let none = |mut rule: Value| {
        rule["level"] = "None".into();
        rule
    };
    let system = |resources: &[&str]| json!([{"group": "", "resources": resources}]);
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            none(json!({"nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"]})),
            // Who reads a Secret is noted, the components of the cluster included.
            {"level": "Metadata", "resources": system(&["secrets", "serviceaccounts/token"])},
            // What nodes and components say every few seconds.
            none(json!({"resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]})),
            none(json!({"resources": [
                {"group": "", "resources": ["events"]},
                {"group": "events.k8s.io", "resources": ["events"]},
            ]})),
            none(json!({
                "userGroups": ["system:nodes"],
                "verbs": ["get", "list", "watch"],
                "resources": system(&["nodes", "nodes/status", "pods"]),
            })),
            none(json!({
                "users": ["system:kube-controller-manager", "system:kube-scheduler", "system:apiserver"],
                "verbs": ["get", "list", "watch"],
            })),
            none(json!({
                "userGroups": ["system:serviceaccounts:kube-system"],
                "verbs": ["get", "list", "watch"],
                "resources": system(&["endpoints", "services", "nodes", "pods", "namespaces"]),
            })),
            // Everything else that is read, and everything that changes something.
            {"level": "Metadata"},
        ],
    })
}

/// Returns the configuration of admission plug-ins: how many events the API server takes a second, so that
/// one client cannot fill etcd with them.
fn admission() -> Value {
    let limits = json!({
        "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "limits": [
            {"type": "Server", "qps": 1000, "burst": 5000},
            {"type": "Namespace", "qps": 200, "burst": 1000, "cacheSize": 2000},
        ],
    });
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "EventRateLimit", "configuration": limits}],
    })
}
