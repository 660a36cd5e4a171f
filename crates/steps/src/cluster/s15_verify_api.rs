//! `verify-api`: the API, asked the way its clients will ask it.

use bootlace_model::config::Settings;
use bootlace_model::effect::{ApiObject, ApplyObjects, Effect};
use bootlace_model::expect::{Expectation, Field, Wanted};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use serde_json::json;

use super::live::{ADMIN, api, by, expect_placed, only_kubernetes};
use crate::assets::machine;
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing};

const NAME: &str = "verify-api";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Verify that the API answers under every name that clients use",
        why: "The step before has proved that the API answers on its own machine, and everything \
              after it asks from elsewhere: through a DNS name, a load balancer, a virtual \
              address. So the same question is asked the way clients will ask it, at the endpoint \
              of the config, with the certificate checked against the cluster's authority; an \
              answer over localhost together with none at the endpoint means that the load \
              balancer or the name is wrong, and not the cluster. bootkube.sh notes early on \
              whether the names resolve, asks the API only at the very end, with `curl -k`, which \
              would also be content with somebody else's server, and goes on if either fails, so \
              that the error shows up much later as masters that never came. Wrong names and load \
              balancers are among the commonest reasons for a bootstrap that seems to hang. Being \
              alive is not enough either: the administrator's certificate is tried too, because \
              an API that answers everybody but its administrator cannot be handed over.",
        reads: &[
            "ASSETS/auth/kubeconfig",
            "ASSETS/tls/ca.crt",
            "spec.controlPlane.endpoint",
        ],
        writes: &["nothing"],
        command: "\
curl --cacert ASSETS/tls/ca.crt https://ENDPOINT/readyz
kubectl --kubeconfig ASSETS/auth/kubeconfig auth can-i '*' '*' --all-namespaces",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &[
            "F-06", "F-08", "F-27", "F-29", "F-30", "F-33", "F-35", "F-37", "F-38", "F-40", "N-01",
        ],
        built: true,
    },
    needs: &["start-control-plane"],
    uses: &[],
    as_processes: None,
    asks: asks_nothing,
    checks: checks_nothing,
    plan,
    expects,
};

/// What is written and read again.
const WRITTEN: &str = "bootlace-api-check";

fn plan(settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    only_kubernetes(settings, NAME)?;
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": WRITTEN, "namespace": "kube-system"},
        "data": {"cluster": settings.cluster.name},
    });
    let object = ApiObject::new(object, NAME)
        .ok_or_else(|| Fault::internal("the object to write does not say what it is"))?;
    Ok(Decision::Do(vec![Effect::ApplyObjects(ApplyObjects {
        name: "one object, to be read again".into(),
        kubeconfig: machine(ADMIN),
        objects: vec![object],
        // An expectation looks into it.
        lasting: None,
        within: minutes(2),
        origin: by(NAME),
    })]))
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let version = &settings.cluster.kubernetes_version;
    let through =
        "If localhost answers and the endpoint does not, look at DNS and the load balancer.";
    let right = Field::is("gitVersion", version.as_str());
    let wrong = "An API server of another version than the rest speaks another dialect.";
    let groups = Field::new("groups", Wanted::AtLeast(10));
    let discovery = "Clients find out here what they may ask for.";
    let path = format!("/api/v1/namespaces/kube-system/configmaps/{WRITTEN}");
    let same = Field::is("data/cluster", settings.cluster.name.as_str());
    let read = "An API that takes what is written and does not give it back has lost it.";
    let claims = [
        (
            api("the API is ready at its endpoint", "/readyz", vec![]),
            through,
        ),
        (api("the API is alive", "/livez", vec![]), through),
        (
            api(
                format!("the API is Kubernetes {version}"),
                "/version",
                vec![right],
            ),
            wrong,
        ),
        (
            api("the API tells what it serves", "/apis", vec![groups]),
            discovery,
        ),
        (
            api("what was written is read again", path, vec![same]),
            read,
        ),
    ];
    let within = minutes(5);
    claims
        .map(|(claim, because)| expect_placed(settings, claim, within, because))
        .into()
}
