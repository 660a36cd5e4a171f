//! `pki rotate-encryption-key` on a real cluster: killed, called again, and judged by what etcd holds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::killed::{inner, leader};
use crate::world::{CALL, Node, World};

const FILE: &str = "/etc/kubernetes/configs/encryption.yaml";
const ROTATE: [&str; 2] = ["pki", "rotate-encryption-key"];
/// How many Secrets the test makes: more than one page of a list.
const SECRETS: usize = 45;
/// How often the file is looked at.
const LOOKS: Duration = Duration::from_millis(2);

#[test]
#[ignore = "slow: a cluster whose encryption key is replaced"]
fn a_rotation_that_is_killed_twice_leaves_every_secret_with_the_new_key() {
    let world = World::new();
    let node = world.node("m1", 11);
    node.ends_with(4, &ROTATE);
    node.ends_with(0, &["run", "cluster", "--progress", "plain", "-q"]);
    let before = make_secrets(&node);
    assert_eq!(keys_in_etcd(&node), ["key1"].map(String::from).into());

    changes_nothing(&node);
    // Cut off while the API server does not know the new key yet, and again when the old one is gone.
    kill_when(&node, &["key2", "key1"]);
    let said = node.ends_with(0, &[&ROTATE[..], &["--dry-run"]].concat());
    assert!(
        said.stdout.contains("finish the rotation to key2"),
        "{said:#?}"
    );
    kill_when(&node, &["key2"]);
    let said = node.ends_with(0, &[&ROTATE[..], &["-o", "json"]].concat());
    let view: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(view["key"], "key2", "{said:#?}");

    assert_eq!(keys_in_etcd(&node), ["key2"].map(String::from).into());
    assert_eq!(keys_in(&file_of(&node)), ["key2"]);
    assert_eq!(node.sh(&format!("stat -c '%a %u:%g' {FILE}")), "600 0:0\n");
    assert_eq!(
        node.sh("ls -A /etc/kubernetes/configs | grep -c new || true"),
        "0\n"
    );
    assert_eq!(secrets(&node), before, "every Secret reads as before");
    node.kubectl(&["create", "secret", "generic", "later", "--from-literal=a=b"]);
    assert_eq!(keys_in_etcd(&node), ["key2"].map(String::from).into());
    node.becomes_verified("the rotation", CALL);
    refuses_what_it_does_not_understand(&node);
    system_namespaces_have_policies(&node);
}

fn make_secrets(node: &Node) -> Vec<String> {
    let make = format!(
        "for n in $(seq {SECRETS}); do echo '---'; kubectl create secret generic s$n \
         --from-literal=word=w$n --dry-run=client -o yaml; done | \
         kubectl --kubeconfig /etc/kubernetes/admin.conf create -f -"
    );
    node.sh(&make);
    secrets(node)
}

/// Lists all Secrets with their contents, as the API returns them.
fn secrets(node: &Node) -> Vec<String> {
    let list = node.kubectl(&["get", "secrets", "-A", "-o", "json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let items = list["items"].as_array().unwrap();
    let text = |item: &Value| {
        let metadata = &item["metadata"];
        format!(
            "{}/{} {}",
            metadata["namespace"], metadata["name"], item["data"]
        )
    };
    items.iter().map(text).collect()
}

/// Asks etcd itself by which keys Secrets are encrypted; all of them must be.
fn keys_in_etcd(node: &Node) -> BTreeSet<String> {
    let pki = "/etc/kubernetes/pki/etcd";
    let pod = format!("etcd-{}", node.machine.name().as_str());
    let (ca, cert) = (
        format!("--cacert={pki}/ca.crt"),
        format!("--cert={pki}/server.crt"),
    );
    let key = format!("--key={pki}/server.key");
    let words = [
        "exec",
        "--namespace=kube-system",
        &pod,
        "--",
        "etcdctl",
        "--endpoints=https://127.0.0.1:2379",
        &ca,
        &cert,
        &key,
        "get",
        "/registry/secrets/",
        "--prefix",
        "--write-out=json",
    ];
    let found: Value = serde_json::from_str(&node.kubectl(&words)).unwrap();
    let pairs = found["kvs"].as_array().unwrap();
    assert!(pairs.len() >= SECRETS, "{}", pairs.len());
    let key = |pair: &Value| {
        let value = BASE64_STANDARD
            .decode(pair["value"].as_str().unwrap())
            .unwrap();
        let text = String::from_utf8_lossy(&value).into_owned();
        let rest = text.strip_prefix("k8s:enc:secretbox:v1:");
        let rest = rest.unwrap_or_else(|| unreachable!("not encrypted: {:?}", pair["key"]));
        rest.split(':').next().unwrap().to_owned()
    };
    pairs.iter().map(key).collect()
}

fn changes_nothing(node: &Node) {
    let before = std::fs::read(file_of(node)).unwrap();
    let said = node.ends_with(0, &[&ROTATE[..], &["--dry-run"]].concat());
    assert!(said.stdout.contains("a new key, key2"), "{said:#?}");
    assert_eq!(std::fs::read(file_of(node)).unwrap(), before);
}

/// Calls the command and kills it as soon as the file holds exactly these keys.
fn kill_when(node: &Node, keys: &[&str]) {
    let file = file_of(node);
    let mut child = node.start(&ROTATE);
    let began = Instant::now();
    while keys_in(&file) != keys || inner(child.id()).is_none() {
        if let Some(status) = child.try_wait().unwrap() {
            let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            unreachable!("it ended with {status} before {keys:?}: {said}");
        }
        assert!(
            began.elapsed() < CALL,
            "never {keys:?}: {:?}",
            keys_in(&file)
        );
        std::thread::sleep(LOOKS);
    }
    kill_process(inner(child.id()).unwrap(), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(keys_in(&file), keys);
}

/// Returns the file, seen from outside through the machine's first process.
fn file_of(node: &Node) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{FILE}", leader(node)))
}

fn keys_in(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let names = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- name: "));
    names.map(str::to_owned).collect()
}

fn refuses_what_it_does_not_understand(node: &Node) {
    let good = node.sh(&format!("cat {FILE}"));
    let bad = good.replace("EncryptionConfiguration", "Other");
    node.write(FILE, &bad);
    node.ends_with(9, &ROTATE);
    assert_eq!(node.sh(&format!("cat {FILE}")), bad);
    node.write(FILE, &good);
}

fn system_namespaces_have_policies(node: &Node) {
    let path = "jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}";
    let found = node.kubectl(&["get", "networkpolicies", "-A", "-o", path]);
    let wanted = "bootlace-system/default-deny-ingress kube-system/allow-dns kube-system/default-deny-ingress ";
    assert_eq!(found, wanted);
}
