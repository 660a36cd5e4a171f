//! What an image renders is what the stage would have rendered.

use std::fs;
use std::path::Path;

use crate::world::World;

const FIRST: &str = "cluster --to render-machine-config";
/// The components that the image renders: from keys, from manifests, with records, with a token.
const COMPONENTS: [(&str, &str); 4] = [
    ("auth", "auth-bootstrap"),
    ("etcd", "etcd-bootstrap"),
    ("ingress", "ingress"),
    ("machine-config", "mco-bootstrap"),
];

/// Lists files with their modes and contents; those that differ from root to root are left out.
fn tree(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            found.push((name, mode, fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
#[ignore = "slow: builds, pushes and pulls an image"]
fn an_image_renders_what_we_render_and_undo_leaves_nothing_of_it() {
    let world = World::new();
    world.configure("60s", "");
    world.must(&format!("run {FIRST}"), "ours");
    let entries = COMPONENTS.map(|(component, _)| world.entry(component));
    world.configure("60s", &entries.join(", "));
    // Keys are made at random, and some of what is rendered holds certificates.
    let keys = world.path("theirs/opt/bootlace");
    fs::create_dir_all(&keys).unwrap();
    copy(&world.path("ours/opt/bootlace/tls"), &keys.join("tls"));
    fs::create_dir_all(world.path("theirs/var/lib")).unwrap();
    let before = tree(&world.path("theirs"));

    let plan = world.must("plan cluster --only render-etcd -v", "theirs");
    assert!(
        plan.contains(&format!(" {} render etcd ", world.image)),
        "{plan}"
    );
    assert!(plan.contains("--volume=./tls/etcd/ca.crt:/assets/tls/etcd/ca.crt:ro,z"));
    assert!(!plan.contains("ca.key"), "{plan}");
    assert_eq!(tree(&world.path("theirs")), before);
    assert_eq!(world.podman(&["images", "--quiet"]), "");

    world.must(&format!("run {FIRST}"), "theirs");
    for (_, output) in COMPONENTS {
        let of = |root: &str| tree(&world.path(root).join("opt/bootlace").join(output));
        assert_eq!(of("theirs"), of("ours"), "{output}");
    }
    for folder in ["manifests", "bootstrap-manifests"] {
        let of = |root: &str| tree(&world.path(root).join("opt/bootlace").join(folder));
        assert_eq!(of("theirs"), of("ours"), "{folder}");
    }
    world.must("verify cluster", "theirs");
    assert_eq!(world.containers(), "");
    assert_ne!(world.podman(&["images", "--quiet"]), "");

    world.must("undo cluster", "theirs");
    let outside = |mut files: Vec<(String, u32, Vec<u8>)>| {
        files.retain(|(name, _, _)| !name.starts_with("var/lib/bootlace/"));
        files
    };
    assert_eq!(outside(tree(&world.path("theirs"))), before);
    assert_eq!(world.podman(&["images", "--quiet"]), "");
}

#[test]
#[ignore = "slow: builds, pushes and pulls an image"]
fn an_operator_with_flags_of_its_own_gets_exactly_those() {
    let world = World::new();
    let configure = |flags: &str| {
        let operator = "/usr/bin/cluster-kube-scheduler-operator";
        let image = &world.image;
        world.configure(
            "60s",
            &format!(
                "kube-scheduler: {{image: \"{image}\", arguments: [{operator}, render, {flags}]}}"
            ),
        );
    };
    let common = "--manifest-image=$(image), --asset-input-dir=$(input), \
                  --asset-output-dir=$(output)";
    let first = "cluster --to render-kube-scheduler";

    configure(common);
    let (code, said) = world.call(&format!("run {first}"), "root");
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("Error: a flag is missing: config"), "{said}");

    configure(&format!(
        "{common}, --config-output-file=$(output)/config, --new=1"
    ));
    let (code, said) = world.call(&format!("run {first} --replan"), "root");
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("Error: unknown flag: --new=1"), "{said}");

    configure(&format!("{common}, --config-output-file=$(output)/config"));
    world.must(&format!("run {first} --replan"), "root");
    let output = world.path("root/opt/bootlace/kube-scheduler");
    let config = fs::read_to_string(output.join("config")).unwrap();
    assert_eq!(config, "kind: KubeSchedulerConfiguration\n");
    assert!(
        output
            .join("bootstrap-manifests/kube-scheduler-pod.yaml")
            .is_file()
    );
}

#[test]
#[ignore = "slow: builds, pushes and pulls an image"]
fn an_image_that_could_be_another_one_tomorrow_is_refused() {
    let world = World::new();
    let (name, _) = world.image.split_once('@').unwrap();
    world.configure("60s", &format!("ingress: {{image: \"{name}:latest\"}}"));
    let (code, said) = world.call("run cluster --to render-ingress", "root");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("is not named by its digest"), "{said}");
    assert!(!world.path("root/opt").exists());
    let insist = "run cluster --to render-ingress --insecure-unpinned-release";
    world.must(insist, "root");
    assert!(
        world
            .must("status cluster", "root")
            .contains("unpinned-release")
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, from.metadata().unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}
