//! `render-kube-controller-manager`: the controllers, as a static pod.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_KUBE_CONTROLLER_MANAGER_LISTED;
use crate::stage::Stage;

/// Where it lists what it wrote.
const RECORD: &str = "records/render-kube-controller-manager.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-kube-controller-manager",
    about: &About {
        title: "Render the first controller manager",
        why: "An API server only stores what it is told; the controller manager is what makes a \
              Deployment become pods, gives each namespace its default service account, and signs \
              the certificates that new kubelets ask for. Without it the API answers, everything \
              can be created, and nothing ever happens, which is one of the more confusing ways \
              for a bootstrap to fail. It holds the two most valuable keys of the cluster, that \
              of `ca` and that of the service accounts, so its pod mounts them from a folder that \
              only root can read. OpenShift runs a second program beside it, the cluster policy \
              controller, and its bootstrap certificate has all rights of an administrator; ours \
              starts with the rights that the API has built in for it, as kubeadm's does.",
        reads: &[
            "ASSETS/tls/",
            "ASSETS/auth/controller-manager.conf",
            "ASSETS/manifests/",
            "ASSETS/records/release.json",
            "spec.rendering.images.kube-controller-manager",
        ],
        writes: &[
            "ASSETS/kube-controller-manager/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/records/render-kube-controller-manager.json",
        ],
        command: "\
# profile kubernetes
bootlace render kube-controller-manager --asset-input-dir ASSETS/tls \\
  --asset-output-dir ASSETS/kube-controller-manager
cp ASSETS/kube-controller-manager/bootstrap-manifests/* ASSETS/bootstrap-manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.kube-controller-manager names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-kube-controller-manager-operator\"]' ASSETS/records/release.json)
POLICY=$(jq -r '.images[\"cluster-policy-controller\"]' ASSETS/records/release.json)
HYPERKUBE=$(jq -r '.images.hyperkube' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" \\
  /usr/bin/cluster-kube-controller-manager-operator render \\
  --cluster-policy-controller-image=\"$POLICY\" --manifest-image=\"$HYPERKUBE\" \\
  --asset-input-dir=/assets/tls --asset-output-dir=/assets/kube-controller-manager \\
  --config-output-file=/assets/kube-controller-manager/config \\
  --cpc-config-output-file=/assets/kube-controller-manager/cpc-config \\
  --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \\
  --rendered-manifest-files=/assets/manifests --payload-version=VERSION",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18"],
        built: true,
    },
    needs: &["prepare-assets", "release-info", "render-api"],
    uses: &["release.images"],
    inputs: &[],
    component: "kube-controller-manager",
    record: RECORD,
    listed: RENDER_KUBE_CONTROLLER_MANAGER_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files = [(
        "kube-controller-manager/bootstrap-manifests/kube-controller-manager-pod.yaml",
        "The kubelet starts the controllers from this file, and from nothing else.",
    )];
    rendered(settings, RECORD, &files)
}
