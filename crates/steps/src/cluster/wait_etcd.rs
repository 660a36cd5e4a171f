//! `wait-etcd`: the database on as many machines as it shall have.

use bootlace_model::config::Settings;
use bootlace_model::expect::{Access, ApiClaim, Claim, Expectation, Field, Wanted};
use bootlace_model::step::{About, UndoPolicy};
use serde_json::json;

use super::live::expect;
use crate::assets::machine;
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing, only_looks};

const NAME: &str = "wait-etcd";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
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
  --cert ASSETS/tls/etcd/server.crt --key ASSETS/tls/etcd/server.key \\
  endpoint health --cluster
# profile openshift
oc --kubeconfig KUBECONFIG wait --for=condition=EtcdRunningInCluster etcd/cluster --timeout=30m",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &["F-29", "F-44", "F-49", "F-50"],
        built: true,
    },
    needs: &["wait-masters"],
    uses: &[],
    as_processes: Some(
        "the only etcd is a plain process, and no machine could bring another member",
    ),
    asks: asks_nothing,
    checks: checks_nothing,
    plan: only_looks,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let replicas = settings.cluster.control_plane.replicas;
    let because = "Handing over with fewer members would leave data on too few machines.";
    let fields = vec![
        Field::new("members", Wanted::Length(replicas.into())),
        // A member that was added and never started has no name yet.
        Field::new("members/*/name", Wanted::Something),
    ];
    let what = format!("etcd has {replicas} members, each of them started");
    let listens = settings.cluster.control_plane.ports.etcd_clients;
    let etcd = |what, path, post, fields| etcd(listens, what, path, post, fields);
    let members = etcd(what, "/v3/cluster/member/list", Some(json!({})), fields);
    let silent = "A member on the list that does not answer still counts in every vote.";
    let health = vec![Field::is("health", "true")];
    let healthy = etcd("etcd can write".into(), "/health", None, health);
    let alarms = vec![Field::new("alarms", Wanted::Length(0))];
    let question = json!({"action": "GET"});
    let calm = etcd(
        "etcd raises no alarm".into(),
        "/v3/maintenance/alarm",
        Some(question),
        alarms,
    );
    let room = "An etcd that is out of room answers and takes nothing more.";
    vec![
        expect(members, minutes(30), because),
        expect(healthy, minutes(30), silent),
        expect(calm, minutes(5), room),
    ]
}

/// Asks etcd itself, as the one who looks after its health.
fn etcd(
    listens: u16,
    what: String,
    path: &str,
    post: Option<serde_json::Value>,
    fields: Vec<Field>,
) -> Claim {
    Claim::Api(ApiClaim {
        what,
        access: Access::Certificate {
            server: format!("https://localhost:{listens}"),
            authority: machine("etc/kubernetes/pki/etcd/ca.crt"),
            certificate: machine("etc/kubernetes/pki/etcd/server.crt"),
            key: machine("etc/kubernetes/pki/etcd/server.key"),
        },
        path: path.into(),
        post,
        fields,
    })
}
