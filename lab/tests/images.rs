//! The images of the release: what is in them, and whether their programs work in there.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test unpacks images and runs what is in them, and may fail loudly"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use bootlace_lab::Lab;
use serde_json::Value;
use tempfile::TempDir;

/// What each image must hold beside the files that all of them have.
const HOLDS: [(&str, &[&str]); 9] = [
    ("bootlace", &["usr/local/bin/bootlace"]),
    ("busybox", &["bin/sh", "usr/bin/env", "root"]),
    ("coredns", &["usr/local/bin/coredns"]),
    ("etcd", &["usr/local/bin/etcd", "usr/local/bin/etcdctl"]),
    ("kube-apiserver", &["usr/local/bin/kube-apiserver"]),
    (
        "kube-controller-manager",
        &["usr/local/bin/kube-controller-manager"],
    ),
    ("kube-proxy", &["usr/local/bin/kube-proxy", "usr/sbin/nft"]),
    ("kube-scheduler", &["usr/local/bin/kube-scheduler"]),
    ("pause", &["pause"]),
];

/// Files of every image that has a network or looks up names.
const EVERYWHERE: [&str; 4] = ["tmp", "etc/passwd", "etc/group", "etc/nsswitch.conf"];

/// Files of every image of the upstream projects that runs a Go program.
const FROM_DEBIAN: [&str; 3] = [
    "etc/protocols",
    "etc/services",
    "etc/ssl/certs/ca-certificates.crt",
];

/// The blobs of the release's archive, by digest.
struct Bundle {
    blobs: BTreeMap<String, Vec<u8>>,
    index: Value,
}

impl Bundle {
    /// Reads the manifests, the configs and the index, and the layers of some images.
    fn open() -> Self {
        let lab = Lab::load().expect("`make lab` prepares the images");
        let mut archive = tar::Archive::new(File::open(lab.bundle).unwrap());
        let (mut blobs, mut index) = (BTreeMap::new(), Value::Null);
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            match path.strip_prefix("blobs/sha256/") {
                Some(digest) => drop(blobs.insert(format!("sha256:{digest}"), content)),
                None if path == "index.json" => index = serde_json::from_slice(&content).unwrap(),
                None => {}
            }
        }
        Self { blobs, index }
    }

    fn json(&self, digest: &Value) -> Value {
        serde_json::from_slice(&self.blobs[digest.as_str().unwrap()]).unwrap()
    }

    /// Returns the config and the layer of an image.
    fn image(&self, name: &str) -> (Value, &[u8]) {
        let named = |manifest: &&Value| {
            let full = manifest["annotations"]["io.containerd.image.name"].as_str();
            full.unwrap().contains(&format!("/{name}:"))
        };
        let mut manifests = self.index["manifests"].as_array().unwrap().iter();
        let manifest = self.json(&manifests.find(named).expect(name)["digest"]);
        let layer = manifest["layers"][0]["digest"].as_str().unwrap();
        (self.json(&manifest["config"]["digest"]), &self.blobs[layer])
    }

    /// Unpacks an image.
    fn unpack(&self, name: &str) -> TempDir {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let (_, layer) = self.image(name);
        let mut archive = tar::Archive::new(layer);
        archive.set_preserve_permissions(true);
        archive.unpack(folder.path()).unwrap();
        folder
    }
}

#[test]
#[ignore = "slow: reads all images; needs `lab prepare`"]
fn every_image_holds_what_its_program_needs() {
    let bundle = Bundle::open();
    for (name, own) in HOLDS {
        let (config, layer) = bundle.image(name);
        let mut archive = tar::Archive::new(layer);
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            path.trim_end_matches('/').to_owned()
        });
        let paths: Vec<String> = entries.collect();
        let mut wanted = own.to_vec();
        if name != "pause" {
            wanted.extend(EVERYWHERE);
        }
        if !["pause", "bootlace"].contains(&name) {
            wanted.extend(FROM_DEBIAN);
        }
        let missing = wanted
            .iter()
            .filter(|path| !paths.contains(&(**path).to_owned()));
        let missing: Vec<&&str> = missing.collect();
        assert!(missing.is_empty(), "{name} lacks {missing:?}");
        let path = config["config"]["Env"][0].as_str().unwrap();
        assert!(path.starts_with("PATH=/usr/local/sbin:"), "{name}: {path}");
        let user = config["config"].get("User").and_then(Value::as_str);
        let expected = (name == "pause").then_some("65535:65535");
        assert_eq!(user, expected, "{name}");
    }
}

/// Runs `nft` of the image at the first argument with each of the others.
const EACH: &str = r#"set -e
root=$1
shift
for line in "$@"; do chroot "$root" /usr/sbin/nft "$line"; done
"#;

#[test]
#[ignore = "slow: unpacks an image; needs root and `lab prepare`"]
fn nft_in_the_image_of_kube_proxy_names_protocols() {
    let root = Bundle::open().unpack("kube-proxy");
    // kube-proxy compares what it wants with what nft lists, by text, and deletes the rest.
    let map = "ip t services { type ipv4_addr . inet_proto . inet_service : verdict ; }";
    let both = "{ 10.96.0.10 . udp . 53 : drop, 10.96.0.10 . tcp . 53 : drop }";
    let lines = [
        "add table ip t".to_owned(),
        format!("add map {map}"),
        format!("add element ip t services {both}"),
        "list map ip t services".to_owned(),
    ];
    // In a network of its own, so that the rules of this computer stay as they are.
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", EACH, "sh"]);
    let done = command.arg(root.path()).args(lines).output().unwrap();
    let listed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{done:?}");
    for element in ["10.96.0.10 . udp . 53", "10.96.0.10 . tcp . 53"] {
        assert!(listed.contains(element), "{listed}");
    }
}

#[test]
#[ignore = "slow: unpacks an image; needs root and `lab prepare`"]
fn busybox_asks_with_a_deadline_and_keeps_names_with_dashes() {
    let root = Bundle::open().unpack("busybox");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        for client in listener.incoming().take(2) {
            let mut client = client.unwrap();
            let mut request = [0; 1024];
            assert_ne!(client.read(&mut request).unwrap(), 0);
            client
                .write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")
                .unwrap();
        }
    });
    std::fs::write(root.path().join("etc/hosts"), "127.0.0.1 here\n").unwrap();
    for host in ["127.0.0.1", "here"] {
        let url = format!("http://{host}:{port}/");
        let mut command = Command::new("chroot");
        command
            .arg(root.path())
            .env("PATH", "/usr/bin:/usr/sbin:/bin");
        command.args(["wget", "-T", "5", "-q", "-O", "-", &url]);
        let done = command.output().unwrap();
        assert_eq!(done.stdout, b"hello\n", "{url}: {done:?}");
    }
    server.join().unwrap();

    let mut command = Command::new("chroot");
    command.arg(root.path()).args(["/bin/sh", "-c", "env"]);
    command.env_clear().env("with-dash", "kept");
    let done = command
        .env("PATH", "/usr/bin:/usr/sbin:/bin")
        .output()
        .unwrap();
    let kept = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(kept.lines().any(|line| line == "with-dash=kept"), "{kept}");
}
