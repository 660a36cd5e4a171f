//! `wait-version-operator`: the release begins to install itself.

use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::expect::{
    Access, Claim, Expectation, Field, MaintainedClaim, Question, ServiceClaim, Vantage, Wanted,
};
use bootlace_model::step::{About, UndoPolicy};

use super::live::{ADMIN, api, expect};
use crate::assets::machine;
use crate::expectations::minutes;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing, only_looks};

const NAME: &str = "wait-version-operator";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Wait until the version operator works on the release",
        why: "From the hand-over on nobody pushes any more: what is still missing is installed by \
              the version operator, and if that one does not run, the cluster stays as it is for \
              ever, with a control plane and nothing on it. So it must run as an ordinary pod, \
              scheduled by the new scheduler, and must have accepted the release, before the \
              bootstrap steps back. It is not waited for all of its work to be done: that takes \
              longer than everything before, needs workers that may join later, and is reported \
              by the operator itself. Its log is full of `no matches for kind` in the beginning, \
              which is normal as long as the number of such lines falls. bootkube.sh asks only \
              that the pod runs, the installer waits for the result in a second command; the line \
              between them is the same here.",
        reads: &["ClusterVersion version", "Pods of the version operator"],
        writes: &["nothing"],
        command: "\
# profile kubernetes
kubectl --kubeconfig KUBECONFIG --namespace bootlace-system \\
  wait --for=condition=Available deployment/version-operator --timeout=20m
# profile openshift
oc --kubeconfig KUBECONFIG --namespace openshift-cluster-version \\
  wait --for=condition=Available deployment/cluster-version-operator --timeout=20m
oc --kubeconfig KUBECONFIG get clusterversion version",
        undo: UndoPolicy::ForwardOnly {
            why: "It only looks: there is nothing to take back.",
        },
        failures: &["F-04", "F-14", "F-20", "F-51", "N-01"],
        built: true,
    },
    needs: &["restore-overrides", "verify-api"],
    uses: &[],
    as_processes: Some("no version operator runs as a plain process"),
    asks: asks_nothing,
    checks: checks_nothing,
    plan: only_looks,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let deployment = "/apis/apps/v1/namespaces/bootlace-system/deployments/version-operator";
    let available = Field::is("status/conditions/type=Available/status", "True");
    // One that shall have no pod at all counts as available.
    let has_pod = Field::new("status/availableReplicas", Wanted::AtLeast(1));
    let runs = api(
        "the version operator runs as an ordinary pod",
        deployment,
        vec![available, has_pod],
    );
    let because = "After the hand-over only the version operator installs what is still missing.";
    let version = "/apis/bootlace.dev/v1alpha1/clusterversions/version";
    let accepted = vec![
        Field::new("status/desired/version", Wanted::Something),
        Field::new(
            "status/observedGeneration",
            Wanted::SameAs("metadata/generation".into()),
        ),
    ];
    let accepts = api(
        "the version operator has accepted the release",
        version,
        accepted,
    );
    let idle = "An operator that has not read what it shall install installs nothing.";
    let mut expectations = vec![
        expect(runs, minutes(20), because),
        expect(accepts, minutes(10), idle),
        Expectation::now(installed(version), REPAIRED)
            .within(minutes(2))
            .by_verify(),
    ];
    expectations.extend(services(settings));
    expectations
}

const REPAIRED: &str = "The version operator restores deleted and changed objects within 30 s; \
                        what it cannot restore is in the status of ClusterVersion version.";

/// Compares the objects of the release with what the operator last left.
fn installed(version: &str) -> Claim {
    Claim::Maintained(MaintainedClaim {
        what: "the objects of the release exist and are unchanged".into(),
        access: Access::Kubeconfig(machine(ADMIN)),
        path: version.into(),
        list_at: "status/objects",
        progress_at: "status/conditions/type=Progressing/message",
    })
}

/// Asks the cluster's own services, as programs on the machine and in pods do.
fn services(settings: &Settings) -> impl Iterator<Item = Expectation> {
    let domain = &settings.cluster.network.cluster_domain;
    let api = (
        "default/services/kubernetes",
        Question::Identity {
            port: 443,
            authority: machine("etc/kubernetes/pki/ca.crt"),
        },
        "the API server's Service answers",
        "Pods reach the API server, and the API server its webhooks, through Services.",
    );
    let dns = (
        "kube-system/services/kube-dns",
        Question::Name(format!("kubernetes.default.svc.{domain}")),
        "the cluster DNS answers",
        "Programs find Services by name.",
    );
    let vantages = [(Vantage::Machine, "this machine"), (Vantage::Pod, "a pod")];
    [api, dns]
        .into_iter()
        .flat_map(move |(path, question, what, because)| {
            vantages.map(|(from, place)| {
                let claim = Claim::Service(ServiceClaim {
                    what: format!("{what} from {place}"),
                    access: Access::Kubeconfig(machine(ADMIN)),
                    path: format!("/api/v1/namespaces/{path}"),
                    address_at: "spec/clusterIP",
                    from,
                    question: question.clone(),
                });
                Expectation::now(claim, because)
                    .within(Duration::from_secs(30))
                    .by_verify()
            })
        })
}
