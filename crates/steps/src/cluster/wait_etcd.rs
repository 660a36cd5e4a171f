//! `wait-etcd`: the database on as many machines as it shall have.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{at_least, kubectl, minutes};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "wait-etcd",
    about: &About {
        title: "Wait until etcd has a healthy member on every control-plane machine",
        why: "etcd agrees by majority: with one member it stops when that one stops, with two it \
              stops when either does, and only with three can one be lost. So the first member, \
              which was only a means to begin, may not go before enough others hold all the data, \
              and that is what is waited for here. In OpenShift the etcd operator adds the \
              members, and takes the bootstrap's own away only when there are four with it, no \
              other is ill, and the bootstrap has said that it is complete; the famous three \
              members are what is left afterwards. The operator's own tool for this wait has no \
              time limit, so that a disk that is too slow looks like patience, while ours has a \
              deadline. A member that was left behind on the list counts in every vote and never \
              answers, so each one on the list must answer, not only enough of them.",
        reads: &["spec.controlPlane.replicas", "the members of etcd"],
        writes: &["nothing"],
        command: "\
# profile kubernetes
etcdctl --endpoints https://localhost:2379 --cacert ASSETS/tls/etcd/ca.crt \\
  --cert ASSETS/tls/etcd/healthcheck-client.crt --key ASSETS/tls/etcd/healthcheck-client.key \\
  endpoint health --cluster
# profile openshift
oc --kubeconfig KUBECONFIG wait --for=condition=EtcdRunningInCluster etcd/cluster --timeout=30m",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &["F-29", "F-44", "F-49", "F-50"],
        built: false,
    },
    needs: &["wait-masters"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let because = "Handing over with fewer members would leave data on too few machines.";
    if settings.cluster.profile == Profile::Openshift {
        let running = "--for=condition=EtcdRunningInCluster";
        let etcd = "etcds.operator.openshift.io/cluster";
        let words = ["wait", running, etcd, "--timeout=5s"];
        return vec![kubectl(settings, &words, minutes(30), because)];
    }
    let all = at_least(settings.cluster.control_plane.replicas);
    let pods = ["--namespace=kube-system", "--selector=component=etcd"];
    let count = [&["get", "pods"][..], &pods, &["-o", &all]].concat();
    let argv = [
        "etcdctl",
        "--endpoints=https://localhost:2379",
        "--cacert=/etc/kubernetes/pki/etcd/ca.crt",
        "--cert=/etc/kubernetes/pki/etcd/healthcheck-client.crt",
        "--key=/etc/kubernetes/pki/etcd/healthcheck-client.key",
        "endpoint",
        "health",
        "--cluster",
    ];
    let healthy = Claim::Succeeds {
        argv: argv.map(str::to_owned).into(),
        within: minutes(1),
    };
    let silent = "A member on the list that does not answer still counts in every vote.";
    vec![
        kubectl(settings, &count, minutes(30), because),
        Expectation::now(healthy, silent).within(minutes(30)),
    ]
}
