//! `wait-control-plane`: the real one, beside the first one.

use bootlace_model::config::Settings;
use bootlace_model::expect::{Expectation, Field, Wanted};
use bootlace_model::step::{About, UndoPolicy};

use super::live::{api, expect};
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing, only_looks};

const NAME: &str = "wait-control-plane";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Wait until the real control plane runs beside the first one",
        why: "The first control plane may go only when another one can take over in the same \
              second, so API server, controller manager and scheduler must be seen to run, and to \
              be ready, on the machines that stay. The history of this wait is instructive. \
              bootkube and Tectonic let the old and the new API server fight for one port, the \
              new one counting as running while it was still blocked on a lock, so that the \
              hand-over sometimes found nobody home; cluster-bootstrap therefore asks for \
              readiness, for a first revision on two machines, and waits thirty seconds more. We \
              ask for readiness on every machine that the config counts, and do not add a fixed \
              pause, because a pause is right for one machine and wrong for the next. In plain \
              Kubernetes with one machine the first control plane is also the last one, and this \
              is proved rather than assumed.",
        reads: &["spec.controlPlane.replicas", "Pods of the control plane"],
        writes: &["nothing"],
        command: "\
# profile kubernetes
kubectl --kubeconfig KUBECONFIG --namespace kube-system wait --for=condition=Ready pod \\
  --selector tier=control-plane --timeout=30m
# profile openshift
oc --kubeconfig KUBECONFIG get kubeapiserver,kubecontrollermanager,kubescheduler cluster \\
  -o jsonpath='{range .items[*]}{.kind}: {.status.nodeStatuses[*].currentRevision}{\"\\n\"}{end}'",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &["F-20", "F-27", "F-29", "F-33", "F-45", "F-47", "F-51"],
        built: true,
    },
    needs: &["wait-masters"],
    uses: &[],
    as_processes: Some("the components run as plain processes, not as pods on nodes"),
    asks: asks_nothing,
    checks: checks_nothing,
    plan: only_looks,
    expects,
};

/// The components of a control plane, and the lease by which one of each works.
const COMPONENTS: [(&str, Option<&str>); 3] = [
    ("kube-apiserver", None),
    ("kube-controller-manager", Some("kube-controller-manager")),
    ("kube-scheduler", Some("kube-scheduler")),
];

fn expects(settings: &Settings) -> Vec<Expectation> {
    let because = "Without it on every machine, the hand-over would leave a gap that nobody fills.";
    let works = "A component that runs and never got the lease does not work.";
    let replicas = settings.cluster.control_plane.replicas;
    let mut expectations = Vec::new();
    for (component, lease) in COMPONENTS {
        let pods =
            format!("/api/v1/namespaces/kube-system/pods?labelSelector=component%3D{component}");
        let fields = vec![
            Field::new("items", Wanted::AtLeast(replicas.into())),
            Field::is("items/*/status/conditions/type=Ready/status", "True"),
        ];
        let what = format!("{component} is ready on every machine");
        expectations.push(expect(api(what, pods, fields), minutes(30), because));
        if let Some(lease) = lease {
            let path =
                format!("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{lease}");
            let held = vec![Field::new("spec/holderIdentity", Wanted::Something)];
            let what = format!("one {component} leads");
            expectations.push(expect(api(what, path, held), minutes(5), works));
        }
    }
    expectations
}
