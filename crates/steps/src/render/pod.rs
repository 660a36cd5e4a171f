//! A static pod of the control plane: one container on the host's network.

use serde_json::{Map, Value, json};

/// The priority of the class `system-node-critical`, which no API server fills in for a static pod.
const CRITICAL: u32 = 2_000_001_000;

/// How long a component may take to start before the kubelet starts it again: four minutes, as long
/// as kubeadm waits.
const STARTS: u32 = 240;

/// A folder or a file of the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mount {
    name: &'static str,
    /// Where it lies on the machine.
    path: &'static str,
    /// Where the container sees it.
    inside: &'static str,
    kind: Kind,
}

/// What must be there before a pod starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    Data,
}

/// How the kubelet asks a component whether it is well.
#[derive(Debug)]
pub(super) struct Probes {
    /// `HTTP` or `HTTPS`.
    pub(super) scheme: &'static str,
    /// Where.
    pub(super) host: String,
    /// At which port.
    pub(super) port: u16,
    /// Whether it must be started again.
    pub(super) live: &'static str,
    /// Whether it can work, if it says so.
    pub(super) ready: Option<&'static str>,
}

/// A static pod.
#[derive(Debug)]
pub(super) struct StaticPod<'a> {
    /// Its name, and the name of its container.
    pub(super) name: &'static str,
    /// Its image.
    pub(super) image: &'a str,
    /// The program, and what of its words are no flags.
    pub(super) program: &'static [&'static str],
    /// The program's flags, without the dashes, in the order in which they are written.
    pub(super) flags: Vec<(&'static str, String)>,
    /// What it sees of the machine.
    pub(super) mounts: &'static [Mount],
    /// How it is asked, if it answers.
    pub(super) probes: Option<Probes>,
    /// What it asks for at least.
    pub(super) requests: Value,
    /// What others look for.
    pub(super) annotations: Map<String, Value>,
}

impl StaticPod<'_> {
    /// Writes the pod.
    pub(super) fn object(self) -> Value {
        let mut container = json!({
            "name": self.name,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": command(self.program, &self.flags),
            "resources": {"requests": self.requests},
            "volumeMounts": self.mounts.iter().map(Mount::mount).collect::<Vec<_>>(),
        });
        if let (Value::Object(container), Some(probes)) = (&mut container, &self.probes) {
            probes.write(container);
        }
        let mut metadata = json!({
            "name": self.name,
            "namespace": "kube-system",
            "labels": {"component": self.name, "tier": "control-plane"},
        });
        if !self.annotations.is_empty() {
            metadata["annotations"] = Value::Object(self.annotations);
        }
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {
                "containers": [container],
                "hostNetwork": true,
                "priority": CRITICAL,
                "priorityClassName": "system-node-critical",
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                "volumes": self.mounts.iter().map(Mount::volume).collect::<Vec<_>>(),
            },
        })
    }
}

/// Writes a program and its flags.
pub(super) fn command(program: &[&str], flags: &[(&'static str, String)]) -> Vec<String> {
    let program = program.iter().map(|word| (*word).to_owned());
    let flags = flags
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    program.chain(flags).collect()
}

impl Mount {
    const fn new(name: &'static str, path: &'static str, kind: Kind) -> Self {
        Self {
            name,
            path,
            inside: path,
            kind,
        }
    }

    /// A folder that is only read, seen at the same path.
    pub(super) const fn folder(name: &'static str, path: &'static str) -> Self {
        Self::new(name, path, Kind::Folder)
    }

    /// A file that is only read, seen at the same path.
    pub(super) const fn file(name: &'static str, path: &'static str) -> Self {
        Self::new(name, path, Kind::File)
    }

    /// A folder that is made if it is absent, and written.
    pub(super) const fn data(name: &'static str, path: &'static str) -> Self {
        Self::new(name, path, Kind::Data)
    }

    /// Shows it to the container at another path.
    pub(super) const fn at(mut self, inside: &'static str) -> Self {
        self.inside = inside;
        self
    }

    /// Writes what the container sees.
    pub(super) fn mount(&self) -> Value {
        let mut mount = json!({"name": self.name, "mountPath": self.inside});
        if self.kind != Kind::Data {
            mount["readOnly"] = true.into();
        }
        mount
    }

    /// Writes where it comes from.
    pub(super) fn volume(&self) -> Value {
        // Only data may be made on the way: an empty folder in place of keys would hide that they
        // are missing.
        let kind = match self.kind {
            Kind::Folder => "Directory",
            Kind::File => "File",
            Kind::Data => "DirectoryOrCreate",
        };
        json!({"name": self.name, "hostPath": {"path": self.path, "type": kind}})
    }
}

impl Probes {
    /// Adds the probes to a container. A start is asked for every second, so that a component counts
    /// as ready when it is; one that runs is asked rarely, and patiently.
    fn write(&self, container: &mut Map<String, Value>) {
        container.insert("startupProbe".into(), self.probe(self.live, 1, STARTS));
        container.insert("livenessProbe".into(), self.probe(self.live, 10, 8));
        if let Some(ready) = self.ready {
            container.insert("readinessProbe".into(), self.probe(ready, 1, 3));
        }
    }

    fn probe(&self, path: &str, period: u32, failures: u32) -> Value {
        json!({
            "httpGet": {
                "host": self.host,
                "path": path,
                "port": self.port,
                "scheme": self.scheme,
            },
            "periodSeconds": period,
            "timeoutSeconds": 15,
            "failureThreshold": failures,
        })
    }
}
