//! `restore-overrides`: the version operator may touch everything again.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{kubectl, minutes};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "restore-overrides",
    about: &About {
        title: "Give all objects back to the version operator",
        why: "You may bring manifests of your own for objects that are also part of the release, \
              and during the bootstrap two parties could create them: the bootstrap, from your \
              files, and the version operator, from the release. So that the release does not win \
              that race, the version operator starts with a list of overrides that tells it to \
              leave those objects alone; this step sets the list back to what you had asked for, \
              as soon as your objects exist. Without it the release would never again update what \
              you once replaced, and nobody would remember why. A common description says that \
              bootkube.sh applies a folder of manifests here; in truth it is one merge patch of \
              the ClusterVersion's overrides, repeated every ten seconds without end, while ours \
              has a deadline.",
        reads: &["ASSETS/manifests/", "ASSETS/cvo-bootstrap/"],
        writes: &["ClusterVersion version: spec.overrides"],
        command: "\
# profile kubernetes
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback patch clusterversions.bootlace.dev version \\
  --type=merge --patch-file ASSETS/cvo-bootstrap/original-overrides.json
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback annotate --overwrite \\
  clusterversions.bootlace.dev version bootlace.dev/overrides=restored
# profile openshift
oc --kubeconfig ASSETS/auth/kubeconfig-loopback patch clusterversion version \\
  --type=merge --patch-file ASSETS/original_cvo_overrides.patch
oc --kubeconfig ASSETS/auth/kubeconfig-loopback annotate --overwrite \\
  clusterversion version bootlace.dev/overrides=restored",
        undo: UndoPolicy::ForwardOnly {
            why: "The list lives in the etcd that start-control-plane made, and goes with it.",
        },
        failures: &["F-04", "F-37", "N-01"],
        built: false,
    },
    needs: &["start-control-plane"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let resource = match settings.cluster.profile {
        Profile::Kubernetes => "clusterversions.bootlace.dev/version",
        Profile::Openshift => "clusterversions.config.openshift.io/version",
    };
    let restored = r"--for=jsonpath={.metadata.annotations.bootlace\.dev/overrides}=restored";
    let words = ["wait", restored, resource, "--timeout=5s"];
    let because = "What stays on the list is never updated again, and nothing says so.";
    vec![kubectl(settings, &words, minutes(10), because)]
}
