//! `render-config`: the facts about the cluster that many of its parts ask for.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_CONFIG_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-config.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-config",
    about: &About {
        title: "Render the configuration of the cluster as a whole",
        why: "Some facts belong to no single component: the name of the cluster, its networks, \
              its DNS domain, the platform under it, the address of its API. They are rendered \
              once, in one place, so that two components cannot be told two different things. In \
              OpenShift the config operator does it, and also prepares the cloud provider's \
              config, which the machine configs are made from much later; nothing of it goes \
              into the manifests folder, which makes the file easy to miss when it is wrong. In \
              plain Kubernetes it is the cluster's configuration under the names where kubeadm's \
              commands look for it, our own `cluster-config`, NetworkPolicies for the system \
              namespaces with the security profile `cis`, and three files for this machine's \
              kubelet: its configuration, its flags and its unit. The kubelet's serving \
              certificate is made beforehand, so that nobody has to approve it; those of \
              machines that join later are asked for by themselves. kubeadm puts the same into \
              ConfigMaps while it runs; here it is a file before it is an object, so it can be \
              read and compared.",
        reads: &[
            "ASSETS/records/node.json",
            "ASSETS/records/copy-manifests.json",
            "spec.network, spec.controlPlane, spec.node, spec.pki",
            "spec.rendering.images.config",
        ],
        writes: &[
            "ASSETS/config-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-config.json",
        ],
        command: "\
# profile kubernetes
bootlace render config --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/config-bootstrap
cp ASSETS/config-bootstrap/manifests/* ASSETS/manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.config names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-config-operator\"]' ASSETS/records/release.json)
OUT=/assets/config-bootstrap
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" \\
  /usr/bin/cluster-config-operator render --skip-api-rendering \\
  --cluster-infrastructure-input-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
  --cloud-provider-config-output-file=$OUT/cloud-provider-config-generated.yaml \\
  --config-output-file=$OUT/config --asset-input-dir=/assets/tls --asset-output-dir=$OUT \\
  --rendered-manifest-files=/assets/manifests \\
  --payload-version=VERSION",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18", "F-48"],
        built: true,
    },
    needs: &["prepare-assets", "release-info", "render-api"],
    uses: &["node.name"],
    inputs: &[Input::Copied],
    component: "config",
    record: RECORD,
    listed: RENDER_CONFIG_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "config-bootstrap/manifests/kubeadm-config.yaml",
                "A machine that joins with kubeadm reads from it what the cluster is like.",
            ),
            (
                "config-bootstrap/kubelet-config.yaml",
                "Kubelets that are configured differently schedule, log and evict differently.",
            ),
            (
                "config-bootstrap/kubelet.service",
                "Nothing starts the pods of the control plane but the kubelet.",
            ),
        ],
        Profile::Openshift => &[(
            "config-bootstrap/cloud-provider-config-generated.yaml",
            "Machine configs are rendered from it, and differ from the cluster's own without it.",
        )],
    };
    rendered(settings, RECORD, files)
}
