//! `wait-version-operator`: the release begins to install itself.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{kubectl, minutes};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "wait-version-operator",
    about: &About {
        title: "Wait until the version operator works on the release",
        why: "From the hand-over on nobody pushes any more: what is still missing is installed by \
              the version operator, and if that one does not run, the cluster stays as it is for \
              ever, with a control plane and nothing on it. So it must run as an ordinary pod, \
              scheduled by the new scheduler, and must have accepted the release, before the \
              bootstrap steps back. It is not waited for all of its work to be done: that takes \
              longer than everything before, needs workers that may join later, and is reported \
              by the operator itself. Its log is full of `no matches for kind` in the beginning, \
              which is normal as long as the number of such lines falls. bootkube.sh asks only \
              that the pod runs, the installer waits for the result in a second command; the line \
              between them is the same here.",
        reads: &["ClusterVersion version", "Pods of the version operator"],
        writes: &["nothing"],
        command: "\
# profile kubernetes
kubectl --kubeconfig KUBECONFIG --namespace bootlace-system \\
  wait --for=condition=Available deployment/version-operator --timeout=20m
# profile openshift
oc --kubeconfig KUBECONFIG --namespace openshift-cluster-version \\
  wait --for=condition=Available deployment/cluster-version-operator --timeout=20m
oc --kubeconfig KUBECONFIG get clusterversion version",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &["F-04", "F-14", "F-20", "F-51", "N-01"],
        built: false,
    },
    needs: &["restore-overrides", "verify-api"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let (namespace, deployment) = match settings.cluster.profile {
        Profile::Kubernetes => ("--namespace=bootlace-system", "deployment/version-operator"),
        Profile::Openshift => (
            "--namespace=openshift-cluster-version",
            "deployment/cluster-version-operator",
        ),
    };
    let words = [
        namespace,
        "wait",
        "--for=condition=Available",
        deployment,
        "--timeout=5s",
    ];
    let because = "After the hand-over only the version operator installs what is still missing.";
    vec![kubectl(settings, &words, minutes(20), because)]
}
