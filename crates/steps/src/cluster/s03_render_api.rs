//! `render-api`: kinds of objects, before anything that uses them, and the API server that begins.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_API_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-api.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-api",
    about: &About {
        title: "Render the definitions of our kinds, and the API server that begins",
        why: "Kubernetes can be taught new kinds of objects, and some of what is rendered after \
              this step uses them, so their definitions come first: without them the API answers \
              `no matches for kind`, and cluster-bootstrap, which tries everything again five \
              times a second, buries the errors that matter under thousands that do not. In \
              plain Kubernetes the built-in renderer defines the cluster's version object, \
              machine configs and their pools, the last two as OpenShift has them. It also \
              renders the API server that begins, with its mounts and its TLS files, as \
              descriptions of bootkube.sh say of this stage; on one machine the API server that \
              begins is also the one that stays, so that this file is there to be read, and \
              `render-kube-apiserver` writes the one that runs, of the same content. In \
              OpenShift the image `cluster-config-api` renders definitions and the list of \
              feature gates here, and no pod at all. There the gates matter more than it seems: \
              the renders of authentication, etcd, API server and controller manager all read \
              them, and a gate that is on in one and off in another gives components that do not \
              understand each other.",
        reads: &[
            "ASSETS/records/release.json",
            "ASSETS/records/copy-manifests.json",
            "spec.controlPlane, spec.network",
            "spec.rendering.images.api",
        ],
        writes: &[
            "ASSETS/kube-apiserver-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-api.json",
        ],
        command: "\
# profile kubernetes
bootlace render api --asset-input-dir ASSETS/tls \\
  --asset-output-dir ASSETS/kube-apiserver-bootstrap
cp ASSETS/kube-apiserver-bootstrap/manifests/* ASSETS/manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.api names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-config-api\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" /usr/bin/render \\
  --asset-output-dir=/assets/kube-apiserver-bootstrap \\
  --rendered-manifest-dir=/assets/manifests \\
  --cluster-profile=self-managed-high-availability --payload-version=VERSION
cp ASSETS/kube-apiserver-bootstrap/manifests/* ASSETS/manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-05", "F-14", "F-18"],
        built: true,
    },
    needs: &["copy-manifests", "release-info"],
    uses: &["release.images"],
    inputs: &[Input::Copied],
    component: "api",
    record: RECORD,
    listed: RENDER_API_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "kube-apiserver-bootstrap/bootstrap-manifests/kube-apiserver-pod.yaml",
                "It shows what the first API server is started with.",
            ),
            (
                "kube-apiserver-bootstrap/manifests/clusterversions.bootlace.dev.yaml",
                "Without the definition nobody can say which release the cluster shall be.",
            ),
        ],
        Profile::Openshift => &[(
            "kube-apiserver-bootstrap/manifests/99_feature-gate.yaml",
            "Renders that do not find the gates fall back to defaults, each to its own.",
        )],
    };
    rendered(settings, RECORD, files)
}
