//! One pass: every level of the release, from the lowest to the first that is not complete.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::fault::Fault;
use serde::Deserialize;
use tokio::time::Instant;

use crate::apply::{self, Applied};
use crate::cluster_version::{ClusterVersion, Manifests};
use crate::lease;
use crate::operator::Operator;
use crate::order::Level;
use crate::overrides::Override;
use crate::payload::{Payload, payload};
use crate::report::Reporter;
use crate::retry::Remedy;
use crate::status::{Phase, Problem, ProblemKind};
use crate::{folder, wait};

/// How long the values of this cluster are waited for: they come with the ClusterVersion.
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

/// Applies the release level by level; a level that is not ready by the deadline is a problem.
pub(crate) async fn pass(
    operator: &Operator,
    version: &ClusterVersion,
    deadline: Instant,
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
    let mut applied = 0;
    let mut repaired = vec![];
    for level in payload.levels {
        let number = level.number;
        reporter.progress.manifests = Manifests {
            total,
            applied,
            level: number,
        };
        if !is_upkeep && applied == 0 {
            reporter.tell(Phase::Applying).await;
        }
        let mut result = work_on(operator, level, is_upkeep, deadline, &mut reporter).await;
        applied += result.applied;
        repaired.append(&mut result.repaired);
        if let Some(why) = result.unreachable.take() {
            return Ok(Outcome::Unreachable(why));
        }
        reporter.progress.manifests.applied = applied;
        if !result.problems.is_empty() {
            return Ok(incomplete(result, &mut reporter).await);
        }
    }
    for what in &repaired {
        operator.log.say(format!("put right: {what} had drifted"));
    }
    operator.log.news(
        "pass",
        format!("complete: all {total} manifests are applied and ready"),
    );
    // An uneventful look must not erase what the last eventful one told.
    if !is_upkeep || !repaired.is_empty() || reporter.is_failing() {
        reporter.tell(Phase::Done(repaired)).await;
    }
    Ok(Outcome::Complete)
}

/// What came of one level.
#[derive(Default)]
struct LevelResult {
    applied: usize,
    repaired: Vec<String>,
    problems: Vec<Problem>,
    may_help: bool,
    unreachable: Option<String>,
}

impl LevelResult {
    fn broken(&mut self, what: String, why: String) {
        self.problems.push(Problem {
            kind: ProblemKind::Broken,
            what,
            why,
        });
    }
}

/// Applies a level, turn by turn, and waits until it is ready.
async fn work_on(
    operator: &Operator,
    level: Level,
    is_upkeep: bool,
    deadline: Instant,
    reporter: &mut Reporter<'_>,
) -> LevelResult {
    let mut result = LevelResult::default();
    for broken in level.broken {
        result.broken(broken.what, broken.why);
    }
    let mut waited_for = vec![];
    for turn in level.turns {
        let applied = apply::apply_all(operator, turn, is_upkeep).await;
        let mut of_turn = take(applied, &mut result);
        if result.unreachable.is_some() {
            return result;
        }
        // What comes in the next turn needs this one; only kinds take a moment to be there.
        of_turn.retain(|applied| !applied.is_ready());
        let (kinds, others) = of_turn.into_iter().partition(Applied::is_kind);
        waited_for.extend(wait::until_ready(operator, kinds, deadline, None).await);
        waited_for.extend(others);
    }
    reporter.progress.manifests.applied += result.applied;
    let late = wait::until_ready(operator, waited_for, deadline, Some(reporter)).await;
    for applied in late {
        result.may_help = true;
        result.problems.push(Problem {
            kind: ProblemKind::NotReady,
            why: format!("not ready: {}", applied.missing()),
            what: applied.manifest.to_string(),
        });
    }
    result
}

/// Sorts what came of each manifest, and returns those that are applied.
fn take(applied: Vec<apply::Result>, result: &mut LevelResult) -> Vec<Applied> {
    let mut done = vec![];
    for one in applied {
        match one {
            Ok(one) => {
                result.applied += 1;
                if one.is_repaired {
                    result.repaired.push(one.manifest.id.to_string());
                }
                done.push(one);
            }
            Err((manifest, refusal)) => match refusal.remedy {
                Remedy::Reach => result.unreachable = Some(refusal.why),
                Remedy::Change => result.broken(manifest.to_string(), refusal.why),
                Remedy::Again => {
                    result.may_help = true;
                    result.problems.push(Problem {
                        kind: ProblemKind::Refused,
                        what: manifest.to_string(),
                        why: refusal.why,
                    });
                }
            },
        }
    }
    done
}

async fn incomplete(result: LevelResult, reporter: &mut Reporter<'_>) -> Outcome {
    let LevelResult {
        problems, may_help, ..
    } = result;
    reporter.tell_problems(&problems).await;
    Outcome::Incomplete { problems, may_help }
}

/// Reads the release and fills in the values of this cluster.
async fn prepare(
    operator: &Operator,
    overrides: &[Override],
) -> Result<Result<Payload, String>, Fault> {
    let files = folder::read(&operator.options.release_manifests)?;
    let begin = Instant::now();
    loop {
        let values = match values(operator).await {
            Ok(values) => values,
            Err(why) => return Ok(Err(why)),
        };
        let is_there = values.is_some();
        let payload = payload(&files, &values.unwrap_or_default(), overrides);
        if !payload.lacks_values || is_there || begin.elapsed() > VALUES_WITHIN {
            return Ok(Ok(payload));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Reads the values of this cluster; none if there is no such ConfigMap.
async fn values(operator: &Operator) -> Result<Option<BTreeMap<String, String>>, String> {
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
