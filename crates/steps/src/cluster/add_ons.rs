//! `add-ons`: what makes a control plane a cluster that people can use.

use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::effect::{ApiObject, ApplyObjects, Await, Effect};
use bootlace_model::expect::{Access, Claim, Expectation, Field, Wanted};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use bootlace_model::symptom::{ContainersFail, ObjectsComplain, Symptom};

use super::live::{ADMIN, api, by, expect, lasting, objects, only_kubernetes};
use crate::assets::machine;
use crate::expectations::minutes;
use crate::facts::ADD_ONS;
use crate::failures::KNOWN;
use crate::live_step::{LiveStep, checks_nothing};

const NAME: &str = "add-ons";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Apply the add-ons",
        why: "A control plane alone gives pods no addresses, no names and no way to each other: \
              network, proxy and DNS are add-ons, and so is whatever else you put into the \
              folder. They are applied as soon as the machines have joined, beside the rest of \
              the bootstrap: the API and its database stay, so the objects do too, and their pods \
              start while the version operator still works. Tectonic \
              had a service of its own for this; it waited for the API without a limit and took \
              `AlreadyExists` for success, so that a second run never corrected what a first one \
              had got wrong. Here namespaces and definitions go first, the rest follows when the \
              definitions are served, and every object is applied rather than created, so that \
              running the step again corrects it. Add-ons that need a kind which another add-on \
              brings are tried again until the deadline, and the last error is what is reported, \
              not the first.",
        reads: &["spec.addOns.dir", "/etc/kubernetes/admin.conf"],
        writes: &["the objects of spec.addOns.dir"],
        command: "\
kubectl --kubeconfig KUBECONFIG apply --server-side --field-manager=bootlace -R -f DIR
kubectl --kubeconfig KUBECONFIG wait --for=condition=Ready node --all --timeout=10m",
        undo: UndoPolicy::ForwardOnly {
            why: "They are objects of a running cluster, and others may build on them by now; \
                  `kubectl delete -R -f DIR` removes them on purpose. Before the hand-over they go \
                  with the etcd that start-control-plane made.",
        },
        failures: &[
            "F-04", "F-06", "F-10", "F-18", "F-20", "F-24", "F-28", "F-30", "F-31", "F-46", "F-54",
            "N-01",
        ],
        built: true,
    },
    // Not the hand-over: their pods need nodes, and wait for those. What they share with the version
    // operator is only the machine, and half of the time until an app answers was waiting in turn.
    needs: &["wait-masters"],
    uses: &[],
    as_processes: Some(
        "plain processes have no kubelet, so there is no node that an add-on could run on",
    ),
    asks,
    checks: checks_nothing,
    plan,
    expects,
};

/// The most that is read of the add-ons.
const LIMIT: u64 = 64 << 20;

fn asks(settings: &Settings) -> Vec<Ask> {
    let folder = settings.cluster.add_ons.iter().cloned();
    let read = |path| Probe::ReadTree { path, limit: LIMIT };
    folder.map(|path| ADD_ONS.from(read(path))).collect()
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    only_kubernetes(settings, NAME)?;
    let Some(folder) = &settings.cluster.add_ons else {
        let reason = "the config names no add-ons (spec.addOns.dir)".to_owned();
        return Ok(Decision::Skip { reason });
    };
    let objects = objects(folder, &facts.get(&ADD_ONS)?)?;
    let waits: Vec<Effect> = objects.iter().filter_map(ready).map(wait).collect();
    let apply = Effect::ApplyObjects(ApplyObjects {
        name: format!("objects of {folder}"),
        kubeconfig: machine(ADMIN),
        lasting: Some(lasting(&objects)),
        objects,
        within: minutes(5),
        origin: by(NAME),
    });
    Ok(Decision::Do([apply].into_iter().chain(waits).collect()))
}

/// Asks whether a workload is ready.
fn ready(object: &ApiObject) -> Option<Claim> {
    let (resource, fields) = match object.id.kind.as_str() {
        "Deployment" => (
            "deployments",
            vec![Field::is("status/conditions/type=Available/status", "True")],
        ),
        "DaemonSet" => (
            "daemonsets",
            vec![
                Field::new("status/numberReady", Wanted::AtLeast(1)),
                Field::new(
                    "status/numberReady",
                    Wanted::SameAs("status/desiredNumberScheduled".into()),
                ),
            ],
        ),
        "StatefulSet" => (
            "statefulsets",
            vec![Field::new(
                "status/readyReplicas",
                Wanted::SameAs("spec/replicas".into()),
            )],
        ),
        _ => return None,
    };
    let namespace = object.id.namespace.as_deref().unwrap_or("default");
    let name = &object.id.name;
    let path = format!("/apis/apps/v1/namespaces/{namespace}/{resource}/{name}");
    Some(api(format!("{} is ready", object.id), path, fields))
}

fn wait(claim: Claim) -> Effect {
    Effect::Await(Await {
        claim,
        within: minutes(10),
        because: "An add-on that is applied and does not run helps nobody.",
        symptoms: vec![containers_fail(), nobody_takes_them()],
        origin: by(NAME),
    })
}

fn containers_fail() -> Symptom {
    Symptom::ContainersFail(ContainersFail {
        pods: vec![],
        known: KNOWN,
        lasting: &[],
        runner: None,
    })
}

/// Ends a wait for pods that no node can take.
fn nobody_takes_them() -> Symptom {
    Symptom::ObjectsComplain(ObjectsComplain {
        noun: "pod",
        access: Access::Kubeconfig(machine(ADMIN)),
        path: "/api/v1/pods?fieldSelector=status.phase%3DPending",
        condition: "PodScheduled",
        reason: "Unschedulable",
        // A node that is not ready yet, or has not been told yet where it is, may still be.
        hope: &[
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
        ],
        lasting: Duration::from_secs(10),
        hint: "change what it asks for, or add a machine that has it, then `bootlace resume`",
    })
}

fn expects(_: &Settings) -> Vec<Expectation> {
    let nodes = vec![
        Field::new("items", Wanted::AtLeast(1)),
        Field::is("items/*/status/conditions/type=Ready/status", "True"),
    ];
    let because = "A node without a pod network is not ready, and nothing is scheduled on it.";
    let all = vec![Field::is(
        "items/*/status/conditions/type=Available/status",
        "True",
    )];
    let run = "An add-on that is applied and does not run helps nobody.";
    vec![
        expect(
            api("every node is ready", "/api/v1/nodes", nodes),
            minutes(10),
            because,
        ),
        expect(
            api(
                "every deployment is available",
                "/apis/apps/v1/deployments",
                all,
            ),
            minutes(10),
            run,
        ),
    ]
}
