//! `verify-api`: the API, asked the way its clients will ask it.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{kubectl, minutes, ready};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "verify-api",
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
        built: false,
    },
    needs: &["start-control-plane"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let endpoint = &settings.cluster.control_plane.endpoint.host;
    let through =
        "If localhost answers and the endpoint does not, look at DNS and the load balancer.";
    let words = ["auth", "can-i", "*", "*", "--all-namespaces"];
    let admin = "An API that does not know its administrator cannot be handed over.";
    vec![
        ready(settings, endpoint, minutes(10), through),
        kubectl(settings, &words, minutes(2), admin),
    ]
}
