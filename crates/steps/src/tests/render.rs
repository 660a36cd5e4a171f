//! What the built-in renderers write, and what holds for all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::Engine as _;
use bootlace_model::config::{CgroupDriver, SecurityProfile, Settings};
use bootlace_model::effect::{Body, Effect};
use bootlace_model::fact::Facts;
use bootlace_model::probe::Answer;
use serde_json::Value;

use super::{effects, settings, tree};
use crate::machine_files::{MACHINE_FOLDERS, MACHINE_TREES, machine_files};
use crate::release;
use crate::render::{Component, Content, ReleaseFacts, RenderInput, RenderedFile};

/// Settings in which nothing that a renderer reads has its default.
fn rich() -> Settings {
    let mut settings = settings();
    let cluster = &mut settings.cluster;
    cluster.name = "demo".into();
    cluster.kubernetes_version = "v1.37.0".into();
    cluster.control_plane.endpoint.host = "api.demo.example".into();
    cluster.control_plane.endpoint.port = 7443;
    cluster.control_plane.replicas = 3;
    cluster.control_plane.advertise_address = "fd00:9::11".parse().unwrap();
    cluster.network.pod_cidr = "fd00:1::/56".parse().unwrap();
    cluster.network.service_cidr = "fd00:2::/108".parse().unwrap();
    cluster.network.cluster_domain = "demo.local".into();
    cluster.pki.extra_names = vec!["api.internal.example".into()];
    cluster.node.cgroup_driver = CgroupDriver::Cgroupfs;
    cluster.node.kubelet = "/usr/local/bin/kubelet".into();
    cluster.node.container_runtime_endpoint = "unix:///run/crio/crio.sock".into();
    settings
}

/// A release of three files, of which the user replaces one object.
const PAYLOAD: &[(&str, &str)] = &[
    (
        "release-manifests/0000_30_dns_config.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: dns, namespace: kube-system}}",
    ),
    (
        "release-manifests/0000_10_proxy.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: proxy}}\n---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: proxy, namespace: proxy}}",
    ),
    (
        "release-manifests/late.json",
        r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "late", "namespace": "kube-system"}}"#,
    ),
    (
        "release-manifests/image-references",
        r#"{"kind": "ImageStream"}"#,
    ),
    ("release-manifests/release-metadata", r#"{"version": "1"}"#),
    ("signatures/key.asc", "not for the operator"),
];

/// Manifests that renderers read.
const MANIFESTS: &[(&str, &str)] = &[
    ("dns.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: dns, namespace: kube-system}}"),
    ("version.yaml", "\
apiVersion: bootlace.dev/v1alpha1
kind: ClusterVersion
metadata: {name: version, annotations: {why: because}}
spec: {overrides: [{group: apps, kind: DaemonSet, namespace: proxy, name: proxy, unmanaged: true}]}
"),
    ("workers.yaml", "\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-motd, labels: {machineconfiguration.openshift.io/role: worker}}
spec:
  config:
    ignition: {version: 3.2.0}
    storage: {files: [{path: /etc/motd, contents: {source: 'data:,hello'}}, {path: /etc/containerd/config.toml, contents: {source: 'data:,mine'}}]}
  kernelArguments: [quiet]
"),
    ("class.yaml", "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: bootlace}}"),
];

/// What `copy-manifests` would list of them.
const COPIED: &str = r#"{"files": {}, "objects": [
    {"file": "dns.yaml", "group": "", "kind": "ConfigMap", "namespace": "kube-system", "name": "dns"},
    {"file": "version.yaml", "group": "bootlace.dev", "kind": "ClusterVersion", "name": "version"},
    {"file": "workers.yaml", "group": "machineconfiguration.openshift.io", "kind": "MachineConfig", "name": "50-motd"},
    {"file": "class.yaml", "group": "networking.k8s.io", "kind": "IngressClass", "name": "bootlace"}
]}"#;

/// What the renderers are given without a release and with a name.
fn plain_input(settings: &Settings) -> RenderInput<'_> {
    let built_in = release::built_in(&settings.cluster.kubernetes_version);
    RenderInput {
        node: "node-1".into(),
        release: ReleaseFacts {
            version: built_in.version,
            digest: None,
            images: built_in.images,
        },
        ..RenderInput::new(settings)
    }
}

/// What the renderers are given when everything is there that they can look at.
fn rich_input(settings: &Settings) -> RenderInput<'_> {
    let digest = bootlace_model::ids::Digest::of(b"");
    let mut input = plain_input(settings);
    input.node = "master-1.demo".into();
    input.token = Some(b"abcdef.0123456789abcdef\n".to_vec());
    input.release.digest = Some(digest);
    input.payload = Some(tree(PAYLOAD));
    input.manifests = vec![tree(MANIFESTS)];
    input.copied = Some(COPIED.into());
    for image in input.release.images.values_mut() {
        *image = format!("registry.example/{}@{digest}", image.len());
    }
    input
}

fn text(file: &RenderedFile, settings: &Settings) -> String {
    let read = |path: &bootlace_model::path::TargetPath| Ok(path.name().as_bytes().to_vec());
    String::from_utf8(file.bytes_of(settings, &read).unwrap()).unwrap()
}

fn rendered(component: &Component, input: &RenderInput<'_>) -> String {
    let mut tree = String::new();
    for file in component.render(input).unwrap() {
        let place = file
            .publish
            .folder()
            .map(|folder| format!(", also in {folder}"));
        let (path, mode) = (&file.path, file.mode);
        writeln!(tree, "==> {path}, {mode:04o}{}", place.unwrap_or_default()).unwrap();
        tree += &text(&file, input.settings);
    }
    tree
}

fn each(mut check: impl FnMut(&Component, &RenderInput<'_>, RenderedFile)) {
    let (plain, rich) = (settings(), rich());
    for input in [plain_input(&plain), rich_input(&rich)] {
        for component in Component::ALL {
            for file in component.render(&input).unwrap() {
                check(component, &input, file);
            }
        }
    }
}

#[test]
fn without_a_config() {
    let settings = settings();
    for component in Component::ALL {
        let tree = rendered(component, &plain_input(&settings));
        insta::assert_snapshot!(format!("plain-{}", component.name), tree);
    }
}

#[test]
fn with_everything_set() {
    let settings = rich();
    for component in Component::ALL {
        let tree = rendered(component, &rich_input(&settings));
        insta::assert_snapshot!(format!("rich-{}", component.name), tree);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let settings = rich();
    for component in Component::ALL {
        let once = rendered(component, &rich_input(&settings));
        assert_eq!(once, rendered(component, &rich_input(&settings)));
    }
}

#[test]
fn every_object_says_what_it_is_and_reads_back_as_it_was() {
    each(|component, input, file| {
        let Content::Objects(objects) = &file.content else {
            return;
        };
        let applied = file.publish.folder().is_some();
        for object in objects {
            let kind = object["kind"].as_str();
            let named = object["metadata"]["name"].as_str();
            assert!(object["apiVersion"].is_string(), "{}: {object}", file.path);
            assert!(kind.is_some(), "{}: {object}", file.path);
            assert!(named.is_some() || !applied, "{}: {object}", file.path);
        }
        if matches!(file.body(input.settings), Ok(Body::Literal(_))) {
            let text = text(&file, input.settings);
            let read: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
            assert_eq!(read, *objects, "{} of {}", file.path, component.name);
        }
    });
}

/// Lists the specs of all pods in an object, those of templates too.
fn pod_specs(object: &Value) -> Vec<&Value> {
    let specs = ["/spec", "/spec/template/spec"];
    let specs = specs.iter().filter_map(|pointer| object.pointer(pointer));
    specs.filter(|spec| spec["containers"].is_array()).collect()
}

#[test]
fn images_are_pinned_if_the_release_is() {
    let mut seen = 0;
    each(|_, input, file| {
        let Content::Objects(objects) = &file.content else {
            return;
        };
        for spec in objects.iter().flat_map(pod_specs) {
            for container in spec["containers"].as_array().unwrap() {
                let image = container["image"].as_str().unwrap();
                let pinned = input.release.digest.is_some();
                assert_eq!(release::is_pinned(image), pinned, "{image}");
                seen += 1;
            }
        }
    });
    assert!(seen >= 10, "{seen} containers");
}

#[test]
fn a_release_that_lacks_an_image_is_refused_by_name() {
    let settings = settings();
    for component in Component::ALL {
        let Some(image) = component.image else {
            continue;
        };
        let mut input = plain_input(&settings);
        input.release.images.remove(image);
        let fault = component.render(&input).unwrap_err();
        let message = format!("the release names no image {image}");
        assert_eq!(fault.message, message);
    }
}

#[test]
fn pods_mount_only_what_is_put_on_the_machine() {
    let mut put: BTreeSet<String> = BTreeSet::new();
    put.extend(
        MACHINE_FOLDERS
            .iter()
            .map(|(folder, _)| format!("/{folder}")),
    );
    put.extend(machine_files().map(|file| format!("/{}", file.machine)));
    put.extend(MACHINE_TREES.iter().map(|(_, to)| format!("/{to}")));
    let mut seen = 0;
    each(|_, _, file| {
        let Content::Objects(objects) = &file.content else {
            return;
        };
        for volume in objects
            .iter()
            .flat_map(pod_specs)
            .flat_map(|spec| spec["volumes"].as_array().unwrap())
        {
            let path = volume["hostPath"]["path"].as_str().unwrap();
            assert!(put.contains(path), "nobody puts {path} there");
            seen += 1;
        }
    });
    assert!(seen >= 14, "{seen} volumes");
}

/// Flags that name a file must name one that is put there, too: a mounted folder alone is not enough.
#[test]
fn flags_point_at_files_that_are_put_on_the_machine() {
    let put: BTreeSet<String> = machine_files()
        .map(|file| format!("/{}", file.machine))
        .collect();
    let mut seen = 0;
    each(|_, _, file| {
        let Content::Objects(objects) = &file.content else {
            return;
        };
        let containers = objects.iter().flat_map(pod_specs);
        let containers = containers.flat_map(|spec| spec["containers"].as_array().unwrap());
        let words = containers.flat_map(|container| container["command"].as_array().unwrap());
        for word in words.filter_map(Value::as_str) {
            let Some((_, path)) = word.split_once("=/etc/") else {
                continue;
            };
            assert!(
                put.contains(&format!("/etc/{path}")),
                "nobody puts {word} there"
            );
            seen += 1;
        }
    });
    assert!(seen >= 60, "{seen} flags");
}

#[test]
fn what_goes_to_the_machine_is_made_by_some_step() {
    let (settings, plan) = (settings(), crate::pki::pki_plan(&settings(), "node-1"));
    let mut made: BTreeSet<String> = BTreeSet::new();
    for certificate in plan.certificates {
        made.extend([certificate.path.to_string(), certificate.key.to_string()]);
    }
    let pair = plan.service_accounts;
    made.extend([pair.key.to_string(), pair.public.to_string()]);
    for name in [
        "admin.conf",
        "controller-manager.conf",
        "scheduler.conf",
        "kubelet.conf",
        "kubeconfig-loopback",
        "encryption.yaml",
    ] {
        made.insert(format!("/opt/bootlace/auth/{name}"));
    }
    for component in Component::ALL {
        for file in component.render(&plain_input(&settings)).unwrap() {
            made.insert(format!("/opt/bootlace/{}/{}", component.output, file.path));
            let name = file.path.rsplit('/').next().unwrap();
            made.extend(
                file.publish
                    .folder()
                    .map(|to| format!("/opt/bootlace/{to}/{name}")),
            );
        }
    }
    for file in machine_files() {
        let path = format!("/opt/bootlace/{}", file.asset);
        assert!(made.contains(&path), "nobody makes {path}");
    }
}

#[test]
fn a_release_with_a_manifest_that_cannot_be_applied_is_refused_with_its_place() {
    let settings = rich();
    let mut input = rich_input(&settings);
    let files = [
        ("release-manifests/0000_10_a.yaml", "kind: Pod\n"),
        ("release-manifests/b.yaml", "a: [\n"),
    ];
    input.payload = Some(tree(&files));
    let operator = Component::find("cvo").unwrap();
    let fault = operator.render(&input).unwrap_err();
    assert_eq!(fault.details.len(), 3, "{:?}", fault.details);
    assert!(
        fault.details[0].starts_with("release-manifests/0000_10_a.yaml:1: "),
        "{:?}",
        fault.details
    );
}

#[test]
fn machine_configs_of_the_user_s_reach_machines_of_their_role_alone() {
    let settings = rich();
    let machine_config = Component::find("mco").unwrap();
    let of_pool = |input: &RenderInput<'_>, pool: &str| {
        let files = machine_config.render(input).unwrap();
        let pool = files
            .iter()
            .find(|file| file.path == format!("machine-pools/{pool}.yaml"));
        let Content::Objects(pool) = &pool.unwrap().content else {
            panic!("a pool is an object")
        };
        let name = pool[0]["status"]["configuration"]["name"].as_str().unwrap();
        let path = format!("machine-configs/{name}.yaml");
        let config = files.iter().find(|file| file.path == path).unwrap();
        text(config, &settings)
    };
    let (with, without) = (rich_input(&settings), plain_input(&settings));
    assert!(of_pool(&with, "worker").contains("/etc/motd"));
    assert!(!of_pool(&with, "master").contains("/etc/motd"));
    assert_eq!(of_pool(&with, "master"), of_pool(&without, "master"));
}

/// A pool of the user's.
const INFRA: &str = "\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: infra}
spec: {machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: worker}}}
";

/// Lists what `clean-assets` removes below the asset folder, after files were rendered and copied.
fn cleaned(rendered: &BTreeSet<String>, copied: &str) -> BTreeSet<String> {
    let digest = bootlace_model::ids::Digest::of(b"");
    let files: BTreeMap<&String, _> = rendered.iter().map(|file| (file, digest)).collect();
    let listed = serde_json::json!({"files": files, "composed": []}).to_string();
    let mut facts = Facts::default();
    for (fact, content) in [
        ("manifests.copied", copied),
        ("render-machine-config.listed", &listed),
    ] {
        facts.set(fact, Answer::Content(Some(content.into())));
    }
    let effects = effects("clean-assets", &settings(), &facts).into_iter();
    let paths = effects.map(|effect| match effect {
        Effect::DropPath(drop) if drop.forget.is_some() => drop.path.to_string(),
        other => panic!("{other:?} keeps a copy"),
    });
    let below = |path: String| path.strip_prefix("/opt/bootlace/").map(ToOwned::to_owned);
    paths.filter_map(below).collect()
}

/// A copy of a secret that `clean-assets` forgets stays for years.
#[test]
fn every_rendered_secret_is_cleaned_away() {
    let (mut all, mut secrets) = (BTreeSet::new(), BTreeSet::new());
    let mut collect = |component: &Component, file: RenderedFile| {
        let name = file.path.rsplit('/').next().unwrap();
        let published = file.publish.folder();
        let published = published.map(|folder| format!("{folder}/{name}"));
        let own = format!("{}/{}", component.output, file.path);
        let places: Vec<String> = published.into_iter().chain([own]).collect();
        if component.name == "machine-config" {
            all.extend(places.iter().cloned());
        }
        // `serve --pools` reads these, and so they stay.
        let served = ["machine-configs/", "machine-pools/"];
        let is_served = served.iter().any(|folder| file.path.starts_with(folder));
        if file.mode == 0o600 && !(component.name == "machine-config" && is_served) {
            secrets.extend(places);
        }
    };
    each(|component, _, file| collect(component, file));
    // Pools of the user's have manifests of their own.
    let settings = settings();
    let mut input = plain_input(&settings);
    input.manifests = vec![tree(&[("infra.yaml", INFRA)])];
    let machine_config = Component::find("mco").unwrap();
    for file in machine_config.render(&input).unwrap() {
        collect(machine_config, file);
    }
    let pools = secrets
        .iter()
        .filter(|file| file.contains("machine-config-"));
    assert_eq!(pools.count(), 6, "{secrets:?}");
    let cleaned = cleaned(&all, r#"{"files": {}, "objects": []}"#);
    assert!(secrets.is_subset(&cleaned), "{secrets:?} {cleaned:?}");
    // Nothing else that was rendered goes.
    let rendered: BTreeSet<String> = all.intersection(&cleaned).cloned().collect();
    assert!(rendered.is_subset(&secrets), "{rendered:?} {secrets:?}");
}

#[test]
fn secrets_of_the_user_s_are_cleaned_away_by_what_they_are_and_not_by_their_names() {
    let digest = bootlace_model::ids::Digest::of(b"");
    let copied = format!(
        r#"{{"files": {{"a.yaml": "{digest}", "sub/join.yaml": "{digest}", "app.yaml": "{digest}"}},
        "objects": [
            {{"file": "a.yaml", "group": "", "kind": "ConfigMap", "name": "a"}},
            {{"file": "a.yaml", "group": "", "kind": "Secret", "name": "a"}},
            {{"file": "sub/join.yaml", "group": "", "kind": "Secret", "name": "bootstrap-token-abcdef"}},
            {{"file": "app.yaml", "group": "example.com", "kind": "Secret", "name": "a"}}]}}"#
    );
    let cleaned = cleaned(&BTreeSet::new(), &copied);
    for (file, goes) in [
        ("a.yaml", true),
        ("sub/join.yaml", true),
        ("app.yaml", false),
    ] {
        assert_eq!(
            cleaned.contains(&format!("manifests/{file}")),
            goes,
            "{file}"
        );
    }
}

#[test]
fn a_list_that_others_have_edited_lets_nothing_else_be_removed() {
    let strange = [
        "records/node.json",
        "manifests/dns.yaml",
        "manifests/machine-config-a/b.yaml",
        "mco-bootstrap/machine-configs/machine-config-a.yaml",
        "../etc/machine-config-a.yaml",
    ];
    let strange = strange.map(ToOwned::to_owned).into();
    let nothing = r#"{"files": {}, "objects": []}"#;
    let usual = cleaned(&BTreeSet::new(), nothing);
    assert_eq!(cleaned(&strange, nothing), usual);
}

/// Returns what a machine of a pool is told, by path, with the mode, and its kubelet's unit.
fn told_to_machines(profile: SecurityProfile) -> (BTreeMap<String, (u64, String)>, String) {
    let mut settings = settings();
    settings.cluster.security.profile = profile;
    let machine_config = Component::find("mco").unwrap();
    let files = machine_config.render(&plain_input(&settings)).unwrap();
    let file = files
        .iter()
        .find(|file| file.path == "machine-configs/00-worker.yaml");
    let Content::Objects(objects) = &file.unwrap().content else {
        panic!("a machine config is an object")
    };
    let config = &objects[0]["spec"]["config"];
    let files = config["storage"]["files"].as_array().unwrap().iter();
    let files = files.map(|file| {
        let source = file["contents"]["source"].as_str().unwrap();
        let encoded = source.split_once("base64,").unwrap().1;
        let content = base64::engine::general_purpose::STANDARD.decode(encoded);
        let content = String::from_utf8(content.unwrap()).unwrap();
        let path = file["path"].as_str().unwrap().to_owned();
        (path, (file["mode"].as_u64().unwrap(), content))
    });
    let unit = config["systemd"]["units"][0]["contents"].as_str().unwrap();
    (files.collect(), unit.to_owned())
}

#[test]
fn machines_of_pools_are_as_hard_as_the_first_one() {
    const CONFIG: &str = "/var/lib/kubelet/config.yaml";
    const SYSCTLS: &str = "/etc/sysctl.d/90-bootlace-kubelet.conf";
    let (files, unit) = told_to_machines(SecurityProfile::Cis);
    let (mode, config) = &files[CONFIG];
    assert_eq!(*mode, 0o600);
    assert!(config.contains("protectKernelDefaults: true"), "{config}");
    let settings = settings();
    let first = Component::find("config").unwrap();
    let first = first.render(&plain_input(&settings)).unwrap();
    let of_first = |name: &str| {
        let file = first.iter().find(|file| file.path == name).unwrap();
        text(file, &settings)
    };
    assert_eq!(
        files[SYSCTLS],
        (0o600, of_first("kubelet-sysctl.conf")),
        "the kubelet does not start unless all of these are set"
    );
    let before = |unit: &str| {
        let mut lines = unit.lines();
        let line = lines.find(|line| line.starts_with("ExecStartPre="));
        line.map(ToOwned::to_owned)
    };
    assert_eq!(before(&unit), before(&of_first("kubelet.service")));
    assert!(before(&unit).unwrap().contains(SYSCTLS), "{unit}");

    let (files, unit) = told_to_machines(SecurityProfile::Compatible);
    let (mode, config) = &files[CONFIG];
    assert_eq!(*mode, 0o644);
    assert!(!config.contains("protectKernelDefaults"), "{config}");
    assert!(
        !files.contains_key(SYSCTLS) && before(&unit).is_none(),
        "{unit}"
    );
}

#[test]
fn kubelets_that_join_by_kubeadm_are_not_told_to_insist_on_kernel_settings() {
    let settings = settings();
    let config = Component::find("config").unwrap();
    let files = config.render(&plain_input(&settings)).unwrap();
    let shared = "manifests/kubelet-config.yaml";
    let shared = files.iter().find(|file| file.path == shared).unwrap();
    // Nobody has set them there, and such a kubelet would not start.
    assert!(!text(shared, &settings).contains("protectKernelDefaults"));
}

#[test]
fn the_profile_compatible_changes_no_default_of_kubernetes() {
    let mut settings = settings();
    settings.cluster.security.profile = SecurityProfile::Compatible;
    for component in Component::ALL {
        let tree = rendered(component, &plain_input(&settings));
        for word in [
            "profiling",
            "audit",
            "encryption-provider",
            "cipher",
            "EventRateLimit",
            "podPidsLimit",
            "NetworkPolicy",
        ] {
            assert!(!tree.contains(word), "{} says {word}", component.name);
        }
    }
}
