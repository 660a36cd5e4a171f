use super::*;
use crate::name::Name;

fn source(machine_config: Value) -> Source {
    Source {
        pool_name: Name::parse("worker").unwrap(),
        pool: Value::Null,
        is_from_cluster: false,
        built_image: None,
        config: Name::parse("rendered-1").unwrap(),
        machine_config,
        authorities: vec![],
        kubeconfig: Some(b"kind: Config\n".to_vec()),
        certificates: vec![("registry:5000".into(), b"pem".to_vec())],
    }
}

fn served(source: &Source, version: Version) -> Value {
    serde_json::from_slice(&render(source, version).unwrap()).unwrap()
}

fn content(config: &Value, path: &str) -> String {
    let files = config["storage"]["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == path).unwrap();
    let url = file["contents"]["source"].as_str().unwrap();
    let mut bytes = url.strip_prefix("data:,").unwrap().bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
            let digits = std::str::from_utf8(&digits).unwrap();
            decoded.push(u8::from_str_radix(digits, 16).unwrap());
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).unwrap()
}

fn with_config(config: &Value) -> Source {
    source(json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": "rendered-1"},
        "spec": {"config": config, "kernelArguments": ["a=1"]},
    }))
}

const ORDER: [&str; 6] = [
    "/etc/own",
    "/etc/machine-config-daemon/node-annotations.json",
    "/etc/kubernetes/kubeconfig",
    "/etc/mcs-machine-config-content.json",
    "/etc/docker/certs.d/registry:5000/ca.crt",
    "/etc/ignition-machine-config-encapsulated.json",
];

#[test]
fn files_are_appended_in_order_in_every_version() {
    let source = with_config(&json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [{"path": "/etc/own", "contents": {"source": "data:,x"}, "mode": 420}]},
    }));
    for version in crate::accept::SERVED {
        let config = served(&source, version);
        assert_eq!(config["ignition"]["version"], version.name());
        let files = config["storage"]["files"].as_array().unwrap();
        let paths: Vec<&str> = files
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, ORDER, "{version}");
        for file in &files[1..] {
            assert_eq!(file["mode"], 420, "{file}");
            assert_eq!(
                file["filesystem"].as_str(),
                (version == Version::V2_2).then_some("root")
            );
            // 2.2 overwrites unless it is told otherwise.
            assert!(
                file["overwrite"] == true || version == Version::V2_2,
                "{file}"
            );
        }
        assert_eq!(content(&config, ORDER[2]), "kind: Config\n");
    }
}

#[test]
fn the_appended_files_say_what_the_machine_is() {
    let mut source = with_config(&json!({"ignition": {"version": "3.5.0"}}));
    let config = served(&source, Version::V3_5);
    let json =
        |config: &Value, path| -> Value { serde_json::from_str(&content(config, path)).unwrap() };
    assert_eq!(
        json(&config, ORDER[1]),
        json!({
            "machineconfiguration.openshift.io/currentConfig": "rendered-1",
            "machineconfiguration.openshift.io/desiredConfig": "rendered-1",
            "machineconfiguration.openshift.io/firstPivotConfig": "rendered-1",
            "machineconfiguration.openshift.io/state": "Done",
        })
    );
    let capsule = json(&config, ORDER[5]);
    assert_eq!(
        capsule["spec"],
        json!({
            "config": {"ignition": {"version": "3.5.0"}},
            "kernelArguments": ["a=1"], "extensions": null, "fips": false,
            "osImageURL": "", "baseOSExtensionsContainerImage": "", "kernelType": "",
        })
    );
    assert!(content(&config, ORDER[3]).starts_with("{\n    \""));
    source.machine_config["metadata"]["annotations"] =
        json!({"machineconfiguration.openshift.io/pre-built-image": "i@sha256:1"});
    let annotations = json(&served(&source, Version::V3_5), ORDER[1]);
    assert_eq!(
        annotations["machineconfiguration.openshift.io/desiredImage"],
        "i@sha256:1"
    );
}

#[test]
fn kernel_arguments_are_rescued_where_ignition_cannot_say_them() {
    let source = with_config(&json!({
        "ignition": {"version": "3.4.0"},
        "kernelArguments": {"shouldExist": ["b", "c=2"]},
    }));
    for version in crate::accept::SERVED {
        let config = served(&source, version);
        let capsule: Value = serde_json::from_str(&content(&config, ORDER[5])).unwrap();
        let said = &capsule["spec"]["kernelArguments"];
        if version < Version::V3_3 {
            assert_eq!(config.get("kernelArguments"), None);
            assert_eq!(*said, json!(["a=1", "b", "c=2"]), "{version}");
        } else {
            assert_eq!(
                config["kernelArguments"]["shouldExist"],
                json!(["b", "c=2"])
            );
            assert_eq!(*said, json!(["a=1"]), "{version}");
        }
    }
    let source = with_config(&json!({
        "ignition": {"version": "3.4.0"},
        "kernelArguments": {"shouldNotExist": ["b"]},
    }));
    assert!(render(&source, Version::V3_3).is_ok());
    let Err(Unrenderable::Inexpressible(lost)) = render(&source, Version::V3_2) else {
        panic!("3.2 has no kernel arguments");
    };
    assert!(lost[0].contains("shouldNotExist"), "{lost:?}");
}

#[test]
fn what_cannot_be_served_is_named() {
    let nothing = with_config(&Value::Null);
    assert!(matches!(
        render(&nothing, Version::V3_5),
        Err(Unrenderable::Invalid(_))
    ));
    let source = with_config(&json!({"ignition": {"version": "9.9.9"}}));
    assert!(matches!(
        render(&source, Version::V3_5),
        Err(Unrenderable::Invalid(_))
    ));
    let luks = with_config(&json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"luks": [{"name": "a", "device": "/dev/x", "keyFile": {"source": "data:,k"}}]},
    }));
    assert!(render(&luks, Version::V3_2).is_ok());
    let Err(Unrenderable::Inexpressible(lost)) = render(&luks, Version::V3_1) else {
        panic!("3.1 has no luks");
    };
    assert!(lost[0].contains("luks"), "{lost:?}");
}

#[test]
fn authorities_replace_what_is_there_and_appended_files_give_no_path_twice() {
    let mut source = with_config(&json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [
            {"path": "/etc/kubernetes/kubelet-ca.crt", "contents": {"source": "data:,old"}, "mode": 384},
            {"path": "/etc/kubernetes/kubeconfig", "contents": {"source": "data:,old"}},
        ]},
    }));
    source.authorities = vec![
        ("/etc/kubernetes/kubelet-ca.crt", b"new".to_vec()),
        ("/etc/other", b"other".to_vec()),
    ];
    let config = served(&source, Version::V3_2);
    let files = config["storage"]["files"].as_array().unwrap();
    assert_eq!(files[0]["contents"]["source"], "data:,new");
    assert_eq!(files[0]["mode"], 384);
    assert_eq!(files[1]["path"], "/etc/other");
    assert_eq!(
        content(&config, "/etc/kubernetes/kubeconfig"),
        "kind: Config\n"
    );
}

#[test]
fn bits_of_a_mode_that_are_special_are_kept_or_refused() {
    let source = with_config(&json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"directories": [{"path": "/d", "mode": 0o1777}]},
    }));
    let mode = |version| served(&source, version)["storage"]["directories"][0]["mode"].clone();
    assert_eq!([mode(Version::V3_4), mode(Version::V3_5)], [0o1777, 0o1777]);
    let Err(Unrenderable::Inexpressible(lost)) = render(&source, Version::V3_3) else {
        panic!("3.3 has no special bits");
    };
    assert!(lost[0].contains("/d"), "{lost:?}");
}

#[test]
fn a_cluster_says_the_version_that_its_machine_knows() {
    let mut source = with_config(&json!({"ignition": {"version": "3.4.0"}}));
    for (is_from_cluster, asked, said) in [
        (false, Version::V3_1, "3.5.0"),
        (true, Version::V3_1, "3.1.0"),
        (true, Version::V2_2, "2.2.0"),
    ] {
        source.is_from_cluster = is_from_cluster;
        let capsule = content(&served(&source, asked), ORDER[5]);
        let capsule: Value = serde_json::from_str(&capsule).unwrap();
        assert_eq!(capsule["spec"]["config"]["ignition"]["version"], said);
    }
}
