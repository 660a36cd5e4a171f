//! Which keys and certificates a cluster needs: one table, and the plan that follows from it.
//!
//! ```text
//! ca ─────────────────────────┬─ apiserver                     server
//!                             ├─ kubelet-serving               server
//!                             ├─ apiserver-kubelet-client      client
//!                             ├─ super-admin  admin            clients, each in a kubeconfig
//!                             └─ controller-manager  scheduler  kubelet
//! etcd/ca ────────────────────┬─ etcd/server  etcd/peer        server and client
//!                             └─ apiserver-etcd-client         client
//! front-proxy-ca ─────────────── front-proxy-client            client
//! machine-config-server-ca ───── machine-config-server         server
//! sa.key ── sa.pub                                             a key pair, no certificate
//! ```
//!
//! Files have the names that kubeadm gives them, so that its tools and everybody's habits work on
//! them; `kubelet-serving` and the machine-config server are added, because kubeadm lets kubelets
//! sign themselves and has no such server. The graph is the same for both profiles today:
//! OpenShift's installer splits `ca` into one signer for each audience, and its operators ask for
//! those files by name, so the renders of that profile will bring rows of their own.

mod node;
mod plan;

use bootlace_model::pki::{KeyAlgorithm, Usage};

pub use node::node_name;
pub(crate) use plan::plan_for;
pub use plan::{KeyPair, PkiPlan, PlannedCertificate, pki_plan};

/// Which kind of key every certificate gets.
pub const KEYS: KeyAlgorithm = KeyAlgorithm::EcdsaP256;

/// The group that may do everything, without any object in the cluster that says so: nothing takes that
/// from it again.
const MASTERS: &str = "system:masters";
/// The group of administrators, which an object in the cluster binds to its rights.
const ADMINS: &str = "kubeadm:cluster-admins";
/// The group of all kubelets, which the node authorizer knows.
const NODES: &str = "system:nodes";

/// Who a certificate speaks for.
#[derive(Debug, Clone, Copy)]
enum Speaker {
    /// Always the same name.
    Fixed(&'static str),
    /// The node's name, behind this.
    Node(&'static str),
}

/// Under which names a server is reached.
#[derive(Debug, Clone, Copy)]
enum Names {
    /// It is no server.
    None,
    /// By everybody: pods, nodes and people.
    ApiServer,
    /// By other machines, and by this one under its local names.
    Machine,
    /// By machines that know only the cluster's endpoint.
    Endpoint,
}

/// One line of the table.
#[derive(Debug)]
struct Row {
    /// The file's name without its ending, below `tls`.
    stem: &'static str,
    /// The stem of the authority; none if it signs itself.
    issuer: Option<&'static str>,
    /// The user.
    speaker: Speaker,
    /// The group.
    group: Option<&'static str>,
    /// What it may be used for.
    usages: &'static [Usage],
    /// Under which names it is reached.
    names: Names,
    /// Whether only the bootstrap needs it.
    is_brief: bool,
    /// What would not work without it.
    purpose: &'static str,
}

const fn authority(stem: &'static str, name: &'static str, purpose: &'static str) -> Row {
    Row {
        stem,
        issuer: None,
        speaker: Speaker::Fixed(name),
        group: None,
        usages: &[Usage::Authority],
        names: Names::None,
        is_brief: false,
        purpose,
    }
}

const fn client(
    stem: &'static str,
    issuer: &'static str,
    speaker: Speaker,
    group: Option<&'static str>,
    purpose: &'static str,
) -> Row {
    Row {
        stem,
        issuer: Some(issuer),
        speaker,
        group,
        usages: &[Usage::Client],
        names: Names::None,
        is_brief: false,
        purpose,
    }
}

const fn server(
    stem: &'static str,
    issuer: &'static str,
    speaker: Speaker,
    names: Names,
    purpose: &'static str,
) -> Row {
    Row {
        stem,
        issuer: Some(issuer),
        speaker,
        group: None,
        usages: &[Usage::Server],
        names,
        is_brief: false,
        purpose,
    }
}

impl Row {
    /// Also lets the server call others with the same certificate, as etcd's members do.
    const fn both_ways(mut self) -> Self {
        self.usages = &[Usage::Client, Usage::Server];
        self
    }

    /// Lets it expire soon after the bootstrap.
    const fn brief(mut self) -> Self {
        self.is_brief = true;
        self
    }

    const fn in_group(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }
}

/// Every certificate, authorities before what they sign.
static TABLE: &[Row] = &[
    authority(
        "ca",
        "kubernetes",
        "It vouches for the API server, for kubelets and for every client of the API.",
    ),
    server(
        "apiserver",
        "ca",
        Speaker::Fixed("kube-apiserver"),
        Names::ApiServer,
        "Clients refuse an API server that cannot prove each name they call it by.",
    ),
    client(
        "apiserver-kubelet-client",
        "ca",
        Speaker::Fixed("kube-apiserver-kubelet-client"),
        // An object in the cluster binds the name to the rights on kubelets, and to no others.
        None,
        "With it the API server asks kubelets for logs and runs commands in pods.",
    ),
    // Nothing exists yet that could hold an object which grants a right.
    client(
        "super-admin",
        "ca",
        Speaker::Fixed("kubernetes-super-admin"),
        Some(MASTERS),
        "With it the bootstrap gives the API its first objects, those that grant rights among them.",
    )
    .brief(),
    client(
        "admin",
        "ca",
        Speaker::Fixed("kubernetes-admin"),
        Some(ADMINS),
        "With it the first administrator reaches the API; its rights can be taken back.",
    ),
    client(
        "controller-manager",
        "ca",
        Speaker::Fixed("system:kube-controller-manager"),
        None,
        "With it the controller manager reaches the API; its rights are built into the API.",
    ),
    client(
        "scheduler",
        "ca",
        Speaker::Fixed("system:kube-scheduler"),
        None,
        "With it the scheduler reaches the API; its rights are built into the API.",
    ),
    client(
        "kubelet",
        "ca",
        Speaker::Node("system:node:"),
        Some(NODES),
        "With it the kubelet registers this node and reads only what concerns it.",
    ),
    server(
        "kubelet-serving",
        "ca",
        Speaker::Node("system:node:"),
        Names::Machine,
        "With it the API server can tell this kubelet from an impostor.",
    )
    .in_group(NODES),
    authority(
        "etcd/ca",
        "etcd-ca",
        "Whoever it vouches for can read and write the whole cluster, so it signs few.",
    ),
    server(
        "etcd/server",
        "etcd/ca",
        Speaker::Node(""),
        Names::Machine,
        "etcd serves nobody, not even itself, without it.",
    )
    .both_ways(),
    server(
        "etcd/peer",
        "etcd/ca",
        Speaker::Node(""),
        Names::Machine,
        "The members of etcd talk to each other with it.",
    )
    .both_ways(),
    client(
        "apiserver-etcd-client",
        "etcd/ca",
        Speaker::Fixed("kube-apiserver-etcd-client"),
        None,
        "With it the API server, and nobody else in the cluster, reaches etcd.",
    ),
    authority(
        "front-proxy-ca",
        "front-proxy-ca",
        "Extension API servers believe whoever it vouches for about who a user is.",
    ),
    client(
        "front-proxy-client",
        "front-proxy-ca",
        Speaker::Fixed("front-proxy-client"),
        None,
        "With it the API server passes requests on to extension API servers.",
    ),
    authority(
        "machine-config-server-ca",
        "machine-config-server-ca",
        "New machines are given its certificate, and trust nobody else with their first config.",
    ),
    server(
        "machine-config-server",
        "machine-config-server-ca",
        Speaker::Fixed("machine-config-server"),
        Names::Endpoint,
        "New machines take their first config only from a server that shows it.",
    ),
];
