//! Releases that are not what they should be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlace_machines::{Bind, MachineSpec};
use bootlace_model::ids::Digest;
use serde_json::Value;

use super::{containers_said, fails, was_named_soon, works_now};
use crate::world::{Node, World};

/// Where the machine sees the whole payload, to mend it with.
const WHOLE: &str = "/opt/whole";

/// A payload of a test's own: the lab's, with an archive that holds only the pause image.
struct Payload {
    folder: PathBuf,
}

impl Payload {
    fn new(world: &World) -> Self {
        let folder = world.machines.folder().join("payload");
        fs::create_dir(&folder).unwrap();
        let payload = Self { folder };
        copy(&world.lab.release, &payload.release());
        payload.write_archive(&world.lab.bundle, "pause");
        payload
    }

    fn release(&self) -> PathBuf {
        self.folder.join("release")
    }

    /// Writes an archive with one of another archive's images.
    fn write_archive(&self, from: &Path, image: &str) {
        let unpacked = self.folder.join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        let tar = |words: &[&str]| {
            let status = Command::new("tar")
                .current_dir(&unpacked)
                .args(words)
                .status();
            assert!(status.unwrap().success(), "tar {words:?}");
        };
        let from = from.to_str().unwrap();
        tar(&["-xf", from, "oci-layout", "index.json"]);
        let index = unpacked.join("index.json");
        let mut list: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
        let manifests = list["manifests"].as_array_mut().unwrap();
        manifests.retain(|manifest| manifest.to_string().contains(&format!("/{image}:")));
        assert!(!manifests.is_empty(), "no {image} in {from}");
        let blob = |digest: &Value| {
            let hex = digest.as_str().unwrap().strip_prefix("sha256:").unwrap();
            format!("blobs/sha256/{hex}")
        };
        for manifest in manifests.iter() {
            let name = blob(&manifest["digest"]);
            tar(&["-xf", from, &name]);
            let manifest: Value =
                serde_json::from_slice(&fs::read(unpacked.join(name)).unwrap()).unwrap();
            let layers = manifest["layers"].as_array().unwrap().iter();
            for part in layers.chain([&manifest["config"]]) {
                tar(&["-xf", from, &blob(&part["digest"])]);
            }
        }
        fs::write(&index, list.to_string()).unwrap();
        tar(&["-cf", "../bundle.tar", "oci-layout", "index.json", "blobs"]);
        fs::remove_dir_all(&unpacked).unwrap();
    }

    /// Changes the list of the archive's images.
    fn edit_list(&self, edit: impl FnOnce(&mut Value)) {
        let path = self.release().join("images/bundle.json");
        let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        edit(&mut list);
        fs::write(&path, list.to_string()).unwrap();
    }

    /// Makes the list's digest that of the archive.
    fn fit_digest(&self) {
        let archive = fs::read(self.folder.join("bundle.tar")).unwrap();
        let digest = Digest::of(&archive).to_string();
        self.edit_list(|list| list["archive"]["digest"] = digest.into());
    }

    /// Makes a machine that has all images but etcd's, and reads this payload.
    fn node(&self, world: &World) -> Node {
        let spec = world.spec_of("m1", 11, &self.release());
        let whole = Bind {
            from: world.lab.payload.clone(),
            to: WHOLE.into(),
            read_only: true,
        };
        let binds = spec.binds.iter().cloned().chain([whole]).collect();
        let node = world.create(MachineSpec { binds, ..spec });
        node.boot();
        let images = "ctr --namespace k8s.io images";
        node.sh(&format!(
            "{images} list --quiet | grep /etcd | xargs {images} remove --sync"
        ));
        node
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(status.unwrap().success());
}

/// Loads what the archive lacked.
fn load_all(node: &Node) {
    node.sh(&format!(
        "ctr --namespace k8s.io images import {WHOLE}/bundle.tar"
    ));
}

#[test]
#[ignore = "slow: a control plane on a machine"]
fn an_archive_of_images_that_is_not_what_it_should_be_is_named() {
    let world = World::new();
    let payload = Payload::new(&world);
    let node = payload.node(&world);
    exchanged(&node);
    payload.fit_digest();
    lacks_an_image(&node);
    payload.edit_list(|list| {
        let images = list["images"].as_array_mut().unwrap();
        images.retain(|image| image["name"] != "etcd");
    });
    nobody_brings_an_image(&node);
    load_all(&node);
    works_now(&node, &["resume", "cluster"]);
}

fn exchanged(node: &Node) {
    fails(node, 9, &["run", "cluster"], &["bundle.tar", "sha256:"]);
    let images = node.sh("ctr --namespace k8s.io images list --quiet");
    assert!(!images.contains("/etcd"), "{images}");
    assert_eq!(node.sh(&containers_said("")), "");
}

fn lacks_an_image(node: &Node) {
    let says = ["/etcd@sha256:", "is not in"];
    fails(node, 5, &["resume", "cluster"], &says);
    assert_eq!(node.step("start-control-plane"), "failed");
}

fn nobody_brings_an_image(node: &Node) {
    let says = ["/etcd@sha256:", "cannot be fetched", "ErrImagePull"];
    fails(node, 5, &["resume", "cluster"], &says);
    let said = "journalctl -u kubelet -o short-unix | grep -F ErrImagePull";
    was_named_soon(node, said);
}
