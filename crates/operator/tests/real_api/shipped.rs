//! The manifests that the project ships, before a real API server.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Cluster, wait_for};
use crate::operators::{Background, options, prepare};

const VALUES: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-config, namespace: bootlace-system}
data: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/16, clusterDNS: 10.96.0.10, clusterDomain: cluster.local,
  server: "https://127.0.0.1:6443"}
"#;

/// Does what controllers and kubelets would do for a workload that waits.
fn make_ready(cluster: &Cluster, kind: &str, name: &str) {
    let object = cluster.get(&[kind, "--namespace=kube-system", name]);
    if object == Value::Null {
        return;
    }
    let seen = object["metadata"]["generation"].clone();
    let status = if kind == "daemonset" {
        json!({"observedGeneration": seen, "desiredNumberScheduled": 1, "currentNumberScheduled": 1,
            "updatedNumberScheduled": 1, "numberAvailable": 1, "numberReady": 1, "numberMisscheduled": 0})
    } else {
        json!({"observedGeneration": seen, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]})
    };
    let patch = format!("--patch={}", json!({"status": status}));
    let words = [
        "patch",
        kind,
        "--namespace=kube-system",
        name,
        "--subresource=status",
        "--type=merge",
    ];
    let words: Vec<&str> = words.into_iter().chain([patch.as_str()]).collect();
    cluster.kubectl(&words);
}

#[test]
#[ignore = "slow: starts a real etcd and a real API server"]
fn the_shipped_manifests_are_accepted_and_stay_as_they_are() {
    let cluster = Cluster::start();
    let release = prepare(&cluster, "[]");
    cluster.apply(VALUES);
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/payload");
    for entry in std::fs::read_dir(shipped).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("IMAGE(kube-proxy)", "registry.example/kube-proxy");
        let text = text.replace("IMAGE(coredns)", "registry.example/coredns");
        std::fs::write(release.join(path.file_name().unwrap()), text).unwrap();
    }
    let references = r#"{"spec": {"tags": [{"name": "bootlace", "from": {"name": "registry.example/bootlace"}}]}}"#;
    std::fs::write(release.join("image-references"), references).unwrap();

    let operator = Background::start(options(&cluster));
    wait_for(Duration::from_secs(30), "all of it is installed", || {
        make_ready(&cluster, "daemonset", "kube-proxy");
        make_ready(&cluster, "daemonset", "node-network");
        make_ready(&cluster, "deployment", "coredns");
        operator.has_said("complete: all ").then_some(())
    });
    assert_eq!(
        cluster.get(&["service", "--namespace=kube-system", "kube-dns"])["spec"]["clusterIP"],
        "10.96.0.10"
    );
    // Two looks later nothing has drifted: what is applied is what the API keeps.
    std::thread::sleep(Duration::from_secs(6));
    assert!(!operator.has_said("put right"));
    operator.stop().unwrap();
}
