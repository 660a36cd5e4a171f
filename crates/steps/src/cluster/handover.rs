//! `hand-over`: the cluster stands by itself; there is no way back.

use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::effect::{ApiObject, ApplyObjects, DropPath, Effect};
use bootlace_model::expect::{Claim, Expectation, Field};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use serde_json::json;

use super::live::{ADMIN, api, by, expect, only_kubernetes};
use crate::assets::machine;
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing};

const NAME: &str = "hand-over";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
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
        built: true,
    },
    needs: &["wait-etcd", "wait-control-plane", "wait-version-operator"],
    uses: &[],
    as_processes: Some(
        "the processes of the bootstrap are all that runs, so there is nothing to hand \
         over to; `bootlace undo` still takes everything back",
    ),
    asks: asks_nothing,
    checks: checks_nothing,
    plan,
    expects,
};

/// What only the bootstrap needed, in the order in which it goes: pods before their secrets.
const SCAFFOLD: [&str; 2] = [
    "etc/kubernetes/manifests/version-operator-pod.yaml",
    "etc/kubernetes/bootstrap-secrets",
];

fn plan(settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    only_kubernetes(settings, NAME)?;
    let drop = |path: &'static str| {
        Effect::DropPath(DropPath {
            path: machine(path),
            forget: Some("a secret that nobody needs any more is kept nowhere".into()),
            origin: by(NAME),
        })
    };
    let sign = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "bootstrap", "namespace": "kube-system"},
        "data": {"status": "complete"},
    });
    let sign = ApiObject::new(sign, NAME)
        .ok_or_else(|| Fault::internal("the sign of completion does not say what it is"))?;
    let mut effects: Vec<Effect> = SCAFFOLD.into_iter().map(drop).collect();
    // It is written without the scaffold, and so proves that the API takes writes without it.
    effects.push(Effect::ApplyObjects(ApplyObjects {
        name: "the sign that the bootstrap is complete".into(),
        kubeconfig: machine(ADMIN),
        objects: vec![sign],
        // An expectation looks into it.
        lasting: None,
        within: minutes(2),
        origin: by(NAME),
    }));
    Ok(Decision::Do(effects))
}

/// Asks the kernel for a way to the service network.
fn service_route(settings: &Settings) -> Claim {
    let network = settings.cluster.network.service_cidr;
    let address = network.nth(1).unwrap_or(network.address());
    let argv = ["ip", "route", "get", &address.to_string()];
    let asked = Claim::Succeeds {
        argv: argv.map(ToOwned::to_owned).into(),
        within: Duration::from_secs(10),
    };
    Claim::All {
        what: format!("a route leads to the service network {network}"),
        claims: vec![asked],
    }
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let ready = api("the API is ready at its endpoint", "/readyz", vec![]);
    let path = "/api/v1/namespaces/kube-system/configmaps/bootstrap";
    let complete = Field::is("data/status", "complete");
    let sign = api(
        "the cluster says that its bootstrap is complete",
        path,
        vec![complete],
    );
    let mut expectations = vec![
        expect(
            ready,
            minutes(5),
            "The cluster must answer without the bootstrap, or it was not handed over.",
        ),
        expect(
            sign,
            minutes(2),
            "Others wait for this sign, among them etcd's operator and the installer.",
        ),
        expect(
            service_route(settings),
            minutes(5),
            "Without a route the API server cannot call webhooks or aggregated APIs; \
             `node-network` adds one where no other route leads there.",
        ),
    ];
    expectations.extend(SCAFFOLD.map(|path| {
        let claim = Claim::Absent {
            path: machine(path),
        };
        Expectation::now(
            claim,
            "Secrets that nobody needs any more can only be stolen.",
        )
    }));
    expectations
}
