//! `render-config`: the facts about the cluster that many of its parts ask for.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "render-config",
    about: &About {
        title: "Render the configuration of the cluster as a whole",
        why: "Some facts belong to no single component: the name of the cluster, its networks, \
              its DNS domain, the platform under it, the address of its API. They are rendered \
              once, in one place, so that two components cannot be told two different things. In \
              OpenShift the config operator does it, and also prepares the cloud provider's \
              config, which the machine configs are made from much later; nothing of it goes into \
              the manifests folder, which makes the file easy to miss when it is wrong. In plain \
              Kubernetes it is the kubelets' common configuration, and the public `cluster-info` \
              from which a joining machine learns whom to trust. kubeadm puts the same into \
              ConfigMaps while it runs; here it is a file before it is an object, so it can be \
              read and compared.",
        reads: &[
            "ASSETS/manifests/",
            "ASSETS/tls/ca.crt",
            "spec.network, spec.controlPlane",
        ],
        writes: &[
            "ASSETS/config-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/records/render-config.json",
        ],
        command: "\
# profile kubernetes
bootlace render config --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/config-bootstrap
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
        built: false,
    },
    needs: &["prepare-assets", "release-info", "render-api"],
    uses: &["release.images"],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files: &[_] = match settings.cluster.profile {
        Profile::Kubernetes => &[
            (
                "config-bootstrap/manifests/cluster-info.yaml",
                "A machine that joins learns from it which authority to trust.",
            ),
            (
                "config-bootstrap/kubelet-config.yaml",
                "Kubelets that are configured differently schedule, log and evict differently.",
            ),
        ],
        Profile::Openshift => &[(
            "config-bootstrap/cloud-provider-config-generated.yaml",
            "Machine configs are rendered from it, and differ from the cluster's own without it.",
        )],
    };
    rendered(settings, "records/render-config.json", files)
}
