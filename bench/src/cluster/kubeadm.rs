//! What kubeadm is told, as it is shipped and with the settings that ours has.

use std::net::Ipv4Addr;

use super::machine::Contestant;

/// The components whose static pods are patched.
const COMPONENTS: [&str; 4] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
];

/// Where the program that a contestant is lies in its machine.
pub(super) const SCRIPT: &str = "/etc/bench/kubeadm.sh";

/// A file of the machine: its path and its content.
type File = (String, String);

/// Returns the files of a contestant; none for one that is not kubeadm.
pub(super) fn files(who: Contestant, name: &str, address: Ipv4Addr, version: &str) -> Vec<File> {
    let filled = |text: &str| {
        text.replace("ADDRESS", &address.to_string())
            .replace("NAME", name)
            .replace("VERSION", version)
    };
    let file = |path: &str, text: &str| (path.to_owned(), filled(text));
    let config = "/etc/bench/kubeadm.yaml";
    match who {
        Contestant::Bootlace | Contestant::Compatible => vec![],
        Contestant::Kubeadm => vec![
            file(config, include_str!("../../kubeadm/as-shipped.yaml")),
            file(SCRIPT, include_str!("../../kubeadm/as-shipped.sh")),
        ],
        Contestant::KubeadmTuned => {
            let pod = include_str!("../../kubeadm/control-plane.yaml");
            let patches = COMPONENTS.map(|component| {
                let path = format!("/etc/bench/patches/{component}.yaml");
                (path, pod.replace("COMPONENT", component))
            });
            let dns = include_str!("../../kubeadm/corednsdeployment.yaml");
            let mut files = vec![
                file(config, include_str!("../../kubeadm/tuned.yaml")),
                file(SCRIPT, include_str!("../../kubeadm/tuned.sh")),
                file("/etc/bench/patches/corednsdeployment.yaml", dns),
            ];
            files.extend(patches);
            files
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tuned one is worth something only while it follows what ours sets.
    #[test]
    fn the_tuned_kubeadm_is_set_as_ours_is() {
        let files = files(
            Contestant::KubeadmTuned,
            "m1",
            Ipv4Addr::new(10, 0, 0, 1),
            "v1",
        );
        let all: String = files.into_iter().map(|(_, text)| text).collect();
        let ours = |source: &str, text: &str| assert!(source.contains(text), "ours: {text}");
        let manager = include_str!("../../../crates/steps/src/render/kube_controller_manager.rs");
        for (flag, value) in [("kube-api-qps", "100"), ("kube-api-burst", "200")] {
            ours(manager, &format!("(\"{flag}\", \"{value}\".into())"));
            let theirs = format!("name: {flag}, value: \"{value}\"");
            assert!(all.contains(&theirs), "{theirs}");
        }
        let proxy = include_str!("../../../lab/payload/0000_20_kube-proxy_config.yaml");
        ours(proxy, "minSyncPeriod: 100ms");
        assert!(all.contains("minSyncPeriod: 100ms"));
        let dns = include_str!("../../../lab/payload/0000_20_coredns_deployment.yaml");
        ours(dns, "replicas: 1\n");
        ours(
            dns,
            "path: /ready, port: 8181}\n          periodSeconds: 1\n",
        );
        assert!(
            all.contains("replicas: 1\n") && all.contains("readinessProbe: {periodSeconds: 1}")
        );
        assert!(all.contains("encryptionAlgorithm: ECDSA-P256"));
        assert!(!all.contains("ADDRESS") && !all.contains("COMPONENT"));
    }
}
