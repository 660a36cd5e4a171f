//! The manifests that the project ships, in `lab/payload`.

use serde_json::Value;

use super::*;
use crate::placeholders::images;

/// Returns the manifests as the payload's maker leaves them, and values for them.
fn shipped() -> (Vec<File>, Values) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/payload");
    let mut files = crate::folder::read(folder.as_ref()).unwrap();
    for file in &mut files {
        let text = file.text.clone().unwrap();
        let text = text.replace("IMAGE(kube-proxy)", "registry.example/kube-proxy@sha256:1");
        let text = text.replace("IMAGE(coredns)", "registry.example/coredns@sha256:2");
        file.text = Ok(text);
    }
    let pairs = [
        ("podCIDR", "10.244.0.0/16"),
        ("serviceCIDR", "10.96.0.0/12"),
        ("clusterDNS", "10.96.0.10"),
        ("clusterDomain", "cluster.local"),
        ("server", "https://10.0.0.1:6443"),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let references = r#"{"spec": {"tags": [{"name": "bootlace", "from": {"name": "registry.example/bootlace@sha256:3"}}]}}"#;
    let values = Values {
        cluster: pairs.into(),
        images: images(references),
    };
    (files, values)
}

fn objects(payload: &Payload) -> impl Iterator<Item = &Manifest> {
    let turns = payload.levels.iter().flat_map(|level| &level.turns);
    turns.flatten()
}

#[test]
fn nothing_is_broken_and_no_word_is_left() {
    let (files, values) = shipped();
    let payload = payload(&files, &values, &[]);
    for level in &payload.levels {
        assert_eq!(level.broken, []);
    }
    let levels: Vec<u16> = payload.levels.iter().map(|level| level.number).collect();
    assert_eq!(levels, [10, 20]);
    for manifest in objects(&payload) {
        let text = manifest.object.to_string();
        for word in ["IMAGE", "_CIDR", "CLUSTER_", "API_SERVER"] {
            assert!(!text.contains(word), "{manifest} has {word}");
        }
    }
}

#[test]
fn every_file_needs_values_that_somebody_gives() {
    let (files, _) = shipped();
    let payload = payload(&files, &Values::default(), &[]);
    let broken: usize = payload.levels.iter().map(|level| level.broken.len()).sum();
    assert!(broken >= 4, "{broken}");
    assert!(payload.lacks_values);
}

#[test]
fn workloads_are_pinned_modest_and_start_on_nodes_that_are_not_ready() {
    let (files, values) = shipped();
    let payload = payload(&files, &values, &[]);
    let workloads = objects(&payload).filter(|manifest| manifest.id.group == "apps");
    let mut seen = vec![];
    for manifest in workloads {
        seen.push(manifest.id.to_string());
        let spec = &manifest.object["spec"]["template"]["spec"];
        let priority = spec["priorityClassName"].as_str().unwrap();
        assert!(priority.starts_with("system-"), "{manifest}");
        for container in spec["containers"].as_array().unwrap() {
            let image = container["image"].as_str().unwrap();
            assert!(image.contains("@sha256:"), "{manifest}: {image}");
            assert_ne!(container["imagePullPolicy"], "Always", "{manifest}");
            assert!(
                container["resources"]["requests"]["memory"].is_string(),
                "{manifest}"
            );
            let readiness = &container["readinessProbe"];
            assert_eq!(readiness["initialDelaySeconds"], Value::Null, "{manifest}");
        }
        if manifest.id.kind == "DaemonSet" {
            assert_eq!(spec["hostNetwork"], true, "{manifest}");
            assert_eq!(
                spec["tolerations"],
                serde_json::json!([{"operator": "Exists"}]),
                "{manifest}"
            );
        }
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "DaemonSet kube-system/kube-proxy",
            "DaemonSet kube-system/node-network",
            "Deployment kube-system/coredns",
        ]
    );
}
