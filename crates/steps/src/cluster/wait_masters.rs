//! `wait-masters`: the machines that the control plane will live on.

use bootlace_model::config::Settings;
use bootlace_model::expect::{Expectation, Field, Wanted};
use bootlace_model::step::{About, UndoPolicy};

use super::live::{api, expect};
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing, only_looks};

const NAME: &str = "wait-masters";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Wait until every control-plane machine has joined",
        why: "The first control plane runs on one machine, and a cluster that shall survive the \
              loss of a machine needs more of them, so nothing is handed over before all are \
              there. Each of them has to find the machine-config server, fetch its config, boot \
              into it, ask for a certificate and be granted one, and each of these can fail on a \
              machine that nobody is logged in to. That is why this is a step of its own: \
              bootkube.sh has no such condition, it waits for pods that need nodes, and reports \
              `timed out waiting for the condition` when there was never a node at all. What \
              helps is to know how far they came: no request at the config server points to DNS \
              or the load balancer, requests without a certificate point to trust, and \
              certificates without a node to approval. Whether the nodes are ready is not asked \
              yet: a node becomes ready only with a pod network, and that is an add-on; it is \
              enough that each kubelet reports.",
        reads: &[
            "spec.controlPlane.replicas",
            "Nodes, CertificateSigningRequests",
        ],
        writes: &["nothing"],
        command: "\
kubectl --kubeconfig KUBECONFIG get nodes --selector node-role.kubernetes.io/control-plane
kubectl --kubeconfig KUBECONFIG get csr
kubectl --kubeconfig KUBECONFIG wait --for=condition=MemoryPressure=False node \\
  --selector node-role.kubernetes.io/control-plane --timeout=30m",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &[
            "F-10", "F-11", "F-34", "F-35", "F-36", "F-38", "F-41", "F-42", "F-43", "F-45", "F-46",
            "F-51", "F-52",
        ],
        built: true,
    },
    needs: &["verify-api"],
    uses: &[],
    as_processes: Some("plain processes have no kubelet, so no node ever joins"),
    asks: asks_nothing,
    checks: checks_nothing,
    plan: only_looks,
    expects,
};

/// The nodes of the control plane.
const MASTERS: &str = "/api/v1/nodes?labelSelector=node-role.kubernetes.io%2Fcontrol-plane";

fn expects(settings: &Settings) -> Vec<Expectation> {
    let replicas = settings.cluster.control_plane.replicas;
    let count = Field::new("items", Wanted::AtLeast(replicas.into()));
    let joined = "etcd needs this many machines before it can do without any one of them.";
    // A kubelet that is gone leaves this condition unknown; one that reports makes it false.
    let condition = "items/*/status/conditions/type=MemoryPressure/status";
    let reports = Field::is(condition, "False");
    let alive = "A machine that has joined and fallen silent runs nothing.";
    let what = format!("{replicas} of the control plane's machines have joined");
    let within = minutes(30);
    vec![
        expect(api(what, MASTERS, vec![count.clone()]), within, joined),
        expect(
            api("every one of them reports", MASTERS, vec![count, reports]),
            within,
            alive,
        ),
    ]
}
