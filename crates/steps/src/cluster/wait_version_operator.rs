//! `wait-version-operator`: the release begins to install itself.

use bootlace_model::config::Settings;
use bootlace_model::expect::{Expectation, Field, Wanted};
use bootlace_model::step::{About, UndoPolicy};

use super::live::{api, expect};
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing, only_looks};

const NAME: &str = "wait-version-operator";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
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
        built: true,
    },
    needs: &["restore-overrides", "verify-api"],
    uses: &[],
    as_processes: Some("no version operator runs as a plain process"),
    asks: asks_nothing,
    checks: checks_nothing,
    plan: only_looks,
    expects,
};

fn expects(_: &Settings) -> Vec<Expectation> {
    let deployment = "/apis/apps/v1/namespaces/bootlace-system/deployments/version-operator";
    let available = Field::is("status/conditions/type=Available/status", "True");
    // One that shall have no pod at all counts as available.
    let has_pod = Field::new("status/availableReplicas", Wanted::AtLeast(1));
    let runs = api(
        "the version operator runs as an ordinary pod",
        deployment,
        vec![available, has_pod],
    );
    let because = "After the hand-over only the version operator installs what is still missing.";
    let version = "/apis/bootlace.dev/v1alpha1/clusterversions/version";
    let accepted = vec![
        Field::new("status/desired/version", Wanted::Something),
        Field::new(
            "status/observedGeneration",
            Wanted::SameAs("metadata/generation".into()),
        ),
    ];
    let accepts = api(
        "the version operator has accepted the release",
        version,
        accepted,
    );
    let idle = "An operator that has not read what it shall install installs nothing.";
    vec![
        expect(runs, minutes(20), because),
        expect(accepts, minutes(10), idle),
    ]
}
