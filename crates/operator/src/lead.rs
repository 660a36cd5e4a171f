//! What the holder of the lease does: a pass, a wait, the next pass.

use std::pin::pin;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};
use futures_util::StreamExt as _;
use kube::api::WatchEvent;
use tokio::time::Instant;

use crate::cluster_version::{self, ClusterVersion, Metadata};
use crate::operator::Operator;
use crate::pass::{self, Outcome, Patience};
use crate::retry::{Refusal, back_off};
use crate::status::{Problem, ProblemKind};

/// The wait after the first pass that failed.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// How long a pass waits for one level to be ready before it says that something is wrong.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often something is looked for that must come before the first pass.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Works until the lease is lost, or with `once` until everything is done.
pub(crate) async fn lead(operator: &Operator, deadline: Instant) -> Result<(), Fault> {
    if operator.options.once {
        return once(operator, deadline).await;
    }
    let mut failures = 0;
    loop {
        let version = appears(operator).await;
        let mut changed = pin!(changes(operator, &version.metadata));
        let outcome = tokio::select! {
            outcome = pass::pass(operator, &version, Patience::Each(PATIENCE)) => outcome?,
            () = &mut changed => {
                failures = 0;
                continue;
            }
        };
        let wait = match outcome {
            Outcome::Complete => {
                failures = 0;
                operator.options.resync
            }
            Outcome::Incomplete {
                may_help: false, ..
            } => operator.options.resync,
            Outcome::Incomplete { may_help: true, .. } | Outcome::Unreachable(_) => {
                failures += 1;
                back_off(failures - 1, FIRST_RETRY, operator.options.resync)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = &mut changed => {
                operator.log.say("the ClusterVersion changed");
                failures = 0;
            }
        }
    }
}

/// Waits until the `ClusterVersion` is there: before that nobody knows what shall be left alone.
async fn appears(operator: &Operator) -> ClusterVersion {
    loop {
        match read(operator).await {
            Ok(version) => {
                operator.log.over("version");
                return version;
            }
            Err(refusal) => {
                let line = format!("waiting for the ClusterVersion: {}", refusal.why);
                operator.log.news("version", line);
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn read(operator: &Operator) -> Result<ClusterVersion, Refusal> {
    let (resource, name) = (cluster_version::RESOURCE, cluster_version::NAME);
    operator.api.get(resource, name).await
}

/// Waits until something else is wanted than at the time of the given metadata.
async fn changes(operator: &Operator, known: &Metadata) {
    let mut since = known.resource_version.clone();
    loop {
        if has_changed(operator, known, &since).await {
            return;
        }
        // The watch ended, as watches do after some minutes: catch up with what was missed.
        tokio::time::sleep(Duration::from_secs(1)).await;
        match read(operator).await {
            Ok(version) if version.metadata.wants_the_same(known) => {
                since = version.metadata.resource_version;
            }
            Ok(_) => return,
            Err(refusal) if refusal.is_absent() => return,
            Err(_) => {}
        }
    }
}

/// Follows the `ClusterVersion`; tells whether something else is wanted, or the watch ended before.
async fn has_changed(operator: &Operator, known: &Metadata, since: &str) -> bool {
    let (resource, name) = (cluster_version::RESOURCE, cluster_version::NAME);
    let events = operator
        .api
        .watch::<ClusterVersion>(resource, Some(name), since)
        .await;
    let Ok(mut events) = events else {
        return false;
    };
    while let Some(event) = events.next().await {
        match event {
            Ok(WatchEvent::Added(version) | WatchEvent::Modified(version)) => {
                if !version.metadata.wants_the_same(known) {
                    return true;
                }
            }
            Ok(WatchEvent::Deleted(_)) => return true,
            Ok(WatchEvent::Bookmark(_)) => {}
            Ok(WatchEvent::Error(_)) | Err(_) => return false,
        }
    }
    false
}

/// Makes passes until one is complete, none can be, or the time is up.
async fn once(operator: &Operator, deadline: Instant) -> Result<(), Fault> {
    let mut failures = 0;
    loop {
        // The deadline of the whole is a moment later, so that it is told here what is missing.
        let patience = deadline - Duration::from_millis(200);
        let outcome = match read(operator).await {
            Ok(version) => pass::pass(operator, &version, Patience::Until(patience)).await?,
            Err(refusal) if refusal.is_absent() => return Err(no_version()),
            Err(refusal) => Outcome::Unreachable(refusal.why),
        };
        let wait = back_off(failures, FIRST_RETRY, Duration::from_secs(5));
        let is_late = Instant::now() + wait >= patience;
        failures += 1;
        match outcome {
            Outcome::Complete => return Ok(()),
            Outcome::Incomplete { problems, may_help } if is_late || !may_help => {
                return Err(incomplete(&problems));
            }
            Outcome::Unreachable(why) if is_late => return Err(unreachable(&why)),
            Outcome::Incomplete { .. } | Outcome::Unreachable(_) => tokio::time::sleep(wait).await,
        }
    }
}

fn no_version() -> Fault {
    Fault::new(
        FaultKind::Preflight,
        "the cluster has no ClusterVersion `version`",
    )
    .because("it says which release is wanted and which objects are left alone")
    .hint("`bootlace run cluster --to restore-overrides` makes it")
}

fn unreachable(why: &str) -> Fault {
    Fault::new(
        FaultKind::Deadline,
        format!("the API server does not answer: {why}"),
    )
    .because("what is not applied yet stays that way")
    .hint("`bootlace verify cluster --only start-control-plane` tells what is wrong with it")
}

/// Says what is wrong; a manifest that can never be applied matters most.
fn incomplete(problems: &[Problem]) -> Fault {
    let worst = problems.iter().min_by_key(|problem| problem.kind);
    let (kind, message) = match worst.map(|problem| problem.kind) {
        Some(ProblemKind::Broken) => (FaultKind::BadInput, "the release has broken manifests"),
        Some(ProblemKind::Refused) => (
            FaultKind::StepFailed,
            "manifests of the release are refused",
        ),
        Some(ProblemKind::NotReady) | None => (
            FaultKind::Deadline,
            "what the release installs is not ready in time",
        ),
    };
    let fault = Fault::new(kind, message)
        .because("the run levels after it wait for it")
        .hint("`kubectl get clusterversions.bootlace.dev version -o yaml` shows how far it is");
    problems
        .iter()
        .fold(fault, |fault, problem| fault.detail(problem.to_string()))
}
