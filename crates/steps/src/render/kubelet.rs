//! The kubelet's configuration, its flags and its unit.

use bootlace_model::config::Settings;
use serde_json::{Value, json};

use super::hardening;
use super::places::pki;

/// The static pods.
const STATIC_PODS: &str = "/etc/kubernetes/manifests";

/// Returns where pods ask for names: an address that the service of the DNS is given.
pub(super) fn cluster_dns(settings: &Settings) -> Vec<String> {
    let tenth = settings.cluster.network.service_cidr.nth(10);
    tenth.iter().map(ToString::to_string).collect()
}

/// Returns the configuration that all kubelets have in common.
pub(super) fn common(settings: &Settings) -> Value {
    let (network, node) = (&settings.cluster.network, &settings.cluster.node);
    let mut config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true},
            "x509": {"clientCAFile": pki("ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": node.cgroup_driver.as_str(),
        "clusterDNS": cluster_dns(settings),
        "clusterDomain": network.cluster_domain,
        "containerRuntimeEndpoint": node.container_runtime_endpoint,
        // Whether a machine's cgroups and swap will do is looked at beforehand, where it can be
        // said; a kubelet that refuses to start says it in a log.
        "failCgroupV1": false,
        "failSwapOn": false,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": 10248,
        "rotateCertificates": true,
        "staticPodPath": STATIC_PODS,
    });
    if settings.cluster.security.is_hardened() {
        hardening::of_kubelet(&mut config);
        // It asks the cluster for its certificate, and the version operator approves that.
        config["serverTLSBootstrap"] = true.into();
    }
    config
}

/// Returns the configuration of this machine's kubelet: its certificate is made beforehand.
pub(super) fn of_this_machine(settings: &Settings) -> Value {
    let mut config = common(settings);
    if let Some(config) = config.as_object_mut() {
        config.remove("serverTLSBootstrap");
    }
    config["tlsCertFile"] = pki("kubelet-serving.crt").into();
    config["tlsPrivateKeyFile"] = pki("kubelet-serving.key").into();
    insist_on_kernel(&mut config, settings);
    config
}

/// Returns the configuration of the kubelet of a pool's machine, which is given the kernel's settings,
/// too. One that joins by `kubeadm join` is not.
pub(super) fn of_pool(settings: &Settings) -> Value {
    let mut config = common(settings);
    insist_on_kernel(&mut config, settings);
    config
}

/// Lets a kubelet refuse to start unless the kernel is set as it expects.
fn insist_on_kernel(config: &mut Value, settings: &Settings) {
    if settings.cluster.security.is_hardened() {
        config["protectKernelDefaults"] = true.into();
    }
}

/// Returns the flags of this machine's kubelet, as its unit reads them.
pub(super) fn environment(settings: &Settings, node: &str) -> String {
    let address = settings.cluster.control_plane.advertise_address;
    let mut flags = vec![
        "--config=/var/lib/kubelet/config.yaml".to_owned(),
        // What an administrator adds for this one machine.
        "--config-dir=/etc/kubernetes/kubelet.conf.d".to_owned(),
        "--kubeconfig=/etc/kubernetes/kubelet.conf".to_owned(),
        format!("--hostname-override={node}"),
    ];
    // A kubelet refuses a loopback address; without one it looks for the default route.
    if !address.is_loopback() {
        flags.push(format!("--node-ip={address}"));
    }
    format!("KUBELET_ARGS=\"{}\"\n", flags.join(" "))
}

/// Returns the unit of this machine's kubelet.
pub(super) fn unit(settings: &Settings) -> String {
    unit_with(settings, before(settings), "")
}

/// Returns what happens before a kubelet starts.
fn before(settings: &Settings) -> &'static str {
    if settings.cluster.security.is_hardened() {
        // At a boot systemd has done so already, but not on a machine that runs.
        "ExecStartPre=/usr/lib/systemd/systemd-sysctl /etc/sysctl.d/90-bootlace-kubelet.conf\n"
    } else {
        ""
    }
}

/// Returns the unit of a kubelet that joins: it asks for its certificate itself. It starts once
/// somebody has decided which version to run and written that down in kubelet.env.
pub(super) fn unit_of_joining(settings: &Settings) -> String {
    unit_with(
        settings,
        before(settings),
        " --config=/var/lib/kubelet/config.yaml \\
  --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \\
  --kubeconfig=/etc/kubernetes/kubelet.conf",
    )
}

fn unit_with(settings: &Settings, before: &str, flags: &str) -> String {
    let program = &settings.cluster.node.kubelet;
    format!(
        "\
[Unit]
Description=The kubelet, which runs the pods of this machine
Wants=network-online.target
After=network-online.target containerd.service crio.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile=/etc/kubernetes/kubelet.env
{before}ExecStart={program}{flags} $KUBELET_ARGS
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
"
    )
}
