//! Which renderers there are: one table, a row each.

use bootlace_model::fault::Fault;

use super::content::RenderedFile;
use super::input::RenderInput;
use super::{
    api, auth, config, etcd, ingress, kube_apiserver, kube_controller_manager, kube_scheduler,
    machine_config, version_operator,
};

/// What the folder of `--asset-input-dir` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFolder {
    /// Keys and certificates.
    Tls,
    /// The user's own manifests.
    Manifests,
}

/// A renderer.
#[derive(Debug)]
pub struct Component {
    /// Its name, as people type it.
    pub name: &'static str,
    /// Other names that operators have for it.
    pub aliases: &'static [&'static str],
    /// The folder of the asset folder that its stage writes.
    pub output: &'static str,
    /// The image that `--manifest-image` replaces, by its name in the release.
    pub image: Option<&'static str>,
    /// What it reads.
    pub input: InputFolder,
    /// The keys and certificates that what it renders points at.
    pub tls: &'static [&'static str],
    /// Renders.
    render: fn(&RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault>,
}

impl Component {
    /// Every renderer, in the order of the stages.
    pub const ALL: &'static [Self] = TABLE;

    /// Finds a renderer by its name or by another name of it.
    pub fn find(name: &str) -> Option<&'static Self> {
        let mut all = TABLE.iter();
        all.find(|component| component.name == name || component.aliases.contains(&name))
    }

    /// Renders.
    pub fn render(&self, input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
        (self.render)(input)
    }
}

static TABLE: &[Component] = &[
    Component {
        name: "api",
        aliases: &[],
        output: "kube-apiserver-bootstrap",
        image: Some("kube-apiserver"),
        input: InputFolder::Tls,
        tls: API_SERVER,
        render: api::render,
    },
    Component {
        name: "auth",
        aliases: &[],
        output: "auth-bootstrap",
        image: None,
        input: InputFolder::Tls,
        tls: &["ca.crt"],
        render: auth::render,
    },
    Component {
        name: "config",
        aliases: &[],
        output: "config-bootstrap",
        image: None,
        input: InputFolder::Tls,
        tls: &["ca.crt", "kubelet-serving.crt", "kubelet-serving.key"],
        render: config::render,
    },
    Component {
        name: "version-operator",
        aliases: &["cvo"],
        output: "cvo-bootstrap",
        image: Some("bootlace"),
        input: InputFolder::Manifests,
        tls: &[],
        render: version_operator::render,
    },
    Component {
        name: "etcd",
        aliases: &[],
        output: "etcd-bootstrap",
        image: Some("etcd"),
        input: InputFolder::Tls,
        tls: &[
            "etcd/ca.crt",
            "etcd/server.crt",
            "etcd/server.key",
            "etcd/peer.crt",
            "etcd/peer.key",
        ],
        render: etcd::render,
    },
    Component {
        name: "kube-apiserver",
        aliases: &["kas"],
        output: "kube-apiserver",
        image: Some("kube-apiserver"),
        input: InputFolder::Tls,
        tls: API_SERVER,
        render: kube_apiserver::render,
    },
    Component {
        name: "kube-controller-manager",
        aliases: &["kcm"],
        output: "kube-controller-manager",
        image: Some("kube-controller-manager"),
        input: InputFolder::Tls,
        tls: &["ca.crt", "ca.key", "front-proxy-ca.crt", "sa.key"],
        render: kube_controller_manager::render,
    },
    Component {
        name: "kube-scheduler",
        aliases: &["ks"],
        output: "kube-scheduler",
        image: Some("kube-scheduler"),
        input: InputFolder::Tls,
        tls: &[],
        render: kube_scheduler::render,
    },
    Component {
        name: "ingress",
        aliases: &[],
        output: "ingress",
        image: None,
        input: InputFolder::Manifests,
        tls: &[],
        render: ingress::render,
    },
    Component {
        name: "machine-config",
        aliases: &["mco"],
        output: "mco-bootstrap",
        image: Some("pause"),
        input: InputFolder::Manifests,
        tls: &[],
        render: machine_config::render,
    },
];

/// The keys and certificates of the API server.
const API_SERVER: &[&str] = &[
    "ca.crt",
    "apiserver.crt",
    "apiserver.key",
    "apiserver-etcd-client.crt",
    "apiserver-etcd-client.key",
    "apiserver-kubelet-client.crt",
    "apiserver-kubelet-client.key",
    "etcd/ca.crt",
    "front-proxy-ca.crt",
    "front-proxy-client.crt",
    "front-proxy-client.key",
    "sa.key",
    "sa.pub",
];
