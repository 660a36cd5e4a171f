//! The same folder as OpenShift's server had when its answers were recorded, and the same answers.

#![expect(clippy::disallowed_methods, reason = "a test's own files")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::client::{Answer, Connection, ask};
use crate::world::{World, pool};

/// Configs for which the answer is another one on purpose: from which version, to which, the status.
const DIFFERENT: [(&str, &str, &str, u16); 7] = [
    // Its translation leaves out how a disk is encrypted. Here it is said that it cannot be said.
    ("cex", "3.2.0", "3.4.0", 500),
    ("tang-advertisement-3-5", "3.2.0", "3.3.0", 500),
    // Its translation leaves out the advertisement also where it can be said.
    ("tang-advertisement", "3.4.0", "3.5.0", 200),
    ("tang-advertisement-3-5", "3.4.0", "3.4.0", 200),
    // A file of the config gives way to an appended one of the same path.
    ("duplicate", "2.2.0", "3.5.0", 200),
    // 3.6 is read, too.
    ("v3-6-0", "2.2.0", "3.5.0", 200),
    // 2.0 is not.
    ("v2-0-0", "2.2.0", "3.5.0", 503),
];

/// The files that are appended to every config.
const APPENDED: [&str; 4] = [
    "/etc/machine-config-daemon/node-annotations.json",
    "/etc/kubernetes/kubeconfig",
    "/etc/mcs-machine-config-content.json",
    "/etc/ignition-machine-config-encapsulated.json",
];

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve/recorded")
}

fn answers() -> BTreeMap<String, BTreeMap<String, Value>> {
    let text = std::fs::read_to_string(recorded().join("answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Starts a server with a pool for each recorded config.
fn world(cases: impl Iterator<Item = impl AsRef<str>>) -> World {
    let world = World::open();
    let take = |from: &str, to: &str| {
        let text = std::fs::read_to_string(recorded().join(from)).unwrap();
        world.write(to, &text);
    };
    std::fs::create_dir_all(world.path("pools/controller-config")).unwrap();
    let controller = "controller-config/machine-config-controller.yaml";
    take(controller, &format!("pools/{controller}"));
    take("kubeconfig", "kubeconfig");
    for case in cases {
        let case = case.as_ref();
        let file = format!("machine-configs/{case}.yaml");
        take(&file, &format!("pools/{file}"));
        world.write(&format!("pools/machine-pools/{case}.yaml"), &pool(case));
    }
    world
}

fn get(stream: &mut Connection, case: &str, version: &str) -> Answer {
    let accept =
        format!("Accept: application/vnd.coreos.ignition+json;version={version}, */*;q=0.1");
    ask(stream, "GET", &format!("/config/{case}"), &[&accept]).unwrap()
}

fn hash(body: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hash = String::new();
    for byte in Sha256::digest(body) {
        write!(hash, "{byte:02x}").unwrap();
    }
    hash
}

/// Takes the contents of the appended files out of a body.
fn apart(body: &[u8]) -> (Value, BTreeMap<String, Value>) {
    let mut config: Value = serde_json::from_slice(body).unwrap();
    let mut contents = BTreeMap::new();
    for file in config["storage"]["files"].as_array_mut().unwrap() {
        let path = file["path"].as_str().unwrap().to_owned();
        if !APPENDED.contains(&&*path) {
            continue;
        }
        let contents_of = file["contents"].as_object_mut().unwrap();
        let source = contents_of.remove("source").unwrap();
        let text = decoded(source.as_str().unwrap().strip_prefix("data:,").unwrap());
        // The kubeconfig is YAML.
        let content = serde_json::from_str(&text).unwrap_or(Value::String(text));
        contents.insert(path, content);
    }
    (config, contents)
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            plain => plain,
        });
    }
    String::from_utf8(decoded).unwrap()
}

#[test]
fn every_recorded_answer_is_given_byte_for_byte() {
    let answers = answers();
    let world = world(answers.keys());
    let mut stream = world.client.connect().unwrap();
    let mut same = 0;
    for (case, versions) in &answers {
        let mut appended = &Value::Null;
        for (version, recorded) in versions {
            let answer = get(&mut stream, case, version);
            let different = DIFFERENT
                .iter()
                .find(|(name, from, to, _)| name == case && (*from..=*to).contains(&&**version));
            if let Some((_, _, _, status)) = different {
                assert_eq!(answer.status, *status, "{case} {version}");
                assert_ne!(recorded["sha256"], hash(&answer.body), "{case} {version}");
                continue;
            }
            if recorded["status"] != 200 {
                assert!([500, 503].contains(&answer.status), "{case} {version}");
                assert!(!answer.json()["hint"].is_null(), "{case} {version}");
                continue;
            }
            assert_eq!(answer.status, 200, "{case} {version}: {:?}", answer.json());
            assert_eq!(answer.header("content-type"), Some("application/json"));
            if !recorded["appended"].is_null() {
                appended = &recorded["appended"];
            }
            if !recorded["config"].is_null() {
                let (config, contents) = apart(&answer.body);
                assert_eq!(config, recorded["config"], "{case} {version}");
                let contents: Value = contents.into_iter().collect();
                assert_eq!(contents, *appended, "{case} {version}");
            }
            assert_eq!(recorded["sha256"], hash(&answer.body), "{case} {version}");
            same += 1;
        }
    }
    assert!(same > 300, "{same}");
}
