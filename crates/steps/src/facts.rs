//! What is known of the world when a step is planned, each fact with its type.
//!
//! A fact is either asked by the step that uses it, or yielded by an earlier step that it needs.
//! Names stand in journals, so they are for ever.

use std::collections::BTreeMap;

use bootlace_model::fact::{Fact, FileContent};
use bootlace_model::ids::Digest;
use bootlace_model::probe::FileTree;

/// What this machine calls itself; asked by `prepare-assets`.
pub const MACHINE_NAME: Fact<String> = Fact::new("machine.name");

/// The node's name that the certificates speak for; yielded by `prepare-assets`.
pub const NODE_NAME: Fact<String> = Fact::new("node.name");

/// The folders of the user's manifests, in the order of the config; asked by `copy-manifests`, and
/// by renders that look into them.
///
/// Facts have fixed names, so there are only so many; more folders than that are refused.
pub static MANIFEST_FOLDERS: [Fact<FileTree>; 16] = [
    Fact::new("manifests.00"),
    Fact::new("manifests.01"),
    Fact::new("manifests.02"),
    Fact::new("manifests.03"),
    Fact::new("manifests.04"),
    Fact::new("manifests.05"),
    Fact::new("manifests.06"),
    Fact::new("manifests.07"),
    Fact::new("manifests.08"),
    Fact::new("manifests.09"),
    Fact::new("manifests.10"),
    Fact::new("manifests.11"),
    Fact::new("manifests.12"),
    Fact::new("manifests.13"),
    Fact::new("manifests.14"),
    Fact::new("manifests.15"),
];

/// What was copied, as `copy-manifests` listed it; asked by that step, by renders and by `clean-assets`.
pub const MANIFESTS_COPIED: Fact<FileContent> = Fact::new("manifests.copied");

/// The release payload's files; asked by `release-info` and by the render of its operator.
pub const RELEASE_TREE: Fact<FileTree> = Fact::new("release.tree");

/// The version of the release; yielded by `release-info`.
pub const RELEASE_VERSION: Fact<String> = Fact::new("release.version");

/// What the release payload hashes to, none for built-in names; yielded by `release-info`.
pub const RELEASE_DIGEST: Fact<Option<Digest>> = Fact::new("release.digest");

/// Whether every image is named by its digest; yielded by `release-info`.
pub const RELEASE_PINNED: Fact<bool> = Fact::new("release.pinned");

/// The list of the images that come with the release; asked by `start-control-plane`.
pub const BUNDLE: Fact<FileContent> = Fact::new("release.bundle");

/// Every object that the API is given first; asked by `start-control-plane`.
pub const MANIFESTS: Fact<FileTree> = Fact::new("manifests.all");

/// The release's manifests, as they were rendered; asked by `start-control-plane`.
pub const RELEASE_MANIFESTS: Fact<FileTree> = Fact::new("release.manifests");

/// The version operator's own objects; asked by `restore-overrides`.
pub const OPERATOR_MANIFESTS: Fact<FileTree> = Fact::new("manifests.operator");

/// The user's add-ons; asked by `add-ons`.
pub const ADD_ONS: Fact<FileTree> = Fact::new("add-ons");

/// Where each image is pulled from, by its name in the release; yielded by `release-info`.
pub const RELEASE_IMAGES: Fact<BTreeMap<String, String>> = Fact::new("release.images");

/// A bootstrap token that the user brought; asked by `render-auth`.
pub const BOOTSTRAP_TOKEN: Fact<FileContent> = Fact::new("auth.bootstrap-token");

/// What an earlier run rendered, as it listed it; asked by `render-api`.
pub const RENDER_API_LISTED: Fact<FileContent> = Fact::new("render-api.listed");

/// What an earlier run rendered, as it listed it; asked by `render-auth`.
pub const RENDER_AUTH_LISTED: Fact<FileContent> = Fact::new("render-auth.listed");

/// What an earlier run rendered, as it listed it; asked by `render-config`.
pub const RENDER_CONFIG_LISTED: Fact<FileContent> = Fact::new("render-config.listed");

/// What an earlier run rendered, as it listed it; asked by `render-version-operator`.
pub const RENDER_VERSION_OPERATOR_LISTED: Fact<FileContent> =
    Fact::new("render-version-operator.listed");

/// What an earlier run rendered, as it listed it; asked by `render-etcd`.
pub const RENDER_ETCD_LISTED: Fact<FileContent> = Fact::new("render-etcd.listed");

/// What an earlier run rendered, as it listed it; asked by `render-kube-apiserver`.
pub const RENDER_KUBE_APISERVER_LISTED: Fact<FileContent> =
    Fact::new("render-kube-apiserver.listed");

/// What an earlier run rendered, as it listed it; asked by `render-kube-controller-manager`.
pub const RENDER_KUBE_CONTROLLER_MANAGER_LISTED: Fact<FileContent> =
    Fact::new("render-kube-controller-manager.listed");

/// What an earlier run rendered, as it listed it; asked by `render-kube-scheduler`.
pub const RENDER_KUBE_SCHEDULER_LISTED: Fact<FileContent> =
    Fact::new("render-kube-scheduler.listed");

/// What an earlier run rendered, as it listed it; asked by `render-ingress`.
pub const RENDER_INGRESS_LISTED: Fact<FileContent> = Fact::new("render-ingress.listed");

/// What an earlier run rendered, as it listed it; asked by `render-machine-config`, and after it by
/// `clean-assets`.
pub const RENDER_MACHINE_CONFIG_LISTED: Fact<FileContent> =
    Fact::new("render-machine-config.listed");

/// When a step is planned; a bootstrap token is valid from then on. Asked by `start-control-plane`.
pub const NOW: Fact<jiff::Timestamp> = Fact::new("start-control-plane.now");

/// What an image wrote for a component, with what was made ready for it; asked by the stage that the
/// image renders.
pub static IMAGE_OUTPUTS: [(&str, Fact<FileTree>); 10] = [
    ("api", Fact::new("render-api.image")),
    ("auth", Fact::new("render-auth.image")),
    ("config", Fact::new("render-config.image")),
    (
        "version-operator",
        Fact::new("render-version-operator.image"),
    ),
    ("etcd", Fact::new("render-etcd.image")),
    ("kube-apiserver", Fact::new("render-kube-apiserver.image")),
    (
        "kube-controller-manager",
        Fact::new("render-kube-controller-manager.image"),
    ),
    ("kube-scheduler", Fact::new("render-kube-scheduler.image")),
    ("ingress", Fact::new("render-ingress.image")),
    ("machine-config", Fact::new("render-machine-config.image")),
];
