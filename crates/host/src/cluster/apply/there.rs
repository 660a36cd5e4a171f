//! Asks an API for objects.

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::effect::{GivenObject, ObjectId};
use bootlace_model::expect::mark;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::super::api::Api;
use super::AT_ONCE;
use super::attempt::parts;
use super::discovery::Discovery;

/// Returns the mark of each object; none if it is not there.
pub(in super::super) async fn there(
    api: &Api,
    objects: &[GivenObject],
) -> HostResult<Vec<Option<String>>> {
    let discovery = Discovery::default();
    stream::iter(objects)
        .map(|object| mark_of(api, &discovery, &object.id))
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

async fn mark_of(api: &Api, discovery: &Discovery, id: &ObjectId) -> HostResult<Option<String>> {
    let unsaid = |reason: String| HostError::Unreachable {
        server: api.server().to_owned(),
        reason,
    };
    let resource = match discovery.find(api, &id.api_version, &id.kind).await? {
        Ok(Some(resource)) => resource,
        // Whatever was of a kind that is not served any more is gone with it.
        Ok(None) => return Ok(None),
        Err(refusal) => return Err(unsaid(refusal.problem)),
    };
    let answer = api.get(&parts(id, &resource)).await?;
    match answer.status {
        200 => Ok(Some(mark(&answer.body))),
        404 => Ok(None),
        status => Err(unsaid(format!("it answers {status} when asked for {id}"))),
    }
}
