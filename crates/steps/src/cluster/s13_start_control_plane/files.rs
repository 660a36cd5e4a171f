//! The files of the asset folder, in the order in which the machine gets them.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Effect, MakeDirectory, Part, PutFile};
use bootlace_model::node::Attributes;
use bootlace_model::probe::FileTree;
use bootlace_model::step::PlanError;

use super::super::live::by;
use super::NAME;
use crate::assets::{asset, machine};
use crate::machine_files::{MACHINE_FOLDERS, MACHINE_TREES, MachineFile, machine_files};

/// When a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before anything runs.
    Config,
    /// A pod that runs before there is an API.
    FirstPod,
    /// A pod that needs the API, and would only fail and be restarted without it.
    LaterPod,
}

/// The pods that run before there is an API.
const FIRST: [&str; 2] = [
    "bootstrap-manifests/etcd-pod.yaml",
    "bootstrap-manifests/kube-apiserver-pod.yaml",
];

impl Turn {
    fn of(file: &MachineFile) -> Self {
        if FIRST.contains(&file.asset) {
            Self::FirstPod
        } else if file.asset.starts_with("bootstrap-manifests/") {
            Self::LaterPod
        } else {
            Self::Config
        }
    }
}

/// Returns the static pods that stay after the hand-over.
pub(super) fn staying_pods() -> impl Iterator<Item = &'static MachineFile> {
    machine_files().filter(|file| Turn::of(file) != Turn::Config && !file.bootstrap_only)
}

/// Returns the folders that must be there first.
pub(super) fn folders(settings: &Settings) -> impl Iterator<Item = Effect> {
    let of_nodes = settings.placement.is_kubelet();
    let used = MACHINE_FOLDERS.iter();
    let used = used.filter(move |(path, _)| of_nodes || !path.contains("kubelet"));
    used.map(|(path, mode)| {
        Effect::MakeDirectory(MakeDirectory {
            path: machine(path),
            attributes: Attributes::mode(*mode),
            origin: by(NAME),
        })
    })
}

/// Returns the release's manifests, from which the version operator works.
pub(super) fn tree(tree: &FileTree) -> Result<Vec<Effect>, PlanError> {
    let to = machine(MACHINE_TREES[0].1);
    let folder = Effect::MakeDirectory(MakeDirectory {
        path: to.clone(),
        attributes: Attributes::mode(0o755),
        origin: by(NAME),
    });
    let mut effects = vec![folder];
    for file in &tree.files {
        effects.push(Effect::PutFile(PutFile {
            path: to.join(&file.relative)?,
            body: Body::bytes(file.content.clone()),
            attributes: Attributes::mode(0o644),
            origin: by(NAME),
        }));
    }
    Ok(effects)
}

/// What only a kubelet, or what runs on its nodes, reads.
const OF_NODES: [&str; 6] = [
    "auth/kubelet.conf",
    "config-bootstrap/kubelet-config.yaml",
    "config-bootstrap/kubelet-sysctl.conf",
    "config-bootstrap/kubelet.env",
    "config-bootstrap/kubelet.service",
    "bootstrap-manifests/version-operator-pod.yaml",
];

fn is_used(settings: &Settings, file: &MachineFile) -> bool {
    (settings.placement.is_kubelet() || !OF_NODES.contains(&file.asset))
        && (!file.hardening || settings.cluster.security.is_hardened())
}

/// Returns the files whose turn it is.
pub(super) fn files(settings: &Settings, turn: Turn) -> impl Iterator<Item = Effect> {
    let in_turn = move |file: &&MachineFile| Turn::of(file) == turn;
    let mine = machine_files()
        .filter(in_turn)
        .filter(|file| is_used(settings, file));
    mine.map(|file| {
        Effect::PutFile(PutFile {
            path: machine(file.machine),
            body: Body::Compose(vec![Part::FileOf(asset(settings, file.asset))]),
            attributes: Attributes::mode(file.mode),
            origin: by(NAME),
        })
    })
}
