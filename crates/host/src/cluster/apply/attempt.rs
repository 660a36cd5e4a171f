//! One try to apply an object.

use std::time::Duration;

use bootlace_engine::port::{ApiAnswer, HostError, HostResult};
use bootlace_model::effect::{ApiObject, ObjectId};

use super::Work;
use super::definitions::{self, Standing};
use super::discovery::Resource;
use super::refusal::{Hope, Refusal};

/// How long one request may take; some wait for programs that the API asks in turn.
const LONGEST_TRY: Duration = Duration::from_secs(15);
/// What makes the API apply a document as ours, whoever owned its fields before.
const AS_OURS: &str = "fieldManager=bootlace&force=true";
/// The kind of a document that is applied; JSON is YAML, too.
const APPLIED: &str = "application/apply-patch+yaml";

/// Tries to apply an object once; a definition also has to be served.
///
/// One that `is_accepted` is only asked for: it is not applied again while it is waited for.
pub(super) async fn attempt(
    work: &Work<'_>,
    object: &ApiObject,
    is_accepted: &mut bool,
) -> HostResult<Result<(), Refusal>> {
    let within = work.left().min(LONGEST_TRY);
    match tokio::time::timeout(within, whole(work, object, is_accepted)).await {
        Ok(result) => result,
        Err(_) => Ok(Err(Refusal::below(HostError::Unreachable {
            server: work.api.server().to_owned(),
            reason: format!("no answer came within {} s", within.as_secs_f32()),
        })?)),
    }
}

async fn whole(
    work: &Work<'_>,
    object: &ApiObject,
    is_accepted: &mut bool,
) -> HostResult<Result<(), Refusal>> {
    let resource = match place(work, &object.id.api_version, &object.id.kind).await? {
        Ok(resource) => resource,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let parts = parts(&object.id, &resource);
    let answer = if *is_accepted {
        work.api.get(&parts).await
    } else {
        let body = object.content.to_string().into_bytes();
        work.api.patch(&parts, AS_OURS, APPLIED, body).await
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(Refusal::below(error)?)),
    };
    if !(200..300).contains(&answer.status) {
        if answer.status == 404 {
            // Somebody removed it meanwhile, or what is known of its kind is outdated.
            *is_accepted = false;
            work.discovery.forget(&object.id.api_version).await;
        }
        let is_expected = |name: &str| work.definitions.will_have(name);
        return Ok(Err(Refusal::of(&answer, is_expected)));
    }
    *is_accepted = true;
    if definitions::is_definition(object) {
        return served(work, object, &answer).await;
    }
    Ok(Ok(()))
}

/// Finds out where objects of a kind lie.
async fn place(
    work: &Work<'_>,
    api_version: &str,
    kind: &str,
) -> HostResult<Result<Resource, Refusal>> {
    Ok(
        match work.discovery.find(work.api, api_version, kind).await? {
            Ok(Some(resource)) => Ok(resource),
            Err(refusal) => Err(refusal),
            Ok(None) => {
                let hope = if work.definitions.will_serve(api_version, kind) {
                    Hope::Any
                } else {
                    Hope::Soon
                };
                let problem = format!("the API serves no kind {kind} in {api_version}");
                Err(Refusal::own(problem, hope))
            }
        },
    )
}

/// Finds out whether the kinds of a definition can be used.
async fn served(
    work: &Work<'_>,
    object: &ApiObject,
    answer: &ApiAnswer,
) -> HostResult<Result<(), Refusal>> {
    match definitions::standing(&answer.body) {
        Standing::Refused(why) => return Ok(Err(Refusal::own(why, Hope::None))),
        Standing::Pending => {
            let why = "the definition is not established yet".into();
            return Ok(Err(Refusal::own(why, Hope::Any)));
        }
        Standing::Established => {}
    }
    for (api_version, kind) in definitions::kinds_of(&object.content) {
        if let Err(refusal) = place(work, &api_version, &kind).await? {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(()))
}

/// Lists the parts of the path at which an object lies.
pub(super) fn parts<'a>(id: &'a ObjectId, resource: &'a Resource) -> Vec<&'a str> {
    let mut parts = vec![if id.api_version.contains('/') {
        "apis"
    } else {
        "api"
    }];
    parts.extend(id.api_version.split('/'));
    if resource.is_namespaced {
        parts.extend(["namespaces", id.namespace.as_deref().unwrap_or("default")]);
    }
    parts.extend([resource.plural.as_str(), &id.name]);
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_lie_where_their_kind_says() {
        let resource = |plural: &str, is_namespaced| Resource {
            plural: plural.into(),
            is_namespaced,
        };
        let object = |version: &str, namespace: Option<&str>| {
            let metadata = json!({"name": "a:b", "namespace": namespace});
            let content = json!({"apiVersion": version, "kind": "K", "metadata": metadata});
            ApiObject::new(content, "").unwrap()
        };
        let path = |object: &ApiObject, resource: &Resource| parts(&object.id, resource).join("/");
        let (pods, nodes) = (resource("pods", true), resource("nodes", false));
        assert_eq!(
            path(&object("v1", Some("n")), &pods),
            "api/v1/namespaces/n/pods/a:b"
        );
        assert_eq!(
            path(&object("apps/v1", None), &pods),
            "apis/apps/v1/namespaces/default/pods/a:b"
        );
        // A namespace that an object names in vain does not hinder it.
        assert_eq!(path(&object("v1", Some("n")), &nodes), "api/v1/nodes/a:b");
    }
}
