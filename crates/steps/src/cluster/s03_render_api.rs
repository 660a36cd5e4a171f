//! `render-api`: kinds of objects and feature gates, before anything that uses them.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "render-api",
    about: &About {
        title: "Render the API definitions and the feature gates",
        why: "Kubernetes can be taught new kinds of objects, and almost everything that is \
              rendered after this step uses some of them, so their definitions come first, \
              together with the list of feature gates that are on. In OpenShift the image \
              `cluster-config-api` renders both; descriptions of bootkube.sh often say that this \
              stage makes the API server's static pod, but that comes later, in \
              `render-kube-apiserver`. Plain Kubernetes brings its own kinds along, so there the \
              built-in renderer writes only the definition of the cluster's version object and \
              the gates. The gates matter more than it seems: the renders of authentication, \
              etcd, API server and controller manager all read them, and a gate that is on in one \
              and off in another gives components that do not understand each other. Without the \
              definitions the API answers `no matches for kind` to every object that needs them; \
              cluster-bootstrap copes by trying everything again five times a second, and buries \
              the errors that matter under thousands that do not.",
        reads: &["ASSETS/manifests/", "ASSETS/records/release.json"],
        writes: &[
            "ASSETS/kube-apiserver-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-api.json",
        ],
        command: "\
# profile kubernetes
bootlace render api --asset-input-dir ASSETS/manifests \\
  --asset-output-dir ASSETS/kube-apiserver-bootstrap
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-config-api\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" /usr/bin/render \\
  --asset-output-dir=/assets/kube-apiserver-bootstrap \\
  --rendered-manifest-dir=/assets/manifests \\
  --cluster-profile=self-managed-high-availability --payload-version=VERSION
cp ASSETS/kube-apiserver-bootstrap/manifests/* ASSETS/manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-05", "F-14", "F-18"],
        built: false,
    },
    needs: &["copy-manifests", "release-info"],
    uses: &["release.images"],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files = [(
        "kube-apiserver-bootstrap/manifests/99_feature-gate.yaml",
        "Renders that do not find the gates fall back to defaults, each to its own.",
    )];
    rendered(settings, "records/render-api.json", &files)
}
