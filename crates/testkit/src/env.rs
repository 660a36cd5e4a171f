//! What a test needs beside the machine: settings, sample configs, options, an observer.

use std::sync::{Mutex, PoisonError};

use bootlace_engine::port::HostResult;
use bootlace_engine::{Observer, Options};
use bootlace_model::config::{Paths, ReleaseSource, RendererImage, Settings};
use bootlace_model::event::Event;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::view::{ExplainedStep, PlannedStep};
use serde_json::json;

use crate::fake::{FakeHost, World, archive, podman, printed};

/// Names a path; one that cannot be a path is the root, which no test expects.
fn at(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap_or_else(|_| TargetPath::root())
}

/// The usual places on a target.
pub fn paths() -> Paths {
    Paths {
        assets: at("/opt/bootlace"),
        state: at("/var/lib/bootlace"),
    }
}

/// The settings that hold without a config.
pub fn settings() -> Settings {
    Settings::defaults(paths())
}

/// The images that a machine needs, and how they are called without a release.
const IMAGES: [(&str, &str); 6] = [
    (
        "bootlace",
        concat!("localhost/bootlace:v", env!("CARGO_PKG_VERSION")),
    ),
    ("etcd", "registry.k8s.io/etcd:3.7.3-0"),
    ("kube-apiserver", "registry.k8s.io/kube-apiserver:v1.36.3"),
    (
        "kube-controller-manager",
        "registry.k8s.io/kube-controller-manager:v1.36.3",
    ),
    ("kube-scheduler", "registry.k8s.io/kube-scheduler:v1.36.3"),
    ("pause", "registry.k8s.io/pause:3.10.1"),
];

/// Prepares a machine that a control plane can be started on, with its images loaded.
pub fn plain_world(host: &FakeHost) -> HostResult<()> {
    bare_world(host)?;
    host.set_up(|world| world.load_images(&IMAGES.map(|(_, image)| image)))
}

/// Prepares a machine with a kubelet and a container runtime, and the folders that every machine
/// has, so that undo has none of them to remove.
fn bare_world(host: &FakeHost) -> HostResult<()> {
    host.program("/usr/bin/kubelet", |_, _| Ok(printed("Kubernetes v1.36.3")));
    host.program("ip", |_, _| Ok(printed("10.96.0.1 via 192.0.2.1 dev eth0")));
    host.set_up(|world| {
        for folder in ["/etc/systemd/system", "/opt", "/var/lib"] {
            world.make_folder(folder)?;
        }
        world.install_unit("containerd.service", true)?;
        world.start_unit("containerd.service")
    })
}

/// Settings with an image that renders a stage, which [`image_world`] can run.
pub fn image_settings() -> Settings {
    let mut settings = settings();
    let digest = Digest::of(b"renderer");
    let renderer = RendererImage {
        image: format!("registry.example/renderer@{digest}"),
        arguments: vec![],
    };
    let images = &mut settings.cluster.rendering.images;
    images.insert("ingress".into(), renderer);
    settings
}

/// What the image of [`image_settings`] renders: what is asked for, and something else.
const RENDERED: [(&str, &str); 3] = [
    (
        "manifests/ingress-class.yaml",
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: foreign}\n\
         spec: {controller: example.com/foreign}\n",
    ),
    ("manifests/extra.json", EXTRA),
    ("notes/read.me", "rendered elsewhere\n"),
];

/// An object that no renderer of ours writes.
const EXTRA: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}"#;

/// Prepares a machine with a podman that renders.
pub fn image_world(host: &FakeHost) -> HostResult<()> {
    plain_world(host)?;
    mend_podman(host);
    Ok(())
}

/// Gives a machine a podman that renders, in place of the one that it has.
pub fn mend_podman(host: &FakeHost) {
    host.program("podman", |command, world| podman(command, world, &RENDERED));
}

/// Settings with manifests and a release folder, which [`full_world`] puts on the machine.
pub fn full_settings() -> Settings {
    let mut settings = settings();
    settings.cluster.name = "demo".into();
    settings.cluster.add_ons = Some(at("/inputs/add-ons"));
    settings.cluster.manifests = vec![at("/inputs/manifests"), at("/inputs/more")];
    settings.cluster.release = ReleaseSource::Dir {
        path: at("/inputs/release"),
        digest: None,
    };
    settings
}

/// What the user replaces of the release, what they want of it, and a config for their workers.
const MORE: [(&str, &str); 3] = [
    (
        "proxy.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: proxy, namespace: kube-system}}",
    ),
    (
        "version.yaml",
        "{apiVersion: bootlace.dev/v1alpha1, kind: ClusterVersion, metadata: {name: version}}",
    ),
    (
        "worker.yaml",
        "apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-quiet, labels: {machineconfiguration.openshift.io/role: worker}}
spec: {kernelArguments: [quiet]}
",
    ),
];

/// An add-on of the user.
const ADD_ONS: [(&str, &str); 2] = [
    (
        "10-web.yaml",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: web}, \
         spec: {replicas: 2}}",
    ),
    (
        "00-namespace.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: web}}",
    ),
];

/// Writes the release that [`full_settings`] name, with an archive of its images beside it.
fn write_release(world: &mut World<'_>) -> HostResult<()> {
    let images = IMAGES.map(|(name, _)| {
        let digest = Digest::of(name.as_bytes());
        (name, format!("quay.io/demo/{name}@{digest}"))
    });
    let tags = images.each_ref();
    let tags = tags.map(|(name, image)| json!({"name": name, "from": {"name": image}}));
    let references = json!({"kind": "ImageStream", "spec": {"tags": tags}});
    let archive = archive(&images.each_ref().map(|(_, image)| image.as_str()));
    let listed = images
        .each_ref()
        .map(|(_, image)| json!({"reference": image}));
    let digest = Digest::of(&archive);
    let bundle = json!({"archive": {"file": "images.tar", "digest": digest}, "images": listed});
    let write = |world: &mut World<'_>, name: &str, content: &serde_json::Value| {
        let path = format!("/inputs/release/{name}");
        world.write(&path, content.to_string().as_bytes())
    };
    write(world, "release-manifests/image-references", &references)?;
    write(
        world,
        "release-manifests/release-metadata",
        &json!({"version": "4.99.0"}),
    )?;
    write(world, "images/bundle.json", &bundle)?;
    world.write("/inputs/images.tar", &archive)
}

/// Prepares the machine for [`full_settings`]: manifests and a release, as inputs.
pub fn full_world(host: &FakeHost) -> HostResult<()> {
    bare_world(host)?;
    let config_map = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n"
        )
    };
    host.set_up(|world| {
        let release = "/inputs/release/release-manifests";
        write_release(world)?;
        world.write(
            &format!("{release}/0000_10_proxy.yaml"),
            config_map("proxy")
                .replace("default", "kube-system")
                .as_bytes(),
        )?;
        for (name, text) in MORE {
            world.write(&format!("/inputs/more/{name}"), text.as_bytes())?;
        }
        // A token that the user brings; the folder is theirs, too.
        world.write(
            "/opt/bootlace/auth/bootstrap-token",
            b"abcdef.0123456789abcdef\n",
        )?;
        for (name, text) in ADD_ONS {
            world.write(&format!("/inputs/add-ons/{name}"), text.as_bytes())?;
        }
        world.write("/inputs/manifests/one.yaml", config_map("one").as_bytes())?;
        world.write(
            "/inputs/manifests/below/two.yaml",
            config_map("two").as_bytes(),
        )?;
        world.write("/inputs/more/three.yaml", config_map("three").as_bytes())?;
        world.make_input(&at("/inputs"));
        Ok(())
    })
}

/// Makes options that repeat: turns are taken in one thread, in the order of the seed.
pub fn options(seed: u64) -> Options {
    Options {
        interleave: Some(seed),
        jobs: 4,
        ..Options::new("test")
    }
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy)]
pub struct Unseen;

impl Observer for Unseen {
    fn on(&self, _: &Event) {}
}

/// An observer that remembers everything, and lets a paused run take a number of steps.
#[derive(Debug, Default)]
pub struct Recorder {
    events: Mutex<Vec<Event>>,
    asked: Mutex<Vec<String>>,
    /// After how many steps a paused run is stopped; never if none is given.
    pub stop_after: Option<usize>,
}

impl Recorder {
    /// Returns what happened so far.
    pub fn events(&self) -> Vec<Event> {
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the steps before which it was asked.
    pub fn asked(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Observer for Recorder {
    fn on(&self, event: &Event) {
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event.clone());
    }

    fn may_start(&self, step: &ExplainedStep, _plan: &PlannedStep) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(step.id.clone());
        self.stop_after.is_none_or(|most| asked.len() <= most)
    }
}
