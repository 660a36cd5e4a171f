//! `render-auth`: who may ask the new API for what.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_AUTH_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-auth.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-auth",
    about: &About {
        title: "Render who may ask the new API for what",
        why: "An API server that has just started knows its administrators, its own components \
              and nobody else, and a few rules about who may do what must be there before \
              anybody new knocks. In plain Kubernetes those are the bindings that let a new \
              kubelet ask for a certificate and let the controller manager grant it, and the \
              public `cluster-info` from which a joining machine learns whom to trust: without \
              them a second machine can reach the API and never becomes a node. kubeadm creates \
              the same objects at the end of `init`, under the same names; here they are files \
              that can be read beforehand, beside the API server's own configs: who may ask \
              without logging in (for its health and `cluster-info`, and nothing else) and, with \
              the security profile `cis`, what is written to the audit log and how many events are \
              taken. A bootstrap \
              token is a secret, and a renderer that made one up would make another each time, \
              so it is rendered only if you put one into ASSETS/auth/bootstrap-token beforehand; \
              without it `kubeadm token create` makes one later, with the administrator's \
              kubeconfig. In OpenShift this stage renders much less than its name promises, the \
              single definition of a kind that restricts role bindings; the OAuth server comes \
              only with its operator, after the hand-over. OpenShift's bootstrap host also \
              approves every waiting certificate request every twenty seconds without looking at \
              who asks; these bindings tie approval to an identity instead.",
        reads: &[
            "ASSETS/tls/ca.crt",
            "ASSETS/auth/bootstrap-token, if you bring one",
            "ASSETS/records/copy-manifests.json",
            "spec.controlPlane.endpoint",
            "spec.security",
            "spec.rendering.images.auth",
        ],
        writes: &[
            "ASSETS/auth-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-auth.json",
        ],
        command: "\
# profile kubernetes
bootlace render auth --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/auth-bootstrap
cp ASSETS/auth-bootstrap/manifests/* ASSETS/manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.auth names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-authentication-operator\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" render \\
  --asset-output-dir=/assets/auth-bootstrap/manifests --rendered-manifest-dir=/assets/manifests \\
  --cluster-profile=self-managed-high-availability --payload-version=VERSION
cp ASSETS/auth-bootstrap/manifests/* ASSETS/manifests/",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18", "F-46"],
        built: true,
    },
    needs: &["prepare-assets", "release-info", "render-api"],
    uses: &[],
    inputs: &[Input::Copied, Input::Token],
    component: "auth",
    record: RECORD,
    listed: RENDER_AUTH_LISTED,
    expects,
};

/// What the API server does not start without, if the cluster is hardened.
const HARDENING: [(&str, &str); 2] = [
    (
        "auth-bootstrap/audit-policy.yaml",
        "It says what is written to the audit log.",
    ),
    (
        "auth-bootstrap/admission.yaml",
        "It keeps one client from filling etcd with events.",
    ),
];

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "auth-bootstrap/manifests/node-bootstrap-bindings.yaml",
                "Without these bindings a new machine can ask for a certificate, but never gets one.",
            ),
            (
                "auth-bootstrap/manifests/cluster-info.yaml",
                "A machine that joins learns from it which authority to trust.",
            ),
            (
                "auth-bootstrap/authentication-config.yaml",
                "The API server does not start without the file that says what strangers may see.",
            ),
        ],
        Profile::Openshift => &[],
    };
    let is_hardened = !files.is_empty() && settings.cluster.security.is_hardened();
    let hardening = &HARDENING[..if is_hardened { HARDENING.len() } else { 0 }];
    rendered(settings, RECORD, &[files, hardening].concat())
}
