//! `start-control-plane`: the first moment at which something runs.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::step::{About, UndoPolicy};

use crate::assets::machine;
use crate::expectations::{minutes, ready};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "start-control-plane",
    about: &About {
        title: "Start the first control plane as static pods",
        why: "So far there are only files; now the kubelet is given the four static pods, and \
              from them come etcd, the API server, the controller manager and the scheduler, \
              without any cluster that could have scheduled them. Nobody commands their order: \
              all four start at once, and each tries again until what it needs answers. Secrets \
              go first, then the pods, each written under a name that begins with a dot and then \
              renamed, because the kubelet runs every other file that it sees in that folder, \
              half-written ones and backup copies included. cluster-bootstrap does the same with \
              two habits that hurt: it insists that the files are absent, so that a start that \
              was killed can never be started again, and on any failure it tears the control \
              plane down before anybody has looked at it; ours knows its own files again, and \
              leaves the evidence alone until `undo`. It also takes any answer of the API, even \
              an error, for a sign of life, while we wait until `/readyz` says 200 to a client \
              that checks the certificate. Images that are not pinned by digest are refused here, \
              unless you insist.",
        reads: &[
            "ASSETS/tls/",
            "ASSETS/auth/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/manifests/",
        ],
        writes: &[
            "/etc/kubernetes/manifests/",
            "/etc/kubernetes/pki/",
            "/etc/kubernetes/bootstrap-secrets/",
            "/etc/kubernetes/admin.conf",
            "/etc/kubernetes/controller-manager.conf",
            "/etc/kubernetes/scheduler.conf",
            "/etc/kubernetes/kubelet.conf",
            "/var/lib/etcd/",
            "the objects of ASSETS/manifests/",
        ],
        command: "\
# profile kubernetes
install -d -m 0700 /etc/kubernetes/pki /etc/kubernetes/bootstrap-secrets
cp -r ASSETS/tls/. /etc/kubernetes/pki/ && cp ASSETS/auth/*.conf /etc/kubernetes/
for pod in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  install -m 0600 \"ASSETS/bootstrap-manifests/$pod-pod.yaml\" \"/etc/kubernetes/manifests/.$pod\"
  mv \"/etc/kubernetes/manifests/.$pod\" \"/etc/kubernetes/manifests/$pod-pod.yaml\"
done
curl --cacert ASSETS/tls/ca.crt https://localhost:6443/readyz
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback apply --server-side -R -f ASSETS/manifests
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-bootstrap\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z --volume /etc/kubernetes:/etc/kubernetes:z \\
  \"$IMAGE\" start --tear-down-early=false --asset-dir=/assets --required-pods=PODS",
        undo: UndoPolicy::Inverse,
        failures: &[
            "F-01", "F-02", "F-03", "F-04", "F-05", "F-22", "F-23", "F-24", "F-25", "F-26", "F-27",
            "F-28", "F-29", "F-30", "F-31", "F-32", "F-33", "F-44", "N-01",
        ],
        built: false,
    },
    needs: &[
        "prepare-assets",
        "release-info",
        "render-api",
        "render-auth",
        "render-config",
        "render-version-operator",
        "render-etcd",
        "render-kube-apiserver",
        "render-kube-controller-manager",
        "render-kube-scheduler",
        "render-ingress",
        "render-machine-config",
    ],
    uses: &["release.pinned"],
    expects,
};

/// The static pods of profile `kubernetes`. They stay after the hand-over; those of OpenShift go.
const PODS: [&str; 4] = [
    "etc/kubernetes/manifests/etcd-pod.yaml",
    "etc/kubernetes/manifests/kube-apiserver-pod.yaml",
    "etc/kubernetes/manifests/kube-controller-manager-pod.yaml",
    "etc/kubernetes/manifests/kube-scheduler-pod.yaml",
];

fn expects(settings: &Settings) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    let because = "The kubelet runs what lies here, and stops what no longer does.";
    if settings.cluster.profile == Profile::Kubernetes {
        let pods = PODS.map(|pod| Claim::File {
            path: machine(pod),
            digest: None,
            mode: Some(0o600),
        });
        expectations.extend(pods.map(|claim| Expectation::now(claim, because)));
    }
    let secrets = Claim::Directory {
        path: machine("etc/kubernetes/bootstrap-secrets"),
    };
    let because = "The bootstrap's own pods mount what only they need from here.";
    expectations.push(Expectation::now(secrets, because).until("hand-over"));
    let data = Claim::Directory {
        path: machine("var/lib/etcd/member"),
    };
    let because = "An etcd that has written nothing holds no cluster.";
    expectations.push(Expectation::now(data, because).within(minutes(5)));
    let because = "A control plane that does not answer on its own machine answers nowhere.";
    expectations.push(ready(settings, "localhost", minutes(20), because));
    expectations
}
