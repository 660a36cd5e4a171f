//! What is known of a machine: what its static pods are started with, its kubelet's settings, and
//! who may read its files.

use std::collections::BTreeMap;

use bootlace_model::fact::{Ask, Fact, Facts, FileContent};
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{FileTree, Probe};
use bootlace_model::step::PlanError;
use bootlace_model::survey::{Places, Seen, Survey};
use serde_json::Value;

use crate::assets::machine;
use crate::documents::{documents, ending};
use crate::machine_files::{MACHINE_FOLDERS, machine_files};

/// The most that is read of a file or a folder.
const LIMIT: u64 = 16 << 20;

const KUBELET: Fact<FileContent> = Fact::new("benchmark.kubelet");
const KUBELET_DROPINS: Fact<FileTree> = Fact::new("benchmark.kubelet-dropins");
const KUBELET_ENV: Fact<FileContent> = Fact::new("benchmark.kubelet-env");
const RELEASE: Fact<FileTree> = Fact::new("benchmark.release");
const FILES: Fact<Survey> = Fact::new("benchmark.files");

/// A program of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
}

impl Program {
    const ALL: [Self; 4] = [
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
    ];

    /// Returns the manifest that the kubelet starts it from.
    pub(super) const fn manifest(self) -> &'static str {
        match self {
            Self::Etcd => "etc/kubernetes/manifests/etcd-pod.yaml",
            Self::ApiServer => "etc/kubernetes/manifests/kube-apiserver-pod.yaml",
            Self::ControllerManager => "etc/kubernetes/manifests/kube-controller-manager-pod.yaml",
            Self::Scheduler => "etc/kubernetes/manifests/kube-scheduler-pod.yaml",
        }
    }

    const fn fact(self) -> Fact<FileContent> {
        Fact::new(match self {
            Self::Etcd => "benchmark.etcd",
            Self::ApiServer => "benchmark.kube-apiserver",
            Self::ControllerManager => "benchmark.kube-controller-manager",
            Self::Scheduler => "benchmark.kube-scheduler",
        })
    }
}

/// Files that the benchmark looks at and `start-control-plane` does not write.
const MADE_LATER: [&str; 2] = ["etc/cni/net.d", "etc/cni/net.d/10-bootlace.conflist"];

/// Lists what has to be asked.
pub(super) fn asks() -> Vec<Ask> {
    let read = |path| Probe::ReadFile {
        path: machine(path),
        limit: LIMIT,
    };
    let tree = |path| Probe::ReadTree {
        path: machine(path),
        limit: LIMIT,
    };
    let files = machine_files().map(|file| file.machine);
    let folders = MACHINE_FOLDERS.iter().map(|(folder, _)| *folder);
    let paths = files.chain(folders).chain(MADE_LATER).map(machine);
    let survey = Places {
        paths: paths.collect(),
        ..Places::default()
    };
    let programs = Program::ALL.map(|program| program.fact().from(read(program.manifest())));
    let mut asks = programs.to_vec();
    asks.extend([
        KUBELET.from(read("var/lib/kubelet/config.yaml")),
        KUBELET_DROPINS.from(tree("etc/kubernetes/kubelet.conf.d")),
        KUBELET_ENV.from(read("etc/kubernetes/kubelet.env")),
        RELEASE.from(tree("etc/kubernetes/release-manifests")),
        FILES.from(Probe::Survey(survey)),
    ]);
    asks
}

/// A program's flags; none if its manifest is not there or makes no sense.
type Flags = Option<BTreeMap<String, String>>;

/// What is known of a machine.
#[derive(Debug)]
pub(super) struct Machine {
    programs: [Flags; 4],
    kubelet: Value,
    kubelet_flags: BTreeMap<String, String>,
    proxy: Value,
    files: Survey,
}

impl Machine {
    /// Reads the facts.
    pub(super) fn read(facts: &Facts) -> Result<Self, PlanError> {
        let mut programs = [const { None }; 4];
        for (flags, program) in programs.iter_mut().zip(Program::ALL) {
            let manifest = facts.get(&program.fact())?.0;
            *flags = manifest.as_deref().and_then(flags_of_pod);
        }
        let mut kubelet = Value::Null;
        let config = facts.get(&KUBELET)?.0.unwrap_or_default();
        let mut dropins = facts.get(&KUBELET_DROPINS)?.files;
        // The kubelet merges those whose names end so, in the order of their names.
        dropins.retain(|file| ending(&file.relative) == "conf");
        let dropins = dropins.into_iter().map(|file| file.content);
        for content in [config].into_iter().chain(dropins) {
            merge(&mut kubelet, first(&content).unwrap_or_default());
        }
        let env = facts.get(&KUBELET_ENV)?.0.unwrap_or_default();
        let env = String::from_utf8_lossy(&env).replace('"', " ");
        Ok(Self {
            programs,
            kubelet,
            kubelet_flags: flags(env.split(char::is_whitespace)),
            proxy: proxy(&facts.get(&RELEASE)?),
            files: facts.get(&FILES)?,
        })
    }

    /// Returns a flag of a program; an error if it is not known what the program is started with.
    pub(super) fn flag(&self, program: Program, flag: &str) -> Result<Option<&str>, String> {
        let position = Program::ALL.iter().position(|it| *it == program);
        let flags = position.and_then(|at| self.programs[at].as_ref());
        let flags = flags.ok_or_else(|| format!("no pod in /{}", program.manifest()))?;
        Ok(flags.get(flag).map(String::as_str))
    }

    /// Returns a setting of the kubelet; a flag wins over the config.
    pub(super) fn kubelet(&self, pointer: &str, flag: &str) -> Result<Option<String>, String> {
        if self.kubelet.is_null() {
            return Err("no kubelet config in /var/lib/kubelet/config.yaml".into());
        }
        let flag = self.kubelet_flags.get(flag).cloned();
        Ok(flag.or_else(|| text(self.kubelet.pointer(pointer))))
    }

    /// Returns a setting of kube-proxy, as the release has it.
    pub(super) fn proxy(&self, pointer: &str) -> Result<Option<String>, String> {
        if self.proxy.is_null() {
            return Err("no ConfigMap kube-proxy in /etc/kubernetes/release-manifests".into());
        }
        Ok(text(self.proxy.pointer(pointer)))
    }

    /// Returns the mode and the owner, as numbers, of a file or a folder.
    pub(super) fn node(&self, path: &TargetPath) -> Option<(u32, (u32, u32))> {
        let seen = self.files.nodes.get(self.files.real(path))?;
        match seen {
            Seen::File { mode, owner, .. } | Seen::Directory { mode, owner } => {
                Some((*mode, (owner.uid, owner.gid)))
            }
            _ => None,
        }
    }
}

/// Writes a setting as a flag would say it; lists are joined by commas.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let texts = values.iter().filter_map(|value| text(Some(value)));
            Some(texts.collect::<Vec<_>>().join(","))
        }
        other => Some(other.to_string()),
    }
}

fn flags<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let flag = |word: &'a str| {
        let word = word
            .trim_start_matches("KUBELET_ARGS=")
            .strip_prefix("--")?;
        // A flag alone is a switch that is on.
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        Some((name.to_owned(), value.to_owned()))
    };
    words.filter_map(flag).collect()
}

fn flags_of_pod(manifest: &[u8]) -> Flags {
    let pod = first(manifest)?;
    let container = pod.pointer("/spec/containers/0")?;
    let words = ["command", "args"].into_iter();
    let words = words.filter_map(|key| container[key].as_array()).flatten();
    Some(flags(words.filter_map(Value::as_str)))
}

fn first(content: &[u8]) -> Option<Value> {
    let mut documents = documents("", content).ok()?.into_iter();
    documents.next().map(|document| document.value)
}

/// Puts settings over others, as the kubelet does: maps key by key, everything else replaces.
fn merge(into: &mut Value, over: Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            for (key, value) in over {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, over) => *into = over,
    }
}

/// Finds kube-proxy's config among the release's objects.
fn proxy(release: &FileTree) -> Value {
    let objects = release.files.iter().flat_map(|file| {
        let read = documents(&file.relative, &file.content).unwrap_or_default();
        read.into_iter().map(|document| document.value)
    });
    let is_proxy = |object: &Value| {
        object["kind"] == "ConfigMap" && object["metadata"]["name"] == "kube-proxy"
    };
    let mut configs = objects.filter(is_proxy).filter_map(|object| {
        let data = object["data"].as_object()?.clone();
        let mut texts = data.values().filter_map(Value::as_str);
        texts.find_map(|text| {
            first(text.as_bytes()).filter(|config| config["kind"] == "KubeProxyConfiguration")
        })
    });
    configs.next().unwrap_or_default()
}
