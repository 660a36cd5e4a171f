//! `wait-control-plane`: the real one, beside the first one.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{at_least, kubectl, minutes};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "wait-control-plane",
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
        built: false,
    },
    needs: &["wait-masters"],
    uses: &[],
    expects,
};

/// The components of a control plane: label in plain Kubernetes, resource in OpenShift.
const COMPONENTS: [(&str, &str); 3] = [
    ("kube-apiserver", "kubeapiservers"),
    ("kube-controller-manager", "kubecontrollermanagers"),
    ("kube-scheduler", "kubeschedulers"),
];

fn expects(settings: &Settings) -> Vec<Expectation> {
    let because = "Without it on every machine, the hand-over would leave a gap that nobody fills.";
    let replicas = settings.cluster.control_plane.replicas;
    let all = at_least(replicas);
    let revision = revised(replicas);
    let mut expectations = Vec::new();
    let mut expect = |words: &[&str]| {
        expectations.push(kubectl(settings, words, minutes(30), because));
    };
    for (component, resource) in COMPONENTS {
        match settings.cluster.profile {
            Profile::Kubernetes => {
                let pods = [
                    "--namespace=kube-system",
                    &format!("--selector=component={component}"),
                ];
                expect(&[&["get", "pods"][..], &pods, &["-o", &all]].concat());
                let ready = ["wait", "--for=condition=Ready", "pod", "--timeout=5s"];
                expect(&[&ready[..], &pods].concat());
            }
            Profile::Openshift => {
                let resource = format!("{resource}.operator.openshift.io/cluster");
                expect(&["get", &resource, "-o", &revision]);
            }
        }
    }
    expectations
}

/// Returns a template that fails unless an operator has rolled out on every machine.
///
/// Templates read numbers as floats, and compare only with floats.
fn revised(replicas: u32) -> String {
    let last = replicas.saturating_sub(1);
    let current = format!("(index .status.nodeStatuses {last}).currentRevision");
    format!("go-template={{{{if lt {current} 1.0}}}}{{{{index .none 0}}}}{{{{end}}}}")
}
