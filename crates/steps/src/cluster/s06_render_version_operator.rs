//! `render-version-operator`: the one operator that installs all others.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "render-version-operator",
    about: &About {
        title: "Render the version operator",
        why: "A release is a set of manifests and images that belong together, and something must \
              hold the cluster to that set, today and at the next update: the version operator. \
              Only its own manifests are rendered here, with image policies and the pod that runs \
              it during the bootstrap; the manifests of all other operators stay in the release \
              and are applied by the version operator itself once the API answers, although \
              descriptions of bootkube.sh often say that they are rendered in this stage. In \
              OpenShift the release image is the version operator, so no other image is asked; in \
              plain Kubernetes `bootlace version-operator` takes its place and does the same with \
              our manifests. It is also told which objects to leave alone for now, because you \
              brought manifests of your own for them, and `restore-overrides` ends that later. \
              bootkube.sh hides a second act in this stage, it installs the loopback kubeconfig \
              for the machine; ours does that in `start-control-plane`, where it belongs.",
        reads: &["ASSETS/manifests/", "ASSETS/records/release.json"],
        writes: &[
            "ASSETS/cvo-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/records/render-version-operator.json",
        ],
        command: "\
# profile kubernetes
bootlace render version-operator --asset-input-dir ASSETS/manifests \\
  --asset-output-dir ASSETS/cvo-bootstrap
# profile openshift: RELEASE-IMAGE is the release itself, by digest
podman run --rm --net=host --volume ASSETS:/assets:z RELEASE-IMAGE render \\
  --output-dir=/assets/cvo-bootstrap --release-image=RELEASE-IMAGE \\
  --cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml \\
  --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
cp ASSETS/cvo-bootstrap/manifests/* ASSETS/manifests/
cp ASSETS/cvo-bootstrap/bootstrap/* ASSETS/bootstrap-manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-17", "F-18"],
        built: false,
    },
    needs: &["copy-manifests", "release-info", "render-api"],
    uses: &["release.digest", "release.images"],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[(
            "cvo-bootstrap/manifests/version-operator.yaml",
            "Without it nothing of the release is installed after the control plane.",
        )],
        Profile::Openshift => &[],
    };
    rendered(settings, "records/render-version-operator.json", files)
}
