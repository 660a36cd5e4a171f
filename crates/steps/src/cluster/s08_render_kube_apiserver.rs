//! `render-kube-apiserver`: the API server, as a static pod.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_KUBE_APISERVER_LISTED;
use crate::stage::Stage;

/// Where it lists what it wrote.
const RECORD: &str = "records/render-kube-apiserver.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-kube-apiserver",
    about: &About {
        title: "Render the first API server",
        why: "The API server is the only component that talks to etcd and the one that all \
              others talk to, so most of a bootstrap is about bringing the first one up. It \
              needs to know where etcd is and which authority vouches for it, hence this render \
              comes after that of etcd; OpenShift makes those certificates only there, kubeadm \
              and ours make them beforehand. Its flags must agree with the certificates: the \
              names that clients call it by, the range from which services get addresses, and \
              the key that signs the tokens of pods are all decided in `prepare-assets` and only \
              pointed at here. In plain Kubernetes its files are mounted from the places where \
              they stay, so that it need not be replaced at the hand-over, and its flags are \
              those of kubeadm but for one: a file, not a switch, says what strangers may see. \
              OpenShift's operator makes one more signing key while it renders, in the input \
              folder, if there is none; a render that changes its input cannot be repeated with \
              the same result, so our record lists that file too. If the operator answers \
              `unknown flag`, script and image are of different releases.",
        reads: &[
            "ASSETS/tls/",
            "ASSETS/manifests/",
            "ASSETS/etcd-bootstrap/",
            "ASSETS/records/release.json",
            "spec.rendering.images.kube-apiserver",
        ],
        writes: &[
            "ASSETS/kube-apiserver/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/tls/bound-service-account-signing-key.key",
            "ASSETS/tls/bound-service-account-signing-key.pub",
            "ASSETS/records/render-kube-apiserver.json",
        ],
        command: "\
# profile kubernetes
bootlace render kube-apiserver --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/kube-apiserver
cp ASSETS/kube-apiserver/bootstrap-manifests/* ASSETS/bootstrap-manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.kube-apiserver names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-kube-apiserver-operator\"]' ASSETS/records/release.json)
HYPERKUBE=$(jq -r '.images.hyperkube' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" \\
  /usr/bin/cluster-kube-apiserver-operator render \\
  --manifest-etcd-serving-ca=etcd-ca-bundle.crt \\
  --manifest-etcd-server-urls=https://localhost:2379 \\
  --manifest-image=\"$HYPERKUBE\" --manifest-operator-image=\"$IMAGE\" \\
  --asset-input-dir=/assets/tls --asset-output-dir=/assets/kube-apiserver \\
  --config-output-file=/assets/kube-apiserver/config \\
  --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \\
  --cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml \\
  --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
  --rendered-manifest-files=/assets/manifests --payload-version=VERSION \\
  --operand-kubernetes-version=KUBERNETES-VERSION",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18"],
        built: true,
    },
    needs: &[
        "prepare-assets",
        "release-info",
        "render-api",
        "render-etcd",
    ],
    uses: &["release.images"],
    inputs: &[],
    component: "kube-apiserver",
    record: RECORD,
    listed: RENDER_KUBE_APISERVER_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files = [(
        "kube-apiserver/bootstrap-manifests/kube-apiserver-pod.yaml",
        "The kubelet starts the API server from this file, and from nothing else.",
    )];
    rendered(settings, RECORD, &files)
}
