//! What is known of a machine: what its static pods are started with, its kubelet's settings, and
//! who may read its files.

use bootlace_model::fact::{Ask, Fact, FactError, Facts, FileContent};
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{FileTree, Probe};
use bootlace_model::survey::{Places, Seen, Survey};
use serde_json::Value;

use super::certificate::common_name;
use super::flags::{Flags, flags};
use super::kubelet::{self, Kubelet, text};
use super::pki::{self, Found, PKI};
use crate::assets::machine;
use crate::documents::documents;
use crate::machine_files::{MACHINE_FOLDERS, machine_files};

/// The most that is read of a file or a folder.
const LIMIT: u64 = 16 << 20;

const SERVING: Fact<FileContent> = Fact::new("benchmark.kubelet-serving");
const RELEASE: Fact<FileTree> = Fact::new("benchmark.release");
const PKI_FILES: Fact<FileTree> = Fact::new("benchmark.pki");
const FILES: Fact<Survey> = Fact::new("benchmark.files");

/// The kubelet's certificate.
pub(super) const SERVING_CERTIFICATE: &str = "/etc/kubernetes/pki/kubelet-serving.crt";

/// A config that the API server reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiConfig {
    Authentication,
    Encryption,
}

impl ApiConfig {
    const ALL: [Self; 2] = [Self::Authentication, Self::Encryption];

    /// Returns where it is on a machine.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Authentication => "/etc/kubernetes/configs/authentication.yaml",
            Self::Encryption => "/etc/kubernetes/configs/encryption.yaml",
        }
    }

    /// Returns the flag that names it.
    pub(super) const fn flag(self) -> &'static str {
        match self {
            Self::Authentication => "authentication-config",
            Self::Encryption => "encryption-provider-config",
        }
    }

    const fn fact(self) -> Fact<FileContent> {
        Fact::new(match self {
            Self::Authentication => "benchmark.authentication",
            Self::Encryption => "benchmark.encryption",
        })
    }
}

/// A program of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
}

impl Program {
    pub(super) const ALL: [Self; 4] = [
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

/// Lists what has to be asked first.
pub(super) fn asks() -> Vec<Ask> {
    let mut asks = vec![
        SERVING.from(read(SERVING_CERTIFICATE)),
        RELEASE.from(tree("etc/kubernetes/release-manifests")),
        PKI_FILES.from(tree(PKI)),
    ];
    asks.extend(Program::ALL.map(|program| program.fact().from(read(program.manifest()))));
    asks.extend(ApiConfig::ALL.map(|config| config.fact().from(read(config.path()))));
    asks.extend(kubelet::asks());
    asks
}

/// Asks what a file holds.
pub(super) fn read(path: &'static str) -> Probe {
    Probe::ReadFile {
        path: machine(path.trim_start_matches('/')),
        limit: LIMIT,
    }
}

/// Asks what the files of a folder hold.
pub(super) fn tree(path: &'static str) -> Probe {
    Probe::ReadTree {
        path: machine(path.trim_start_matches('/')),
        limit: LIMIT,
    }
}

/// Lists what has to be asked once it is known which keys and certificates there are.
pub(super) fn asks_then(facts: &Facts) -> Result<Vec<Ask>, FactError> {
    let files = machine_files().map(|file| file.machine);
    let folders = MACHINE_FOLDERS.iter().map(|(folder, _)| *folder);
    let known = files.chain(folders).chain(MADE_LATER).map(machine);
    let found = pki::found(&facts.get(&PKI_FILES)?);
    let survey = Places {
        paths: known.chain(found.into_iter().map(|it| it.path)).collect(),
        ..Places::default()
    };
    Ok(vec![FILES.from(Probe::Survey(survey))])
}

/// What is known of a machine.
#[derive(Debug)]
pub(super) struct Machine {
    /// The control plane's pods; none if a manifest is missing or invalid.
    pods: [Option<(Value, Flags)>; 4],
    configs: [Value; 2],
    kubelet: Result<Kubelet, String>,
    serving: Option<String>,
    proxy: Value,
    pki: Vec<Found>,
    files: Survey,
}

impl Machine {
    /// Reads what was asked first, and then.
    pub(super) fn read(facts: &Facts, then: &Facts) -> Result<Self, FactError> {
        let mut pods = [const { None }; 4];
        for (pod, program) in pods.iter_mut().zip(Program::ALL) {
            let manifest = facts.get(&program.fact())?.0;
            *pod = manifest.as_deref().and_then(with_flags);
        }
        let mut configs = [const { Value::Null }; 2];
        for (config, which) in configs.iter_mut().zip(ApiConfig::ALL) {
            let content = facts.get(&which.fact())?.0.unwrap_or_default();
            *config = first(&content).unwrap_or_default();
        }
        let serving = facts.get(&SERVING)?.0;
        Ok(Self {
            pods,
            configs,
            kubelet: Kubelet::read(facts)?,
            serving: serving.as_deref().and_then(common_name),
            proxy: proxy(&facts.get(&RELEASE)?),
            pki: pki::found(&facts.get(&PKI_FILES)?),
            files: then.get(&FILES)?,
        })
    }

    fn pod(&self, program: Program) -> Result<&(Value, Flags), String> {
        let position = Program::ALL.iter().position(|it| *it == program);
        let pod = position.and_then(|at| self.pods[at].as_ref());
        pod.ok_or_else(|| format!("no pod in /{}", program.manifest()))
    }

    /// Returns a flag of a program; an error if it is not known what the program is started with.
    pub(super) fn flag(&self, program: Program, flag: &str) -> Result<Option<&str>, String> {
        let (_, flags) = self.pod(program)?;
        Ok(flags.get(flag).map(String::as_str))
    }

    /// Returns when a program's image is pulled, if its manifest says so.
    pub(super) fn pull_policy(&self, program: Program) -> Result<Option<&str>, String> {
        let (pod, _) = self.pod(program)?;
        let policy = pod.pointer("/spec/containers/0/imagePullPolicy");
        Ok(policy.and_then(Value::as_str))
    }

    /// Returns the number of the account that a program runs as, if its manifest says so.
    pub(super) fn account(&self, program: Program) -> Option<u32> {
        let (pod, _) = self.pod(program).ok()?;
        let of = |place: &str| pod.pointer(&format!("{place}/securityContext/runAsUser"));
        let account = of("/spec/containers/0").or_else(|| of("/spec"));
        u32::try_from(account?.as_u64()?).ok()
    }

    /// Returns a config of the API server; an error if the API server reads another one.
    pub(super) fn api_config(&self, config: ApiConfig) -> Result<&Value, String> {
        let (flag, path) = (config.flag(), config.path());
        match self.flag(Program::ApiServer, flag)? {
            None => return Err(format!("--{flag} is not set")),
            Some(other) if other != path => {
                return Err(format!("--{flag} is {other}, not {path}"));
            }
            Some(_) => {}
        }
        let position = ApiConfig::ALL.iter().position(|it| *it == config);
        let value = position.map(|at| &self.configs[at]);
        let value = value.filter(|value| value.is_object());
        value.ok_or_else(|| format!("no config in {path}"))
    }

    /// Returns a setting of the kubelet; a flag wins over the config.
    pub(super) fn kubelet(&self, pointer: &str, flag: &str) -> Result<Option<String>, String> {
        let kubelet = self.kubelet.as_ref().map_err(Clone::clone)?;
        Ok(kubelet.setting(pointer, flag))
    }

    /// Returns the node's name in the kubelet's certificate.
    pub(super) fn certified_name(&self) -> Option<&str> {
        self.serving.as_deref()?.strip_prefix("system:node:")
    }

    /// Returns everything in the folder of keys and certificates.
    pub(super) fn pki(&self) -> &[Found] {
        &self.pki
    }

    /// Returns a setting of kube-proxy, as the release has it.
    pub(super) fn proxy(&self, pointer: &str) -> Result<Option<String>, String> {
        if self.proxy.is_null() {
            return Err("no ConfigMap kube-proxy in /etc/kubernetes/release-manifests".into());
        }
        Ok(text(self.proxy.pointer(pointer)))
    }

    /// Returns what is at a path.
    pub(super) fn seen(&self, path: &TargetPath) -> Option<&Seen> {
        self.files.nodes.get(self.files.real(path))
    }
}

fn with_flags(manifest: &[u8]) -> Option<(Value, Flags)> {
    let pod = first(manifest)?;
    let container = pod.pointer("/spec/containers/0")?;
    let words = ["command", "args"].into_iter();
    let words = words.filter_map(|key| container[key].as_array()).flatten();
    let flags = flags(words.filter_map(Value::as_str));
    Some((pod, flags))
}

pub(super) fn first(content: &[u8]) -> Option<Value> {
    let mut documents = documents("", content).ok()?.into_iter();
    documents.next().map(|document| document.value)
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
