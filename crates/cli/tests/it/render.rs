//! The renderers, as stages and as commands.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::program::{Place, code};

const WAY: &str = "run cluster --to render-machine-config";

/// What each component is called, what it reads, and the folder of its stage.
const COMPONENTS: [(&str, &str, &str); 10] = [
    ("api", "tls", "kube-apiserver-bootstrap"),
    ("auth", "tls", "auth-bootstrap"),
    ("config", "tls", "config-bootstrap"),
    ("version-operator", "manifests", "cvo-bootstrap"),
    ("etcd", "tls", "etcd-bootstrap"),
    ("kube-apiserver", "tls", "kube-apiserver"),
    ("kube-controller-manager", "tls", "kube-controller-manager"),
    ("kube-scheduler", "tls", "kube-scheduler"),
    ("ingress", "manifests", "ingress"),
    ("machine-config", "manifests", "mco-bootstrap"),
];

/// Calls `render` with folders of its own.
fn render(place: &Place, component: &str, input: &str, output: &str) -> Command {
    place.bare(&format!(
        "render {component} --asset-input-dir {input} --asset-output-dir {output}"
    ))
}

/// Lists every file below a folder with its mode and content.
fn files(place: &Place, folder: &str) -> Vec<(String, String)> {
    let lines = place.tree(folder);
    let files = lines.iter().filter_map(|line| {
        let (mode, name) = line.split_once(' ')?;
        let path = place.path(name);
        let inside = name.strip_prefix(folder)?.to_owned();
        path.is_file()
            .then(|| (format!("{mode} {inside}"), place.read(name)))
    });
    files.collect()
}

#[test]
fn all_stages_render_on_an_empty_root_without_config_network_or_runtime() {
    let place = Place::new();
    let output = place.command(WAY).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    for (_, _, folder) in COMPONENTS {
        let found = files(&place, &format!("opt/bootlace/{folder}"));
        assert!(!found.is_empty(), "nothing in {folder}");
    }
    assert_eq!(code(&mut place.command("verify cluster")), Some(0));
    assert_eq!(code(&mut place.command("undo cluster")), Some(0));
    assert_eq!(place.tree("opt"), [""; 0]);
}

#[test]
fn the_tree_that_all_stages_leave() {
    let place = Place::with_config();
    assert_eq!(code(&mut place.command(WAY)), Some(0));
    let tree = place.tree("opt/bootlace");
    let rendered = |line: &&String| !line.contains("/tls") && !line.contains("/auth/");
    let tree: Vec<&String> = tree.iter().filter(rendered).collect();
    let text = tree
        .iter()
        .fold(String::new(), |text, line| text + line + "\n");
    assert_snapshot!(text);
}

#[test]
fn a_command_writes_the_same_bytes_as_its_stage() {
    let place = Place::with_config();
    place.write(
        "inputs/mine.yaml",
        "apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-mine, labels: {machineconfiguration.openshift.io/role: worker}}
spec: {kernelArguments: [quiet]}
---
apiVersion: bootlace.dev/v1alpha1
kind: ClusterVersion
metadata: {name: version}
spec: {overrides: [{kind: Service, name: dns, namespace: kube-system, unmanaged: true}]}
",
    );
    let inputs = place.path("inputs");
    place.write(
        "etc/bootlace/more.yaml",
        &format!(
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {{manifests: [{}]}}\n",
            inputs.display()
        ),
    );
    assert_eq!(code(&mut place.command(WAY)), Some(0));
    for (component, input, folder) in COMPONENTS {
        let input = format!("opt/bootlace/{input}");
        let output = format!("out/{component}");
        let mut command = render(&place, component, &input, &output);
        let said = command.args(["--root", "."]).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{}", place.said(&said));
        let (staged, rendered) = (
            files(&place, &format!("opt/bootlace/{folder}")),
            files(&place, &output),
        );
        assert_eq!(staged, rendered, "{component}");
        // A second time replaces what is there.
        assert_eq!(code(command.args(["--quiet"])), Some(0), "{component}");
    }
}

#[test]
fn operators_other_names_and_another_image_are_understood() {
    let place = Place::with_config();
    assert_eq!(
        code(&mut place.command("run cluster --to release-info")),
        Some(0)
    );
    let mut command = render(&place, "kcm", "opt/bootlace/tls", "out");
    command.args(["--manifest-image", "registry.example/kcm:v1"]);
    assert_eq!(code(&mut command), Some(0));
    let pod = place.read("out/bootstrap-manifests/kube-controller-manager-pod.yaml");
    assert!(pod.contains("image: registry.example/kcm:v1\n"), "{pod}");
}

#[test]
fn what_cannot_be_rendered_is_refused_before_anything_is_written() {
    let place = Place::with_config();
    place.write("tls/ca.crt", "");
    let call = |words: &str| place.call_bare(words);
    let mut said = String::new();
    for words in [
        "render nonsense --asset-input-dir tls --asset-output-dir out",
        "render etcd --asset-input-dir tls",
        "render etcd --asset-output-dir out",
        "render etcd --asset-input-dir tls --asset-output-dir out --etcd-image x",
        "render auth --asset-input-dir tls --asset-output-dir out --manifest-image x",
        "render etcd --asset-input-dir absent --asset-output-dir out",
        "render etcd --asset-input-dir tls --asset-output-dir out",
    ] {
        let heard = call(words);
        said = format!("{said}$ bootlace {words}\n{heard}\n");
    }
    assert_snapshot!(said);
    assert!(!Path::new(&place.path("out")).exists());
}
