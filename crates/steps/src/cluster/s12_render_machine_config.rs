//! `render-machine-config`: what every further machine is told at its first boot.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_MACHINE_CONFIG_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
pub(super) const RECORD: &str = "records/render-machine-config.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-machine-config",
    about: &About {
        title: "Render what further machines are told at their first boot",
        why: "Further machines know almost nothing at their first boot: an address, and the \
              authority to trust there. They ask that address for everything else, files, units, \
              the kubelet's settings, and this step renders the answers: for each role one \
              machine config, merged with those that you brought, sorted by name, so that a \
              later one wins, and a pool that names the result. The answer must be equal to what \
              the cluster computes for itself later: if one of your manifests reaches only one \
              of the two, each machine is found to be degraded the moment it joins, with the \
              message that its rendered config was not found. In OpenShift the machine-config \
              operator takes single files by name, not a folder, and bootkube.sh then copies the \
              whole manifests folder beside them for the server's own computation, and starts \
              the server as a pod; ours is `bootlace serve`, which reads the same layout and \
              adds a machine's first credentials only when it hands a config out. The server's \
              certificate comes from an authority of its own, and only that authority's \
              certificate is given to machines, never its key; machines that were prepared with \
              another set of assets refuse the server, and rightly so.",
        reads: &[
            "the folders of spec.manifests",
            "ASSETS/config-bootstrap/",
            "ASSETS/records/copy-manifests.json",
            "ASSETS/records/release.json",
            "spec.node, spec.network, spec.kubernetesVersion",
            "spec.rendering.images.machine-config",
        ],
        writes: &[
            "ASSETS/mco-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/records/render-machine-config.json",
        ],
        command: "\
# profile kubernetes
bootlace render machine-config --asset-input-dir ASSETS/manifests \\
  --asset-output-dir ASSETS/mco-bootstrap
cp ASSETS/mco-bootstrap/manifests/* ASSETS/manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.machine-config names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"machine-config-operator\"]' ASSETS/records/release.json)
podman run --rm --net=host --user 0 --volume ASSETS:/assets:z \"$IMAGE\" bootstrap \\
  --root-ca=/assets/tls/root-ca.crt \\
  --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt \\
  --config-file=/assets/manifests/cluster-config.yaml --dest-dir=/assets/mco-bootstrap \\
  --pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml \\
  --release-image=RELEASE-IMAGE --image-references=/assets/image-references \\
  --payload-version=VERSION \\
  --cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-10", "F-14", "F-18", "F-47", "F-48"],
        built: true,
    },
    needs: &[
        "prepare-assets",
        "copy-manifests",
        "release-info",
        "render-config",
    ],
    uses: &["release.images"],
    inputs: &[Input::Copied, Input::Manifests],
    component: "machine-config",
    record: RECORD,
    listed: RENDER_MACHINE_CONFIG_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "mco-bootstrap/machine-pools/master.yaml",
                "A control-plane machine that joins asks for the config of this pool.",
            ),
            (
                "mco-bootstrap/machine-pools/worker.yaml",
                "A worker that joins asks for the config of this pool.",
            ),
        ],
        Profile::Openshift => &[(
            "mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml",
            "The kubelet starts the machine-config server from this file.",
        )],
    };
    rendered(settings, RECORD, files)
}
