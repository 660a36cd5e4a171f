//! `restore-overrides`: the version operator may touch everything again.

use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::effect::{ApiObject, ApplyObjects, Effect};
use bootlace_model::expect::{Expectation, Field};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use serde_json::Value;

use super::live::{LOOPBACK, api, by, expect, lasting, objects, only_kubernetes};
use crate::assets::{asset, machine};
use crate::expectations::minutes;
use crate::facts::OPERATOR_MANIFESTS;
use crate::live_step::{LiveStep, checks_nothing};

const NAME: &str = "restore-overrides";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Give all objects back to the version operator",
        why: "You may bring manifests of your own for objects that are also part of the release, \
              and during the bootstrap two parties could create them: the bootstrap, from your \
              files, and the version operator, from the release. So that the release does not win \
              that race, the version operator starts with a list of overrides that tells it to \
              leave those objects alone; this step sets the list back to what you had asked for, \
              as soon as your objects exist. Without it the release would never again update what \
              you once replaced, and nobody would remember why. A common description says that \
              bootkube.sh applies a folder of manifests here; in truth it is one merge patch of \
              the ClusterVersion's overrides, repeated every ten seconds without end, while ours \
              has a deadline.",
        reads: &["ASSETS/manifests/", "ASSETS/cvo-bootstrap/"],
        writes: &["ClusterVersion version: spec.overrides"],
        command: "\
# profile kubernetes
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback patch clusterversions.bootlace.dev version \\
  --type=merge --patch-file ASSETS/cvo-bootstrap/original-overrides.json
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback annotate --overwrite \\
  clusterversions.bootlace.dev version bootlace.dev/overrides=restored
# profile openshift
oc --kubeconfig ASSETS/auth/kubeconfig-loopback patch clusterversion version \\
  --type=merge --patch-file ASSETS/original_cvo_overrides.patch
oc --kubeconfig ASSETS/auth/kubeconfig-loopback annotate --overwrite \\
  clusterversion version bootlace.dev/overrides=restored",
        undo: UndoPolicy::ForwardOnly {
            why: "The list lives in the etcd that start-control-plane made, and goes with it.",
        },
        failures: &["F-04", "F-37", "N-01"],
        built: true,
    },
    needs: &["start-control-plane"],
    uses: &[],
    as_processes: Some(
        "no version operator runs as a plain process, so there is nobody to hand \
         anything back to",
    ),
    asks,
    checks: checks_nothing,
    plan,
    expects,
};

/// The most that is read of the operator's manifests.
const LIMIT: u64 = 16 << 20;

/// What was rendered for the operator: its own objects, and the overrides that the user wants.
const FOLDER: &str = "cvo-bootstrap";
/// The user's overrides, as a patch.
const ORIGINAL: &str = "original-overrides.json";

fn asks(settings: &Settings) -> Vec<Ask> {
    vec![OPERATOR_MANIFESTS.from(Probe::ReadTree {
        path: asset(settings, FOLDER),
        limit: LIMIT,
    })]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    only_kubernetes(settings, NAME)?;
    let folder = asset(settings, FOLDER);
    let mut tree = facts.get(&OPERATOR_MANIFESTS)?;
    let original = tree.files.iter().find(|file| file.relative == ORIGINAL);
    let original = original.map(|file| file.content.clone());
    tree.files
        .retain(|file| file.relative.starts_with("manifests/"));
    let objects = objects(&folder, &tree)?;
    let restored = objects
        .into_iter()
        .map(|object| restored(object, original.as_deref()));
    let objects = restored.collect::<Result<Vec<ApiObject>, Fault>>()?;
    Ok(Decision::Do(vec![Effect::ApplyObjects(ApplyObjects {
        name: format!("objects of {folder}/manifests, with the user's overrides"),
        kubeconfig: machine(LOOPBACK),
        lasting: Some(lasting(&objects)),
        objects,
        within: minutes(5),
        origin: by(NAME),
    })]))
}

/// Gives the version object the overrides that the user wants, and a sign that it has them.
fn restored(object: ApiObject, original: Option<&[u8]>) -> Result<ApiObject, Fault> {
    if object.id.kind != "ClusterVersion" {
        return Ok(object);
    }
    let bad = |what: String| Fault::bad_input(format!("{ORIGINAL} cannot be read: {what}"));
    let patch: Value = match original {
        Some(text) => serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?,
        None => return Err(bad("it is missing".into())),
    };
    let overrides = patch.pointer("/spec/overrides").cloned();
    let mut content = (*object.content).clone();
    content["spec"]["overrides"] = overrides.ok_or_else(|| bad("it has no overrides".into()))?;
    content["metadata"]["annotations"]["bootlace.dev/overrides"] = "restored".into();
    ApiObject::new(content, object.source)
        .ok_or_else(|| Fault::internal("the version object does not say what it is"))
}

fn expects(_: &Settings) -> Vec<Expectation> {
    let path = "/apis/bootlace.dev/v1alpha1/clusterversions/version";
    let restored = Field::is("metadata/annotations/bootlace.dev~1overrides", "restored");
    let claim = api(
        "the version operator has its overrides back",
        path,
        vec![restored],
    );
    let because = "What stays on the list is never updated again, and nothing says so.";
    let deployment = "/apis/apps/v1/namespaces/bootlace-system/deployments/version-operator";
    let there = api(
        "the version operator has its deployment",
        deployment,
        vec![],
    );
    let alone = "The operator's bootstrap pod goes at the hand-over; then only this one is left.";
    vec![
        expect(claim, Duration::from_mins(2), because),
        expect(there, Duration::from_mins(2), alone),
    ]
}
