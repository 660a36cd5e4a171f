//! One pass: every level of the release, from the lowest to the first that is not complete.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::expect::Maintained;
use bootlace_model::fault::Fault;
use serde::Deserialize;
use tokio::time::Instant;

use crate::apply::{self, Applied};
use crate::cluster_version::{ClusterVersion, Manifests};
use crate::lease;
use crate::manifest::Manifest;
use crate::operator::Operator;
use crate::order::Level;
use crate::overrides::Override;
use crate::payload::{Payload, payload};
use crate::placeholders::{self, Values};
use crate::report::Reporter;
use crate::retry::{Refusal, Remedy};
use crate::status::{Problem, ProblemKind};
use crate::{folder, wait};

/// How long the values of this cluster are waited for: they come with the `ClusterVersion`.
const VALUES_WITHIN: Duration = Duration::from_secs(5);

/// How a pass ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Everything is applied and ready.
    Complete,
    /// Something is wrong; the levels after it were not begun.
    Incomplete {
        /// What is wrong.
        problems: Vec<Problem>,
        /// Whether another pass may go better although nobody changes anything.
        may_help: bool,
    },
    /// The API server does not answer.
    Unreachable(String),
}

/// How long a pass waits for what is not ready.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// So long for every level.
    Each(Duration),
    /// Until then for all together.
    Until(Instant),
}

impl Patience {
    fn deadline(self) -> Instant {
        match self {
            Self::Each(duration) => Instant::now() + duration,
            Self::Until(instant) => instant,
        }
    }
}

/// What came of the levels so far.
#[derive(Default)]
struct Tally {
    applied: usize,
    repaired: Vec<String>,
    objects: Vec<Maintained>,
    problems: Vec<Problem>,
    may_help: bool,
    unreachable: Option<String>,
}

/// Applies the release level by level.
///
/// While a release is installed, a level begins when the one before is ready. Once it was complete,
/// one level that is not ready must not keep the others from being put right: all are applied, and
/// then waited for.
pub(crate) async fn pass(
    operator: &Operator,
    version: &ClusterVersion,
    patience: Patience,
) -> Result<Outcome, Fault> {
    let payload = match prepare(operator, &version.spec.overrides).await? {
        Ok(payload) => payload,
        Err(why) => return Ok(Outcome::Unreachable(why)),
    };
    let mut reporter = Reporter::new(operator, version);
    reporter.progress.left_alone = payload.left_alone.len();
    let is_upkeep = reporter.is_upkeep();
    if !is_upkeep {
        operator.kinds.forget().await;
    }
    let total = payload.total();
    let mut tally = Tally {
        may_help: payload.lacks_values,
        ..Tally::default()
    };
    let mut unready = vec![];
    for level in payload.levels {
        reporter.progress.manifests = Manifests {
            total,
            applied: tally.applied,
            level: level.number,
        };
        reporter.tell_beginning().await;
        unready.append(&mut apply_level(operator, level, is_upkeep, patience, &mut tally).await);
        reporter.progress.manifests.applied = tally.applied;
        if !is_upkeep && tally.unreachable.is_none() {
            let objects = std::mem::take(&mut unready);
            wait_for(operator, objects, patience, &mut reporter, &mut tally).await;
        }
        if tally.unreachable.is_some() || (!is_upkeep && !tally.problems.is_empty()) {
            break;
        }
    }
    if tally.unreachable.is_none() {
        wait_for(operator, unready, patience, &mut reporter, &mut tally).await;
    }
    Ok(conclude(tally, &mut reporter).await)
}

/// Applies a level turn by turn, and returns what is not ready.
async fn apply_level(
    operator: &Operator,
    level: Level,
    is_upkeep: bool,
    patience: Patience,
    tally: &mut Tally,
) -> Vec<Applied> {
    for broken in level.broken {
        tally.problem(ProblemKind::Broken, broken.what, broken.why);
    }
    let mut unready = vec![];
    for turn in level.turns {
        let applied = apply::apply_all(operator, turn, is_upkeep).await;
        let mut of_turn = tally.take(operator, applied);
        if tally.unreachable.is_some() {
            break;
        }
        of_turn.retain(|applied| !applied.is_ready());
        // What comes in the next turn needs this one; only kinds take a moment to be there.
        let (kinds, others) = of_turn.into_iter().partition(Applied::is_kind);
        unready.extend(wait::until_ready(operator, kinds, patience.deadline(), None).await);
        unready.extend(others);
    }
    unready
}

/// Waits until objects are ready; those that are not in time are problems.
async fn wait_for(
    operator: &Operator,
    objects: Vec<Applied>,
    patience: Patience,
    reporter: &mut Reporter<'_>,
    tally: &mut Tally,
) {
    let deadline = patience.deadline();
    for late in wait::until_ready(operator, objects, deadline, Some(reporter)).await {
        tally.may_help = true;
        tally.problems.push(late.problem());
    }
}

impl Tally {
    fn problem(&mut self, kind: ProblemKind, what: String, why: String) {
        self.problems.push(Problem { kind, what, why });
    }

    /// Notes what came of each manifest, and returns those that are applied.
    fn take(&mut self, operator: &Operator, applied: Vec<apply::Result>) -> Vec<Applied> {
        let mut done = vec![];
        for one in applied {
            match one {
                Ok(one) => {
                    self.applied += 1;
                    self.objects.push(one.maintained());
                    if one.is_repaired {
                        let what = one.manifest.id.to_string();
                        operator.log.say(format!("put right: {what}"));
                        self.repaired.push(what);
                    }
                    done.push(one);
                }
                Err((manifest, refusal)) => self.refused(&manifest, refusal),
            }
        }
        done
    }

    fn refused(&mut self, manifest: &Manifest, refusal: Refusal) {
        let what = manifest.to_string();
        match refusal.remedy {
            Remedy::Reach => self.unreachable = Some(refusal.why),
            Remedy::Change => self.problem(ProblemKind::Broken, what, refusal.why),
            Remedy::Again => {
                self.may_help = true;
                self.problem(ProblemKind::Refused, what, refusal.why);
            }
        }
    }
}

/// Tells how the pass ended.
async fn conclude(tally: Tally, reporter: &mut Reporter<'_>) -> Outcome {
    if let Some(why) = tally.unreachable {
        return Outcome::Unreachable(why);
    }
    if tally.problems.is_empty() {
        reporter
            .tell_completion(tally.repaired, tally.objects)
            .await;
        return Outcome::Complete;
    }
    reporter.tell_problems(&tally.problems).await;
    Outcome::Incomplete {
        problems: tally.problems,
        may_help: tally.may_help,
    }
}

/// Reads the release and fills in the values of this cluster.
async fn prepare(
    operator: &Operator,
    overrides: &[Override],
) -> Result<Result<Payload, String>, Fault> {
    let folder = &operator.options.release_manifests;
    let files = folder::read(folder)?;
    let mut values = Values {
        images: placeholders::images(&folder::image_references(folder)),
        ..Values::default()
    };
    let begin = Instant::now();
    loop {
        let of_cluster = match values_of_cluster(operator).await {
            Ok(values) => values,
            Err(why) => return Ok(Err(why)),
        };
        let is_there = of_cluster.is_some();
        values.cluster = of_cluster.unwrap_or_default();
        let payload = payload(&files, &values, overrides);
        if !payload.lacks_values || is_there || begin.elapsed() > VALUES_WITHIN {
            return Ok(Ok(payload));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Reads the values of this cluster; none if there is no such `ConfigMap`.
pub(crate) async fn values_of_cluster(
    operator: &Operator,
) -> Result<Option<BTreeMap<String, String>>, String> {
    #[derive(Deserialize)]
    struct ConfigMap {
        #[serde(default)]
        data: BTreeMap<String, String>,
    }
    let resource = format!("/api/v1/namespaces/{}/configmaps", lease::NAMESPACE);
    match operator
        .api
        .get::<ConfigMap>(&resource, "cluster-config")
        .await
    {
        Ok(config) => Ok(Some(config.data)),
        Err(refusal) if refusal.is_absent() => Ok(None),
        Err(refusal) => Err(refusal.why),
    }
}
