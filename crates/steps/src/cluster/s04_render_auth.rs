//! `render-auth`: who may ask the new API for what.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "render-auth",
    about: &About {
        title: "Render what authentication needs from the first minute",
        why: "An API server that has just started knows its administrators, its own components \
              and nobody else, and a few rules about who may do what must be there before anybody \
              new knocks. In plain Kubernetes those are the bindings that let a new kubelet ask \
              for a certificate and let the controller manager grant it: without them a second \
              machine can reach the API and never becomes a node. kubeadm creates the same \
              bindings at the end of `init`, one call after the other; here they are files that \
              can be read beforehand. In OpenShift this stage renders much less than its name \
              promises, the single definition of a kind that restricts role bindings; the OAuth \
              server, which is often named in this place, comes only with its operator, after the \
              hand-over. OpenShift's bootstrap host also approves every waiting certificate \
              request every twenty seconds without looking at who asks; these bindings tie \
              approval to an identity instead.",
        reads: &["ASSETS/manifests/", "ASSETS/records/release.json"],
        writes: &[
            "ASSETS/auth-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-auth.json",
        ],
        command: "\
# profile kubernetes
bootlace render auth --asset-input-dir ASSETS/manifests --asset-output-dir ASSETS/auth-bootstrap
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-authentication-operator\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" render \\
  --asset-output-dir=/assets/auth-bootstrap/manifests --rendered-manifest-dir=/assets/manifests \\
  --cluster-profile=self-managed-high-availability --payload-version=VERSION
cp ASSETS/auth-bootstrap/manifests/* ASSETS/manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18", "F-46"],
        built: false,
    },
    needs: &["release-info", "render-api"],
    uses: &["release.images"],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[(
            "auth-bootstrap/manifests/node-bootstrap-bindings.yaml",
            "Without these bindings a new machine can ask for a certificate, but never gets one.",
        )],
        Profile::Openshift => &[],
    };
    rendered(settings, "records/render-auth.json", files)
}
