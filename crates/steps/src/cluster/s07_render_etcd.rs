//! `render-etcd`: the database, as a static pod.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_ETCD_LISTED;
use crate::stage::{Input, Stage};

/// Where it lists what it wrote.
const RECORD: &str = "records/render-etcd.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-etcd",
    about: &About {
        title: "Render the first member of etcd",
        why: "Everything that a cluster knows is in etcd, and the API server does not start \
              without it, so a first member must run before there is an API that could start it: \
              as a static pod, a file that the kubelet runs without asking anybody. bootkube.sh \
              copies that file straight into the kubelet's folder, so that etcd starts in the \
              middle of the rendering and keeps running when a later render fails; here nothing \
              starts before `start-control-plane`. OpenShift's operator looks at the machine \
              while it renders, at its name and at its address inside the machine network, and \
              makes etcd's certificates on the way, so that its output differs from run to run: \
              rendered again beside an etcd that already runs, it makes an authority that the \
              running one does not know. The built-in renderer is pure: certificates come from \
              `prepare-assets`, names from the config, and the same input gives the same bytes. \
              How many members there shall be in the end stands in a small object beside it, and \
              whoever adds members reads it there. OpenShift's operator also needs flags that \
              only its own version knows, which is why script and image must come from one \
              release.",
        reads: &[
            "ASSETS/tls/etcd/",
            "ASSETS/manifests/",
            "ASSETS/records/node.json",
            "ASSETS/records/release.json",
            "ASSETS/records/copy-manifests.json",
            "spec.controlPlane",
            "spec.rendering.images.etcd",
        ],
        writes: &[
            "ASSETS/etcd-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/tls/",
            "ASSETS/records/render-etcd.json",
        ],
        command: "\
# profile kubernetes
bootlace render etcd --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/etcd-bootstrap
cp ASSETS/etcd-bootstrap/manifests/* ASSETS/manifests/
cp ASSETS/etcd-bootstrap/bootstrap-manifests/* ASSETS/bootstrap-manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.etcd names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-etcd-operator\"]' ASSETS/records/release.json)
ETCD=$(jq -r '.images.etcd' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" \\
  /usr/bin/cluster-etcd-operator render --asset-output-dir=/assets/etcd-bootstrap \\
  --cluster-configmap-file=/assets/manifests/cluster-config.yaml --etcd-image=\"$ETCD\" \\
  --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
  --network-config-file=/assets/manifests/cluster-network-02-config.yml \\
  --rendered-manifest-files=/assets/manifests --payload-version=VERSION",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18", "F-31"],
        built: true,
    },
    needs: &["prepare-assets", "release-info", "render-api"],
    uses: &["node.name", "release.images"],
    inputs: &[Input::Copied],
    component: "etcd",
    record: RECORD,
    listed: RENDER_ETCD_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let pod = match settings.cluster.profile {
        Profile::Kubernetes => "etcd-bootstrap/bootstrap-manifests/etcd-pod.yaml",
        Profile::Openshift => "etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml",
    };
    let files = [(
        pod,
        "The kubelet starts etcd from this file, and from nothing else.",
    )];
    rendered(settings, RECORD, &files)
}
