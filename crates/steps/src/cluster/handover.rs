//! `hand-over`: the cluster stands by itself; there is no way back.

use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::step::{About, UndoPolicy};

use crate::assets::machine;
use crate::expectations::{kubectl, minutes, ready};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "hand-over",
    about: &About {
        title: "Hand over to the real control plane and remove the bootstrap",
        why: "Now the scaffold goes. What was waited for is proved once more, since a control \
              plane that was ready ten minutes ago is only a memory; then the bootstrap removes \
              its own static pods, then the secrets that only they needed, and last it marks \
              itself complete in the cluster, which is the sign for OpenShift's etcd operator to \
              remove the first member and for the installer to delete the machine. The order \
              matters: cluster-bootstrap removes the secrets first, and a pod that restarts in \
              between cannot start any more. In plain Kubernetes the static pods and \
              /etc/kubernetes/pki stay, because they are the real control plane, and only what \
              the bootstrap alone needed goes. From here on the cluster changes by itself, and \
              machines hold data and certificates that no journal of ours knows; taking files \
              back would not restore the state from before but leave a broken mixture, so `undo` \
              ends here, and `bootlace reset` is for giving a machine back.",
        reads: &[
            "/etc/kubernetes/manifests/",
            "/etc/kubernetes/bootstrap-secrets/",
        ],
        writes: &[
            "/etc/kubernetes/bootstrap-secrets/",
            "/etc/kubernetes/manifests/",
            "ConfigMap kube-system/bootstrap",
        ],
        command: "\
# profile openshift: the bootstrap's own pods
rm /etc/kubernetes/manifests/{kube-apiserver,kube-controller-manager,kube-scheduler}-pod.yaml
# both profiles, when nothing uses them any more
rm -rf /etc/kubernetes/bootstrap-secrets
kubectl --kubeconfig KUBECONFIG --namespace kube-system \\
  create configmap bootstrap --from-literal=status=complete",
        undo: UndoPolicy::PointOfNoReturn {
            why: "The cluster runs and changes by itself from here on: machines hold data and \
                  certificates that the journal does not know. `bootlace reset` gives a machine \
                  back.",
        },
        failures: &["F-01", "F-03", "F-30", "F-39", "F-49", "F-50", "F-53"],
        built: false,
    },
    needs: &["wait-etcd", "wait-control-plane", "wait-version-operator"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let secrets = Claim::Absent {
        path: machine("etc/kubernetes/bootstrap-secrets"),
    };
    let status = "--for=jsonpath={.data.status}=complete";
    let words = [
        "--namespace=kube-system",
        "wait",
        status,
        "configmap/bootstrap",
        "--timeout=5s",
    ];
    let endpoint = &settings.cluster.control_plane.endpoint.host;
    vec![
        ready(
            settings,
            endpoint,
            minutes(5),
            "The cluster must answer without the bootstrap, or it was not handed over.",
        ),
        kubectl(
            settings,
            &words,
            minutes(2),
            "Others wait for this sign, among them etcd's operator and the installer.",
        ),
        Expectation::now(
            secrets,
            "Secrets that nobody needs any more can only be stolen.",
        ),
    ]
}
