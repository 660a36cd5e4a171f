//! Operators as the tests run them: in the test's own process, or as one that can be killed.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bootlace_model::fault::Fault;
use bootlace_operator::{Access, Log, Options, Stop, node_network};

use crate::cluster::Cluster;

/// What a cluster has before the operator comes: its namespace, its kind, its one object, values.
pub(crate) const GROUND: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: bootlace-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-config, namespace: bootlace-system}
data: {podCIDR: 10.244.0.0/16, server: "https://127.0.0.1:6443"}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterversions.bootlace.dev}
spec:
  group: bootlace.dev
  scope: Cluster
  names: {kind: ClusterVersion, plural: clusterversions, singular: clusterversion, listKind: ClusterVersionList}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"#;

/// The `ClusterVersion`, with overrides as JSON.
pub(crate) fn version(overrides: &str) -> String {
    format!(
        "apiVersion: bootlace.dev/v1alpha1\nkind: ClusterVersion\nmetadata: {{name: version}}\nspec: \
         {{release: {{version: v1.36.3, image: registry.example/release, digest: 'sha256:aa'}}, \
         overrides: {overrides}}}\n"
    )
}

/// Makes the ground for an operator, and a folder for its release.
pub(crate) fn prepare(cluster: &Cluster, overrides: &str) -> PathBuf {
    cluster.apply(GROUND);
    let crd = "crd/clusterversions.bootlace.dev";
    cluster.kubectl(&["wait", "--for=condition=Established", crd, "--timeout=30s"]);
    cluster.apply(&version(overrides));
    let release = cluster.path("release");
    std::fs::create_dir_all(&release).unwrap();
    release
}

pub(crate) fn options(cluster: &Cluster) -> Options {
    Options {
        access: Access {
            kubeconfig: Some(cluster.kubeconfig()),
            server: None,
        },
        release_manifests: cluster.path("release"),
        resync: Duration::from_secs(2),
        timeout: Duration::from_secs(20),
        ..Options::default()
    }
}

/// A part of the product in the test's own process.
pub(crate) struct Background {
    stop: Stop,
    thread: Option<JoinHandle<Result<(), Fault>>>,
    lines: Arc<Mutex<Vec<String>>>,
}

/// What can run in the background.
pub(crate) trait Part: Send + 'static {
    fn run(self, log: Log, stop: &Stop) -> Result<(), Fault>;
}

impl Part for Options {
    fn run(self, log: Log, stop: &Stop) -> Result<(), Fault> {
        bootlace_operator::run(self, log, stop)
    }
}

impl Part for node_network::Options {
    fn run(self, log: Log, stop: &Stop) -> Result<(), Fault> {
        node_network::run(&self, &log, stop)
    }
}

impl Background {
    pub(crate) fn start(part: impl Part) -> Self {
        let lines = Arc::new(Mutex::new(vec![]));
        let log = Log::new({
            let lines = Arc::clone(&lines);
            move |line| {
                println!("said: {line}");
                lines.lock().unwrap().push(line.to_owned());
            }
        });
        let stop = Stop::default();
        let thread = std::thread::spawn({
            let stop = stop.clone();
            move || part.run(log, &stop)
        });
        Self {
            stop,
            thread: Some(thread),
            lines,
        }
    }

    pub(crate) fn has_said(&self, part: &str) -> bool {
        let lines = self.lines.lock().unwrap();
        lines.iter().any(|line| line.contains(part))
    }

    pub(crate) fn end(mut self) -> Result<(), Fault> {
        self.thread.take().unwrap().join().unwrap()
    }

    pub(crate) fn stop(self) -> Result<(), Fault> {
        self.stop.ask();
        self.end()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// An operator in a process of its own: this test program, told to be one.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(cluster: &Cluster, name: &str) -> Self {
        let log = std::fs::File::create(cluster.path(&format!("{name}.log"))).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "operators::helper_operator",
                "--nocapture",
            ])
            .env("BOOTLACE_TEST_KUBECONFIG", cluster.kubeconfig())
            .env("BOOTLACE_TEST_RELEASE", cluster.path("release"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_raw(self.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Returns whether it ended by itself and well.
    pub(crate) fn wait(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
#[ignore = "helper: other tests start it, as an operator that can be killed"]
fn helper_operator() {
    let given = |variable| std::env::var_os(variable).unwrap();
    let (kubeconfig, release) = (
        given("BOOTLACE_TEST_KUBECONFIG"),
        given("BOOTLACE_TEST_RELEASE"),
    );
    let options = Options {
        access: Access {
            kubeconfig: Some(kubeconfig.into()),
            server: None,
        },
        release_manifests: release.into(),
        ..Options::default()
    };
    let log = Log::new(|line| println!("{line}"));
    bootlace_operator::run(options, log, &Stop::default()).unwrap();
}
