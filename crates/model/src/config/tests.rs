//! Tests of the whole way from texts to settings.

mod bad;

use std::fmt::Write as _;

use super::*;
use crate::path::TargetPath;

fn paths() -> Paths {
    Paths {
        assets: TargetPath::new("/opt/bootlace").unwrap(),
        state: TargetPath::new("/var/lib/bootlace").unwrap(),
    }
}

/// Puts the two lines in front that every document has.
fn document(rest: &str) -> String {
    format!("apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n{rest}\n")
}

/// Loads texts as `a.yaml`, `b.yaml` and so on, from `/etc/bootlace/a`, `/etc/bootlace/b` …
fn load_texts(texts: &[&str]) -> Result<Settings, Fault> {
    let letters = ["a", "b", "c", "d"];
    let names: Vec<String> = letters.iter().map(|l| format!("{l}.yaml")).collect();
    let bases: Vec<String> = letters
        .iter()
        .map(|l| format!("/etc/bootlace/{l}"))
        .collect();
    let fragments: Vec<FragmentText<'_>> = texts
        .iter()
        .zip(names.iter().zip(&bases))
        .map(|(text, (name, base))| FragmentText { name, base, text })
        .collect();
    load(&fragments, paths())
}

fn spec(yaml: &str) -> Result<Settings, Fault> {
    load_texts(&[&document(&format!("spec: {{{yaml}}}"))])
}

fn render(fault: &Fault) -> String {
    let mut text = String::new();
    let place = fault
        .place
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    writeln!(text, "{place}: {}", fault.message).unwrap();
    for detail in &fault.details {
        writeln!(text, "  also: {detail}").unwrap();
    }
    if let Some(because) = &fault.because {
        writeln!(text, "  because {because}").unwrap();
    }
    for hint in &fault.hints {
        writeln!(text, "  hint: {hint}").unwrap();
    }
    text
}

#[test]
fn the_printed_defaults_load_to_the_defaults() {
    let text = print_defaults();
    assert_eq!(load_texts(&[&text]), Ok(Settings::defaults(paths())));
    insta::assert_snapshot!(text);
}

#[test]
fn the_printed_defaults_name_every_key() {
    fn keys(schema: &serde_json::Value, found: &mut Vec<String>) {
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            found.push(key.clone());
            keys(value, found);
        }
    }
    let mut found = vec![];
    keys(&schema(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    let text = print_defaults();
    for key in found {
        assert!(text.contains(&format!("{key}:")), "{key}");
    }
}

#[test]
fn what_is_commented_out_in_the_defaults_is_right() {
    let words = ["release:", "dir:", "digest:", "addOns:", "nodeName:", "# "];
    let uncomment = |line: &str| match line.trim_start().strip_prefix("# ") {
        Some(rest) if words.iter().any(|word| rest.trim_start().starts_with(word)) => {
            line.replacen("# ", "", 1)
        }
        _ => line.to_owned(),
    };
    let text: Vec<String> = print_defaults().lines().map(uncomment).collect();
    let one_release = text
        .join("\n")
        .replacen("release:\n  #   image", "#\n  # image", 1);
    let settings = load_texts(&[&one_release]).unwrap();
    assert!(matches!(
        settings.cluster.release,
        ReleaseSource::Dir {
            digest: Some(_),
            ..
        }
    ));
    assert_eq!(
        settings.cluster.control_plane.node_name.as_deref(),
        Some("node-1")
    );
    assert!(settings.cluster.add_ons.is_some());
}

#[test]
fn without_texts_the_defaults_hold() {
    assert_eq!(load(&[], paths()), Ok(Settings::defaults(paths())));
    assert_eq!(
        load_texts(&[&document("")]),
        Ok(Settings::defaults(paths()))
    );
    assert_eq!(
        load_texts(&[&document("spec:\nmetadata:")]),
        Ok(Settings::defaults(paths()))
    );
}

const FULL: &str = r#"
metadata: {name: demo}
spec:
  profile: openshift
  kubernetesVersion: v1.37.0-rc.1
  release: {dir: payload, digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
  controlPlane: {endpoint: "[2001:db8::7]:6443", replicas: 3, advertiseAddress: "2001:db8::1", nodeName: n1.demo, ports: {etcdClients: 1, etcdPeers: 2, etcdMetrics: 3, controllerManager: 4, scheduler: 5}}
  network: {podCIDR: "fd00:1::/56", serviceCIDR: "fd00:2::/108", clusterDomain: demo.local}
  manifests: [one, ./two, /srv/three]
  addOns: {dir: extras}
  pki: {authorityValidity: 20y, leafValidity: 36h, backDate: 90m, extraNames: [api.demo.example, "*.demo", 192.0.2.4]}
  node: {cgroupDriver: cgroupfs, kubelet: /usr/local/bin/kubelet, containerRuntimeEndpoint: "unix:///run/crio/crio.sock"}
  rendering: {within: 90s, podmanFlags: [--runtime=runc], runFlags: [--ulimit, "nofile=1:2"], images: {machine-config: {image: "a.b/c@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", arguments: [bootstrap, "--dest-dir=$(output)"]}}}
"#;

#[test]
fn every_key_reaches_the_settings() {
    let settings = load_texts(&[&document(FULL)]).unwrap();
    insta::assert_json_snapshot!(settings);
}

#[test]
fn json_is_read_like_yaml() {
    let json = "{\n\t\"apiVersion\": \"bootlace.dev/v1alpha1\",\n\t\"kind\": \"Cluster\",\n\t\"spec\": {\"manifests\": [\"m\"]}\n}\n";
    let settings = load_texts(&[json]).unwrap();
    assert_eq!(settings.cluster.manifests[0].as_str(), "/etc/bootlace/a/m");
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems_are_read() {
    let text = document("metadata:\n  name: demo").replace('\n', "\r\n");
    let text = format!("\u{feff}{text}");
    assert_eq!(load_texts(&[&text]).unwrap().cluster.name, "demo");
}

#[test]
fn later_texts_win_and_null_brings_the_default_back() {
    let first = document(
        "metadata: {name: one}\nspec: {manifests: [m, n], controlPlane: {replicas: 3, endpoint: \"a:1\"}}",
    );
    let second = document("spec: {manifests: [o], controlPlane: {replicas: null}}");
    let settings = load_texts(&[&first, &second]).unwrap();
    let cluster = settings.cluster;
    assert_eq!(cluster.name, "one");
    assert_eq!(cluster.control_plane.replicas, 1);
    assert_eq!(cluster.control_plane.endpoint.host, "a");
    // Relative folders begin at the file that names them, whichever files there are beside it.
    assert_eq!(cluster.manifests.len(), 1);
    assert_eq!(cluster.manifests[0].as_str(), "/etc/bootlace/b/o");
}

#[test]
fn documents_of_one_file_are_merged_like_files() {
    let both = format!(
        "{}---\n{}",
        document("metadata: {name: one}"),
        document("metadata: {name: two}")
    );
    assert_eq!(load_texts(&[&both]).unwrap().cluster.name, "two");
}

#[test]
fn aliases_are_read_but_bombs_are_refused() {
    let text = document("metadata: &m {name: demo}\nspec: {pki: {extraNames: [&n api.example]}}");
    assert_eq!(load_texts(&[&text]).unwrap().cluster.name, "demo");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{below}]").unwrap();
    }
    let fault = load_texts(&[&document(&bomb)]).unwrap_err();
    assert!(
        fault.message.contains("far more values"),
        "{}",
        render(&fault)
    );
}

#[test]
fn absurd_texts_are_refused_quickly() {
    for text in ["[", "{a: ", "- ", "? ", "&a [", "'"] {
        let fault = load_texts(&[&document(&format!("spec: {}", text.repeat(100_000)))]);
        assert_eq!(fault.unwrap_err().kind.exit_code(), 3, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn every_text_is_loaded_or_refused_with_a_place(
        text in "(([a-cs]pec|name|pki|-|\\?|&a|\\*a|!t|<<)(:|: |\n  |\n| |,|\\[|\\]|\\{|\\}|'|\"|#|\\|)){0,12}",
        head in proptest::bool::ANY,
    ) {
        let text = if head { document(&text) } else { text };
        if let Err(fault) = load_texts(&[&text]) {
            proptest::prop_assert_eq!(fault.kind.exit_code(), 3, "{}", render(&fault));
            proptest::prop_assert!(fault.place.is_some());
        }
    }
}

#[test]
fn the_advertised_address_follows_the_family() {
    let settings =
        spec("network: {podCIDR: \"fd00:1::/56\", serviceCIDR: \"fd00:2::/108\"}").unwrap();
    assert!(settings.cluster.control_plane.advertise_address.is_ipv6());
    let settings = spec("").unwrap();
    assert!(
        settings
            .cluster
            .control_plane
            .advertise_address
            .is_loopback()
    );
}

#[test]
fn an_empty_release_is_the_built_in_one() {
    let pinned = document("spec: {release: {dir: payload}}");
    let unpinned = document("spec: {release: {dir: null}}");
    let settings = load_texts(&[&pinned, &unpinned]).unwrap();
    assert_eq!(settings.cluster.release, ReleaseSource::BuiltIn);
    let settings = spec("release: {image: registry.example/r:v1}").unwrap();
    let image = ReleaseSource::Image("registry.example/r:v1".into());
    assert_eq!(settings.cluster.release, image);
}

#[test]
fn the_schema_describes_every_key_and_allows_no_other() {
    fn check(schema: &serde_json::Value, path: &str) {
        assert!(
            schema["description"].is_string(),
            "{path} has no description"
        );
        if let Some(properties) = schema["properties"].as_object() {
            assert_eq!(schema["additionalProperties"], false, "{path}");
            for (key, value) in properties {
                check(value, &format!("{path}.{key}"));
            }
        } else {
            let limited = schema["enum"].is_array() || schema["anyOf"].is_array();
            assert!(
                limited || schema["examples"].is_array(),
                "{path} has no example"
            );
        }
    }
    let schema = schema();
    check(&schema, "");
    assert_eq!(
        schema["required"],
        serde_json::json!(["apiVersion", "kind"])
    );
}
