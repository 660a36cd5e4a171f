//! What the steps on a running machine have in common: who is asked, and what ends a wait.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bootlace_model::config::{Profile, Settings};
use bootlace_model::effect::{ApiObject, Given, GivenObject, Origin, UnitName};
use bootlace_model::expect::{Access, ApiClaim, Claim, Expectation, Field};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::probe::FileTree;
use bootlace_model::step::PlanError;
use bootlace_model::supervised;
use bootlace_model::symptom::Symptom;

use jiff::Timestamp;

use crate::assets::machine;
use crate::documents::{documents, is_manifest_name};
use crate::failures::KNOWN;

/// The administrator's kubeconfig, which stays.
pub(crate) const ADMIN: &str = "etc/kubernetes/admin.conf";
/// The kubeconfig that asks the API server of this machine itself, for as long as we bootstrap.
pub(crate) const LOOPBACK: &str = "etc/kubernetes/bootstrap-secrets/kubeconfig";

/// Returns the name of a unit of ours.
pub(crate) fn unit(name: &'static str) -> Result<UnitName, PlanError> {
    UnitName::parse(name)
        .ok_or_else(|| Fault::internal(format!("{name} cannot be the name of a unit")).into())
}

/// Names a step as the source of what it does.
pub(crate) fn by(step: &str) -> Origin {
    Origin::new("built-in", format!("{}/{step}", super::NAME))
}

/// Refuses profiles whose control plane nobody here can start.
pub(crate) fn only_kubernetes(settings: &Settings, step: &str) -> Result<(), Fault> {
    if settings.cluster.profile == Profile::Kubernetes {
        return Ok(());
    }
    let message = format!("{step} of profile openshift is not built yet");
    Err(Fault::new(FaultKind::Preflight, message)
        .because("Its control plane is started by its own images, which nobody here has run.")
        .hint("`bootlace run cluster --to render-machine-config` renders as far as is built"))
}

/// Asks the API as the administrator.
pub(crate) fn api(what: impl Into<String>, path: impl Into<String>, fields: Vec<Field>) -> Claim {
    Claim::Api(ApiClaim {
        what: what.into(),
        access: Access::Kubeconfig(machine(ADMIN)),
        path: path.into(),
        post: None,
        fields,
    })
}

/// Expects an answer of the API within a time, unless the machine shows why it cannot come.
pub(crate) fn expect(claim: Claim, within: Duration, because: &'static str) -> Expectation {
    let units = ["kubelet.service", "containerd.service"];
    let units = units.into_iter().filter_map(UnitName::parse);
    let symptoms = units.map(Symptom::UnitFails).collect();
    Expectation::now(claim, because)
        .within(within)
        .unless(symptoms)
}

/// Like [`expect`], of what runs wherever the control plane does.
pub(crate) fn expect_placed(
    settings: &Settings,
    claim: Claim,
    within: Duration,
    because: &'static str,
) -> Expectation {
    if settings.placement.is_kubelet() {
        return expect(claim, within, because);
    }
    Expectation::now(claim, because)
        .within(within)
        .unless(vec![processes_fail()])
}

/// Ends a wait when a plain process ends for good.
pub(crate) fn processes_fail() -> Symptom {
    Symptom::ProcessesFail {
        state: machine(supervised::STATE),
        known: KNOWN,
    }
}

/// Tells whether an object is a bootstrap token.
pub(crate) fn is_token(object: &ApiObject) -> bool {
    object.id.kind == "Secret" && object.content["type"] == "bootstrap.kubernetes.io/token"
}

/// Lets a bootstrap token end, unless it says itself when it ends.
pub(crate) fn expire(token: &mut ApiObject, expires: Timestamp) {
    const FIELD: &str = "expiration";
    let is_set = |map: &str| !token.content[map][FIELD].is_null();
    if !is_set("data") && !is_set("stringData") {
        // Kubernetes reads whole seconds alone.
        let expires = expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let encoded = base64::engine::general_purpose::STANDARD.encode(expires);
        Arc::make_mut(&mut token.content)["data"][FIELD] = encoded.into();
    }
}

/// Lists the objects that stay for as long as the cluster does: all but tokens, which end by themselves.
pub(crate) fn lasting(objects: &[ApiObject]) -> Given {
    let lasting = objects.iter().filter(|object| !is_token(object));
    let given = lasting.map(|object| GivenObject {
        id: object.id.clone(),
        source: object.source.clone(),
    });
    Given {
        kubeconfig: machine(ADMIN),
        objects: given.collect(),
    }
}

/// Reads all objects of a folder, in the order of its files.
pub(crate) fn objects(folder: &TargetPath, tree: &FileTree) -> Result<Vec<ApiObject>, Fault> {
    let mut objects = Vec::new();
    for file in &tree.files {
        if !is_manifest_name(&file.relative) {
            continue;
        }
        let source = format!("{folder}/{}", file.relative);
        let documents = documents(&file.relative, &file.content).map_err(|problem| {
            Fault::bad_input(format!("{source} cannot be read: {}", problem.what))
                .in_file(source.as_str())
        })?;
        for document in documents {
            for object in flattened(document.value) {
                let no_object = || {
                    Fault::bad_input(format!("{source} holds something that is no object"))
                        .in_file(source.as_str())
                };
                objects.push(ApiObject::new(object, source.as_str()).ok_or_else(no_object)?);
            }
        }
    }
    Ok(objects)
}

/// Takes lists apart.
fn flattened(value: serde_json::Value) -> Vec<serde_json::Value> {
    let kind = value.get("kind").and_then(serde_json::Value::as_str);
    let is_list = kind.is_some_and(|kind| kind.ends_with("List"));
    match value.get("items") {
        Some(serde_json::Value::Array(items)) if is_list => items.clone(),
        _ => vec![value],
    }
}
