//! Asks an API whether it has objects.

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::effect::{GivenObject, ObjectId};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::super::api::Api;
use super::AT_ONCE;
use super::attempt::parts;
use super::discovery::Discovery;

/// Tells for each object whether it is there.
pub(in super::super) async fn there(api: &Api, objects: &[GivenObject]) -> HostResult<Vec<bool>> {
    let discovery = Discovery::default();
    stream::iter(objects)
        .map(|object| is_there(api, &discovery, &object.id))
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

async fn is_there(api: &Api, discovery: &Discovery, id: &ObjectId) -> HostResult<bool> {
    let unsaid = |reason: String| HostError::Unreachable {
        server: api.server().to_owned(),
        reason,
    };
    let resource = match discovery.find(api, &id.api_version, &id.kind).await? {
        Ok(Some(resource)) => resource,
        // Whatever was of a kind that is not served any more is gone with it.
        Ok(None) => return Ok(false),
        Err(refusal) => return Err(unsaid(refusal.problem)),
    };
    let answer = api.get(&parts(id, &resource)).await?;
    match answer.status {
        200 => Ok(true),
        404 => Ok(false),
        status => Err(unsaid(format!("it answers {status} when asked for {id}"))),
    }
}
