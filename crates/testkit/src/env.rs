//! What a test needs beside the machine: settings, sample configs, options, an observer.

use std::sync::{Mutex, PoisonError};

use bootlace_engine::port::HostResult;
use bootlace_engine::{Observer, Options};
use bootlace_model::config::{Paths, ReleaseSource, Settings};
use bootlace_model::event::Event;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::view::ExplainedStep;

use crate::fake::FakeHost;

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

/// Prepares the folders that every machine has, so that undo has none of them to remove.
pub fn plain_world(host: &FakeHost) -> HostResult<()> {
    host.set_up(|world| {
        for folder in ["/etc", "/opt", "/var/lib"] {
            world.make_folder(folder)?;
        }
        Ok(())
    })
}

/// Settings with manifests and a release folder, which [`full_world`] puts on the machine.
pub fn full_settings() -> Settings {
    let mut settings = settings();
    settings.cluster.name = "demo".into();
    settings.cluster.manifests = vec![at("/inputs/manifests"), at("/inputs/more")];
    settings.cluster.release = ReleaseSource::Dir {
        path: at("/inputs/release"),
        digest: None,
    };
    settings
}

/// The images of the release that [`full_world`] puts on the machine.
const IMAGES: [&str; 6] = [
    "bootlace",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "pause",
];

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

/// Prepares the machine for [`full_settings`]: manifests and a release, as inputs.
pub fn full_world(host: &FakeHost) -> HostResult<()> {
    plain_world(host)?;
    let tags: Vec<serde_json::Value> = IMAGES
        .iter()
        .map(|name| {
            let image = format!("quay.io/demo/{name}@{}", Digest::of(name.as_bytes()));
            serde_json::json!({"name": name, "from": {"name": image}})
        })
        .collect();
    let references = serde_json::json!({"kind": "ImageStream", "spec": {"tags": tags}});
    let config_map = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n"
        )
    };
    host.set_up(|world| {
        let release = "/inputs/release/release-manifests";
        world.write(
            &format!("{release}/image-references"),
            references.to_string().as_bytes(),
        )?;
        world.write(
            &format!("{release}/release-metadata"),
            br#"{"version": "4.99.0"}"#,
        )?;
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

    fn may_start(&self, step: &ExplainedStep) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(step.id.clone());
        self.stop_after.is_none_or(|most| asked.len() <= most)
    }
}
