//! Waiting until what was applied is ready.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::time::Instant;

use crate::apply::Applied;
use crate::operator::Operator;
use crate::pods;
use crate::report::Reporter;

/// How long a wait may be before it is told: most levels are ready at once.
const TOLD_AFTER: Duration = Duration::from_millis(500);
/// How often a wait is told anew.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// Waits until objects are ready; returns those that are not when the time is up.
pub(crate) async fn until_ready(
    operator: &Operator,
    mut objects: Vec<Applied>,
    deadline: Instant,
    mut reporter: Option<&mut Reporter<'_>>,
) -> Vec<Applied> {
    let begin = Instant::now();
    let mut told = begin + TOLD_AFTER - TOLD_EVERY;
    objects.retain(|object| !object.is_ready());
    while !objects.is_empty() && Instant::now() < deadline {
        tokio::time::sleep(pause(begin.elapsed())).await;
        objects = futures_util::stream::iter(objects)
            .map(|object| look(operator, object))
            .buffered(8)
            .collect()
            .await;
        objects.retain(|object| !object.is_ready());
        if objects.is_empty() || told.elapsed() < TOLD_EVERY {
            continue;
        }
        told = Instant::now();
        if let Some(reporter) = reporter.as_deref_mut() {
            tell(operator, &mut objects, reporter).await;
        }
    }
    operator.log.over("waiting");
    objects
}

/// Tells what is waited for, and what its pods say about it.
async fn tell(operator: &Operator, objects: &mut [Applied], reporter: &mut Reporter<'_>) {
    let (mut missing, mut troubles) = (vec![], vec![]);
    for object in objects {
        object.trouble = trouble(operator, object).await;
        if object.trouble.is_some() {
            troubles.push(object.problem());
        }
        missing.push(format!("{} ({})", object.manifest.id, object.missing()));
    }
    reporter.tell_waiting(missing, troubles).await;
}

/// Asks the pods of a workload what keeps them from starting; an API that does not answer is no trouble.
async fn trouble(operator: &Operator, object: &Applied) -> Option<String> {
    let selector = pods::selector(&object.found)?;
    let namespace = object.manifest.id.namespace.as_deref().unwrap_or("default");
    let resource = format!("/api/v1/namespaces/{namespace}/pods");
    let pods: Value = operator.api.list(&resource, Some(&selector)).await.ok()?;
    pods::trouble(&pods)
}

/// Looks at an object again; an API that does not answer leaves it as it was.
async fn look(operator: &Operator, mut object: Applied) -> Applied {
    let name = &object.manifest.id.name;
    match operator.api.get(&object.path, name).await {
        Ok(found) => object.found = found,
        Err(refusal) => {
            let line = format!(
                "{} cannot be looked at: {}",
                object.manifest.id, refusal.why
            );
            operator.log.news("look", line);
        }
    }
    object
}

/// What starts fast is seen fast; what takes long is asked less often.
fn pause(waited: Duration) -> Duration {
    match waited.as_secs() {
        0..10 => Duration::from_millis(100),
        10..60 => Duration::from_millis(500),
        _ => Duration::from_secs(2),
    }
}
