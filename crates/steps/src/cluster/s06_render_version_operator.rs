//! `render-version-operator`: the one operator that installs all others.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_VERSION_OPERATOR_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-version-operator.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-version-operator",
    about: &About {
        title: "Render the version operator",
        why: "A release is a set of manifests and images that belong together, and something \
              must hold the cluster to that set, today and at the next update: the version \
              operator. Its own manifests are rendered here, with the pod that runs it during \
              the bootstrap; those of all other components stay in the release and are applied \
              by the operator once the API answers, although descriptions of bootkube.sh often \
              say that they are rendered in this stage, so here they are only checked and \
              listed, by run level, in `payload.txt`. In OpenShift the release image is the \
              version operator, so no other image is asked; in plain Kubernetes `bootlace \
              version-operator` takes its place and does the same with our manifests. It is also \
              told which objects to leave alone for now, because you brought manifests of your \
              own for them, and `restore-overrides` ends that later; a ClusterVersion among your \
              manifests is kept, and what the bootstrap needs is added to it. The deployment \
              waits in the output folder until then, speaks to the API at this machine's \
              address, since the service network comes only with the release, and tolerates \
              nodes that are not ready, because it is what makes them ready. bootkube.sh hides a \
              second act in this stage, it installs the loopback kubeconfig for the machine; \
              ours does that in `start-control-plane`, where it belongs.",
        reads: &[
            "the folders of spec.manifests",
            "DIR/release-manifests/ of spec.release",
            "ASSETS/records/copy-manifests.json",
            "ASSETS/records/node.json",
            "ASSETS/records/release.json",
            "spec.rendering.images.version-operator",
        ],
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
cp ASSETS/cvo-bootstrap/manifests/zz_cluster-version.yaml ASSETS/manifests/
cp ASSETS/cvo-bootstrap/bootstrap-manifests/* ASSETS/bootstrap-manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.version-operator names one; `bootlace plan` shows the whole command
# profile openshift: RELEASE-IMAGE is the release itself, by digest
podman run --rm --net=host --volume ASSETS:/assets:z RELEASE-IMAGE render \\
  --output-dir=/assets/cvo-bootstrap --release-image=RELEASE-IMAGE \\
  --cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml \\
  --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
cp ASSETS/cvo-bootstrap/manifests/* ASSETS/manifests/
cp ASSETS/cvo-bootstrap/bootstrap/* ASSETS/bootstrap-manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-17", "F-18"],
        built: true,
    },
    needs: &[
        "prepare-assets",
        "copy-manifests",
        "release-info",
        "render-api",
    ],
    uses: &[
        "node.name",
        "release.version",
        "release.digest",
        "release.images",
    ],
    inputs: &[Input::Copied, Input::Manifests, Input::Payload],
    component: "version-operator",
    record: RECORD,
    listed: RENDER_VERSION_OPERATOR_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "cvo-bootstrap/manifests/version-operator.yaml",
                "Without it nothing of the release is installed after the control plane.",
            ),
            (
                "cvo-bootstrap/original-overrides.json",
                "It says what you had asked for, before the bootstrap added to it.",
            ),
            (
                "bootstrap-manifests/version-operator-pod.yaml",
                "The kubelet starts the operator from this file, before anything can be scheduled.",
            ),
        ],
        Profile::Openshift => &[],
    };
    rendered(settings, RECORD, files)
}
