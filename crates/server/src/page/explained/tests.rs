use super::*;
use crate::name::Name;
use crate::{layered, rendered::render};

const IMAGE: &str =
    "registry.example/os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn source() -> Source {
    let file = |path: &str, mode: u32, content: &str| json!({"path": path, "mode": mode, "contents": {"source": format!("data:,{content}")}});
    let config = json!({
        "ignition": {
            "version": "3.4.0",
            "proxy": {"httpProxy": "http://me:pw@proxy.example:1"},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,ca"}]}},
        },
        "kernelArguments": {"shouldExist": ["a=1"], "shouldNotExist": ["b.password=x"]},
        "passwd": {
            "users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 A", "ssh-ed25519 B"], "passwordHash": "$y$x"}],
            "groups": [{"name": "wheel"}],
        },
        "storage": {
            "files": [
                file("/etc/hello", 0o644, "hi%0a"),
                file("/etc/private", 0o600, "hi"),
                file("/etc/kubernetes/kubelet-ca.crt", 0o644, "old"),
                {"path": "/etc/empty"},
                {"path": "/etc/zero", "contents": {"source": "data:;base64,AAA="}},
                {"path": "/etc/remote", "contents": {"source": "https://a.example/b?sig=x",
                    "httpHeaders": [{"name": "Authorization", "value": "v"}]}},
            ],
            "directories": [{"path": "/var/lib/x", "mode": 0o755, "user": {"name": "core"}}],
            "links": [{"path": "/etc/link", "target": "/x"}],
            "disks": [{"device": "/dev/sda", "partitions": [{"number": 1, "label": "a"}]}],
        },
        "systemd": {"units": [{"name": "a.service", "enabled": true,
            "contents": "[Service]\nEnvironment=A_TOKEN=x\nExecStart=/x\n",
            "dropins": [{"name": "b.conf", "contents": "[Service]\n"}]}]},
    });
    Source {
        pool_name: Name::parse("worker").unwrap(),
        pool: json!({"spec": {"desiredImage": IMAGE}}),
        built_image: None,
        config: Name::parse("rendered-1").unwrap(),
        machine_config: json!({"metadata": {"name": "rendered-1"},
            "spec": {"config": config, "kernelArguments": ["c=3"], "extensions": ["usbguard"]}}),
        authorities: vec![("/etc/kubernetes/kubelet-ca.crt", b"ca".to_vec())],
        kubeconfig: Some(b"kind: Config\n".to_vec()),
        is_from_cluster: false,
        certificates: vec![("registry:5000".into(), b"pem".to_vec())],
    }
}

fn explained(view: View, version: Version) -> (Value, Value) {
    let source = source();
    let served = match view {
        View::Whole => render(&source, version),
        View::Layered => layered::render(&source, version),
    };
    let served: Value = serde_json::from_slice(&served.unwrap()).unwrap();
    let explained = explain(&source, view, version, &served).unwrap();
    (served, explained)
}

fn named<'v>(list: &'v Value, name: &str) -> &'v Value {
    let mut entries = list.as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["path"] == name || entry["name"] == name);
    entry.unwrap_or_else(|| panic!("{name} is not in {list:#}"))
}

#[test]
fn each_file_is_told_with_its_origin_and_place() {
    let (served, told) = explained(View::Whole, Version::V3_5);
    let files = &told["files"];
    let count = served["storage"]["files"].as_array().unwrap().len();
    assert_eq!(files.as_array().unwrap().len(), count);
    let hello = named(files, "/etc/hello");
    assert_eq!(hello["content"], json!({"kind": "text", "text": "hi\n"}));
    assert_eq!(
        (&hello["mode"], &hello["size"]),
        (&"0644".into(), &3.into())
    );
    let digest = "98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4";
    assert_eq!(hello["sha256"], digest);
    assert_eq!(hello["origin"]["by"], "config");
    assert_eq!(hello["place"]["place"], "image");
    let private = named(files, "/etc/private");
    assert_eq!(private["content"]["kind"], "hidden");
    assert_eq!(
        private["sha256"],
        Value::Null,
        "a short secret could be guessed"
    );
    assert_eq!(named(files, "/etc/empty")["content"]["kind"], "none");
    assert_eq!(named(files, "/etc/zero")["content"]["kind"], "binary");
    let remote = &named(files, "/etc/remote")["content"];
    assert_eq!(remote["url"], "https://a.example/b?(hidden)");
    assert_eq!(remote["headers"], json!(["Authorization"]));
    let authority = named(files, "/etc/kubernetes/kubelet-ca.crt");
    assert_eq!(authority["origin"]["by"], "server");
    assert!(
        authority["origin"]["text"]
            .as_str()
            .unwrap()
            .contains("in place of")
    );
    assert_eq!(authority["content"]["text"], "ca");
}

/// What is called added is exactly what the config does not have, in every version.
#[test]
fn what_the_server_adds_is_named_so() {
    for view in [View::Whole, View::Layered] {
        for version in [Version::V3_5, Version::V3_4] {
            let (_, told) = explained(view, version);
            let of_config = source().machine_config;
            for file in told["files"].as_array().unwrap() {
                let path = &file["path"];
                let files = of_config.pointer("/spec/config/storage/files").unwrap();
                let is_its_own = files
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|own| own["path"] == *path);
                let by = file["origin"]["by"].as_str().unwrap();
                let is_replaced = path == "/etc/kubernetes/kubelet-ca.crt";
                let expected = if is_its_own && !is_replaced {
                    "config"
                } else {
                    "server"
                };
                assert_eq!(by, expected, "{path}");
                let why = &file["origin"]["why"];
                assert_eq!(
                    why.as_str().is_some_and(|why| !why.is_empty()),
                    by == "server"
                );
            }
        }
    }
}

#[test]
fn the_other_parts_are_told() {
    let (_, told) = explained(View::Whole, Version::V3_5);
    let unit = named(&told["units"], "a.service");
    assert_eq!(unit["enabled"], true);
    assert_eq!(
        unit["content"]["text"],
        "[Service]\nEnvironment=A_TOKEN=(hidden)\nExecStart=/x\n"
    );
    assert_eq!(unit["content"]["hidden_values"], 1);
    assert_eq!(unit["dropins"][0]["name"], "b.conf");
    let user = named(&told["users"], "core");
    assert_eq!(
        (&user["ssh_keys"], &user["has_password"]),
        (&2.into(), &true.into())
    );
    let arguments: Vec<&str> = told["kernel_arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["argument"].as_str().unwrap())
        .collect();
    assert_eq!(arguments, ["c=3", "a=1", "b.password=(hidden)"]);
    assert_eq!(told["disks"][0]["partitions"], 1);
    assert_eq!(
        named(&told["directories"], "/var/lib/x")["owner"],
        "core:root"
    );
    assert_eq!(named(&told["links"], "/etc/link")["target"], "/x");
    assert_eq!(told["system"]["extensions"], json!(["usbguard"]));
    assert_eq!(
        told["fetches"],
        json!([
            {"what": "authority", "from": "inside the config (hidden)"},
            {"what": "proxy", "from": "http://(hidden)@proxy.example:1"},
        ])
    );
    assert!(told.get("left_to_the_image").is_none());
}

#[test]
fn a_layered_machine_is_told_what_its_image_holds() {
    let (_, told) = explained(View::Layered, Version::V3_4);
    assert_eq!(told["image"]["name"], IMAGE);
    assert_eq!(told["image"]["from"], "spec.desiredImage of the pool");
    let left = &told["left_to_the_image"];
    assert_eq!(named(left, "/etc/hello")["place"]["place"], "image");
    assert_eq!(named(left, "a.service")["kind"], "unit");
    assert_eq!(
        named(&told["files"], layered::RECORD)["content"]["kind"],
        "hidden"
    );
    assert_eq!(
        named(&told["units"], "bootlace-pull.service")["origin"]["by"],
        "server"
    );
}
