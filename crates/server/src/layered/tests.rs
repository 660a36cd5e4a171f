use super::placement::{TABLE, of_path};
use super::*;
use crate::name::Name;

const IMAGE: &str =
    "registry.example/os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "registry.example/other@sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn source(pool: Value, spec: &Value) -> Source {
    Source {
        pool_name: Name::parse("worker").unwrap(),
        pool,
        is_from_cluster: false,
        built_image: None,
        config: Name::parse("rendered-1").unwrap(),
        machine_config: json!({"metadata": {"name": "rendered-1"}, "spec": spec}),
        authorities: vec![("/etc/kubernetes/kubelet-ca.crt", b"ca".to_vec())],
        kubeconfig: Some(b"kind: Config\n".to_vec()),
        certificates: vec![("registry:5000".into(), b"pem".to_vec())],
    }
}

fn rich() -> Source {
    let file = |path: &str| json!({"path": path, "contents": {"source": "data:,x"}});
    let config = json!({
        "ignition": {"version": "3.4.0"},
        "kernelArguments": {"shouldExist": ["a=1"]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}]},
        "storage": {
            "disks": [{"device": "/dev/sda", "wipeTable": true}],
            "files": [
                {"path": "/var/lib/kubelet/config.json", "mode": 384, "contents": {"source": "data:,secret"}},
                file("/etc/kubernetes/kubelet.conf"),
                file("/etc/containers/registries.conf"),
                file("/etc/NetworkManager/system-connections/eth0.nmconnection"),
                file("/etc/hostname"),
                file("/etc/crio/crio.conf.d/00-default"),
                file("/usr/local/bin/x"),
            ],
            "directories": [{"path": "/etc/foo"}, {"path": "/var/lib/bar"}],
            "links": [{"path": "/etc/localtime", "target": "/x"}],
        },
        "systemd": {"units": [{"name": "kubelet.service", "contents": "[Service]\nExecStart=/x\n"}]},
    });
    let spec = json!({
        "config": config, "osImageURL": OTHER, "kernelArguments": ["b=2"], "fips": true,
        "extensions": ["usbguard"], "kernelType": "realtime",
    });
    source(json!({"spec": {"desiredImage": IMAGE}}), &spec)
}

fn served(source: &Source, version: Version) -> Value {
    serde_json::from_slice(&render(source, version).unwrap()).unwrap()
}

fn paths(config: &Value) -> Vec<&str> {
    files(config)
        .map(|file| file["path"].as_str().unwrap())
        .collect()
}

fn record_of(config: &Value) -> Value {
    let file = files(config).find(|file| file["path"] == RECORD).unwrap();
    let url = file["contents"]["source"].as_str().unwrap();
    let content = bootlace_ignition::content::decode_data_url(url).unwrap();
    serde_json::from_slice(&content).unwrap()
}

#[test]
fn only_what_is_needed_until_the_pivot_is_served() {
    let config = served(&rich(), Version::V3_4);
    assert_eq!(
        paths(&config),
        [
            "/var/lib/kubelet/config.json",
            "/etc/containers/registries.conf",
            "/etc/NetworkManager/system-connections/eth0.nmconnection",
            "/etc/hostname",
            "/usr/local/bin/x",
            "/etc/kubernetes/kubelet-ca.crt",
            "/etc/machine-config-daemon/node-annotations.json",
            "/etc/kubernetes/kubeconfig",
            "/etc/docker/certs.d/registry:5000/ca.crt",
            "/etc/bootlace/layered.json",
        ]
    );
    assert_eq!(
        config["storage"]["directories"],
        json!([{"path": "/var/lib/bar"}])
    );
    assert!(
        config["storage"]
            .get("links")
            .is_none_or(|links| links == &json!([]))
    );
    assert_eq!(config["storage"]["disks"][0]["device"], "/dev/sda");
    assert_eq!(config["passwd"]["users"][0]["name"], "core");
    assert!(config.get("kernelArguments").is_none());
    let units = config["systemd"]["units"].as_array().unwrap();
    let names: Vec<_> = units
        .iter()
        .map(|unit| unit["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["bootlace-pull.service", "bootlace-first-boot.service"]
    );
    let pull = units[0]["contents"].as_str().unwrap();
    assert!(
        pull.contains(&format!(
            "--authfile=/var/lib/kubelet/config.json {IMAGE}\n"
        )),
        "{pull}"
    );
    let secret = files(&config).find(|file| file["path"] == "/etc/kubernetes/kubeconfig");
    assert_eq!(secret.unwrap()["mode"], 0o600);
}

#[test]
fn the_record_says_what_the_machine_becomes() {
    let record = record_of(&served(&rich(), Version::V3_4));
    let mut spec = record["spec"].clone();
    let written = spec.as_object_mut().unwrap().remove("written").unwrap();
    assert_eq!(
        spec,
        json!({
            "pool": "worker",
            "config": "rendered-1",
            "image": IMAGE,
            "imageFrom": "spec.desiredImage of the pool",
            "bootlaceImage": IMAGE,
            "beforePivot": {
                "kernelArguments": ["b=2", "a=1"], "removedKernelArguments": [], "fips": true,
            },
            "expectedOfImage": {"kernelType": "realtime", "extensions": ["usbguard"]},
        })
    );
    let told = |path: &str| {
        let entries = written.as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["path"] == path);
        entry
            .unwrap_or_else(|| panic!("{path} is not listed in {written:#}"))
            .clone()
    };
    for (path, kind, then) in [
        ("/var/lib/kubelet/config.json", "file", "keep"),
        ("/etc/containers/registries.conf", "file", "remove"),
        ("/etc/containers", "directory", "remove-if-empty"),
        ("/var/lib/bar", "directory", "keep"),
        ("/etc/bootlace/layered.json", "file", "remove"),
        (
            "/etc/systemd/system/bootlace-pull.service",
            "file",
            "remove",
        ),
        (
            "/etc/systemd/system/kubelet.service.requires/bootlace-first-boot.service",
            "link",
            "remove",
        ),
        (
            "/etc/systemd/system-preset/20-ignition.preset",
            "file",
            "remove",
        ),
        ("/etc/kubernetes/kubeconfig", "file", "keep"),
    ] {
        let entry = told(path);
        assert_eq!(
            (entry["kind"].as_str(), entry["then"].as_str()),
            (Some(kind), Some(then)),
            "{path}"
        );
        assert!(!entry["why"].as_str().unwrap().is_empty());
    }
    let secret = told("/var/lib/kubelet/config.json");
    assert_eq!(secret["mode"], "0600");
    assert_eq!(
        secret["sha256"],
        "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    );
    assert!(
        !record.to_string().contains("secret\""),
        "no content is in the record"
    );
}

#[test]
fn the_first_that_names_an_image_wins() {
    let annotated = json!({"metadata": {"annotations": {"bootlace.dev/desired-image": IMAGE}}});
    let both = json!({
        "spec": {"desiredImage": IMAGE, "bootlaceImage": OTHER},
        "metadata": {"annotations": {"bootlace.dev/desired-image": OTHER}},
    });
    let spec = json!({"osImageURL": OTHER});
    let rows = [
        (both, None, IMAGE, OTHER, "spec.desiredImage of the pool"),
        (
            annotated,
            Some(OTHER),
            IMAGE,
            IMAGE,
            "spec.desiredImage of the pool",
        ),
        (json!({}), Some(IMAGE), IMAGE, IMAGE, "the cluster's build"),
        (
            json!({}),
            None,
            OTHER,
            OTHER,
            "spec.osImageURL of the config",
        ),
    ];
    for (pool, built, desired, bootlace, from) in rows {
        let mut source = source(pool, &spec);
        source.built_image = built.map(ToOwned::to_owned);
        let images = image::images(&source).unwrap();
        assert_eq!(
            (&*images.desired, &*images.bootlace, images.from),
            (desired, bootlace, from)
        );
    }
    let mut prebuilt = source(json!({}), &spec);
    let name = "machineconfiguration.openshift.io/pre-built-image";
    prebuilt.machine_config["metadata"]["annotations"] = json!({ name: IMAGE });
    assert_eq!(image::images(&prebuilt).unwrap().desired, IMAGE);
}

#[test]
fn an_image_is_named_by_its_digest_alone() {
    for bad in [
        "",
        "registry.example/os:latest",
        "registry.example/os@sha256:12",
        "os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "--help/x@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "registry.example/o s@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "registry.example/%n@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ] {
        let source = source(json!({"spec": {"desiredImage": bad}}), &json!({}));
        let error = render(&source, Version::V3_4).unwrap_err();
        let Unrenderable::NoImage(reason) = error else {
            panic!("{error:?}");
        };
        assert!(reason.contains("spec.desiredImage"), "{reason}");
    }
}

#[test]
fn it_is_valid_in_every_version_that_is_served() {
    for version in crate::accept::SERVED {
        let mut source = rich();
        // What only newer versions can say is left out.
        source.machine_config["spec"]["config"]["storage"]["disks"] = json!([]);
        let text = render(&source, version).unwrap();
        if version == Version::V2_2 {
            // Nothing here reads what is as old as that; that it can be said is enough.
            continue;
        }
        let parsed = bootlace_ignition::parse("layered", &text);
        let errors: Vec<_> = parsed.report.errors().collect();
        assert!(
            parsed.config.is_some() && errors.is_empty(),
            "{version}: {errors:?}"
        );
    }
}

/// Returns the word that the book has for a place.
fn name(place: Place) -> &'static str {
    match place {
        Place::Image => "image",
        Place::UntilPivot => "until pivot",
        Place::Machine => "machine",
        Place::FirstBoot => "first boot",
    }
}

#[test]
fn the_table_is_the_one_of_the_book() {
    let book = include_str!("../../../../docs/design/layering.md");
    for (what, place, why) in TABLE {
        let row = format!("| `{what}` | {} | {why} |", name(place));
        assert!(book.contains(&row), "docs/design/layering.md lacks: {row}");
    }
    let rows = book.lines().filter(|line| line.starts_with("| `/"));
    let paths = TABLE.iter().filter(|(what, ..)| what.starts_with('/'));
    assert_eq!(rows.count(), paths.count());
}

#[test]
fn a_path_belongs_where_the_first_row_says() {
    for (path, place) in [
        ("/etc/hostname", Place::Machine),
        ("/etc/hostname.d/x", Place::Image),
        ("/etc/containers/policy.json", Place::UntilPivot),
        ("/etc/containersx", Place::Image),
        ("/var/lib/x", Place::Machine),
        ("/usr/bin/x", Place::Image),
        ("/etc/NetworkManager/system-connections/x", Place::Machine),
        ("/etc/NetworkManager/conf.d/x", Place::UntilPivot),
    ] {
        assert_eq!(of_path(path).0, place, "{path}");
    }
}
