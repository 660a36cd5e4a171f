//! `render-ingress`: how requests from outside will find their way in.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_INGRESS_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-ingress.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-ingress",
    about: &About {
        title: "Render what ingress needs",
        why: "Requests from outside reach an application through an ingress, and objects that \
              describe one are often among the first that people apply, so the kinds and the \
              class that they name must be there from the beginning; the proxy that serves them \
              comes later, as an ordinary pod. In OpenShift the ingress operator renders its \
              definitions for that; in plain Kubernetes the built-in renderer writes an \
              IngressClass, which is the default one, and what a controller for it is told; the \
              controller itself is an add-on of your choice. Nothing of the bootstrap waits for \
              it: left out, everything comes up and no route works. bootkube.sh clears a folder \
              before this render in which the render never writes, so that a half-written result \
              of a killed run is taken for a whole one; our record is written last, and a render \
              that it does not list is done again.",
        reads: &[
            "ASSETS/records/copy-manifests.json",
            "spec.rendering.images.ingress",
        ],
        writes: &[
            "ASSETS/ingress/",
            "ASSETS/manifests/",
            "ASSETS/records/render-ingress.json",
        ],
        command: "\
# profile kubernetes
bootlace render ingress --asset-input-dir ASSETS/manifests --asset-output-dir ASSETS/ingress
cp ASSETS/ingress/manifests/* ASSETS/manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.ingress names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-ingress-operator\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" render \\
  --prefix=cluster-ingress- --output-dir=/assets/ingress
cp ASSETS/ingress/* ASSETS/manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18"],
        built: true,
    },
    needs: &["copy-manifests", "release-info"],
    uses: &[],
    inputs: &[Input::Copied],
    component: "ingress",
    record: RECORD,
    listed: RENDER_INGRESS_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[(
            "ingress/manifests/ingress-class.yaml",
            "An Ingress that names no class is served by whichever controller comes first.",
        )],
        Profile::Openshift => &[],
    };
    rendered(settings, RECORD, files)
}
