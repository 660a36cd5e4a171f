//! What is told about the progress: from a state of the work to the `ClusterVersion`'s status.

use crate::cluster_version::{Attempt, COMPLETED, Condition, Manifests, PARTIAL, Release, Status};
use crate::retry::shortened;

/// How many attempts are remembered.
const MOST_ATTEMPTS: usize = 20;
/// How long a message may be.
const LONGEST_MESSAGE: usize = 4000;

/// Where the work stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The generation of the `ClusterVersion` that is worked on.
    pub(crate) generation: i64,
    /// The release that is worked on.
    pub(crate) release: Release,
    /// How many manifests there are, and how far they are.
    pub(crate) manifests: Manifests,
    /// How many objects are left alone.
    pub(crate) left_alone: usize,
    /// What is going on.
    pub(crate) phase: Phase,
}

/// What is going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Manifests are applied.
    Applying,
    /// The level is applied; some objects are not ready yet.
    Waiting {
        /// Which, and what is missing.
        missing: Vec<String>,
        /// What keeps some of them from ever being ready.
        troubles: Vec<Problem>,
    },
    /// Something is wrong, and what is not was done.
    Failed(Vec<Problem>),
    /// Everything is applied and ready; these objects had drifted and were put right.
    Done(Vec<String>),
}

/// Something that keeps the release from being complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What kind of problem.
    pub(crate) kind: ProblemKind,
    /// File, document and object.
    pub(crate) what: String,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// What kind of problem; the order says which one names the condition's reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProblemKind {
    /// A manifest that can never be applied as it is.
    Broken,
    /// A manifest that the API refused, perhaps not for ever.
    Refused,
    /// An object that is not ready after a long time.
    NotReady,
}

impl ProblemKind {
    fn reason(self) -> &'static str {
        match self {
            Self::Broken => "ManifestBroken",
            Self::Refused => "ManifestRefused",
            Self::NotReady => "WorkloadNotReady",
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// Returns the status that tells of the progress; it is the same if there is nothing new to tell.
pub(crate) fn next(previous: &Status, progress: &Progress, now: &str) -> Status {
    let history = history(previous, progress, now);
    let is_complete = history
        .first()
        .is_some_and(|newest| newest.state == COMPLETED);
    let mut conditions = previous.conditions.clone();
    let told = [
        Some(available(progress, is_complete)),
        progressing(progress, is_complete),
        failing(previous, progress),
    ];
    for condition in told.into_iter().flatten() {
        set(&mut conditions, condition, now);
    }
    Status {
        observed_generation: progress.generation,
        desired: progress.release.clone(),
        conditions,
        history,
        manifests: progress.manifests,
        objects: previous.objects.clone(),
    }
}

fn history(previous: &Status, progress: &Progress, now: &str) -> Vec<Attempt> {
    let mut history = previous.history.clone();
    if history.is_empty() || previous.desired != progress.release {
        let attempt = Attempt {
            state: PARTIAL.into(),
            version: progress.release.version.clone(),
            started_time: now.to_owned(),
            completion_time: None,
        };
        history.insert(0, attempt);
        history.truncate(MOST_ATTEMPTS);
    }
    let is_done = matches!(progress.phase, Phase::Done(_));
    if let Some(newest) = history
        .first_mut()
        .filter(|newest| is_done && newest.state != COMPLETED)
    {
        newest.state = COMPLETED.into();
        newest.completion_time = Some(now.to_owned());
    }
    history
}

fn available(progress: &Progress, is_complete: bool) -> Condition {
    let release = name(&progress.release);
    let (reason, message) = if is_complete {
        ("Installed", format!("{release} is installed"))
    } else {
        (
            "Installing",
            format!("{release} is not completely installed yet"),
        )
    };
    condition("Available", is_complete, reason, &message)
}

/// A complete release that is only looked after does not progress.
fn progressing(progress: &Progress, is_complete: bool) -> Option<Condition> {
    let Manifests {
        total,
        applied,
        level,
    } = progress.manifests;
    let release = name(&progress.release);
    let applied = format!("{applied} of {total} manifests applied");
    let (is_true, reason, message) = match &progress.phase {
        Phase::Applying => (true, "Applying", format!("run level {level}: {applied}")),
        Phase::Waiting { missing, .. } => {
            let what = missing.join("; ");
            (
                true,
                "Waiting",
                format!("run level {level}: {applied}, waiting for {what}"),
            )
        }
        Phase::Failed(_) if is_complete => return None,
        Phase::Failed(problems) => {
            let problems = problems.len();
            let message = format!("run level {level}: {applied}, problems: {problems}");
            (true, "Retrying", message)
        }
        Phase::Done(repaired) => {
            let mut message = format!("{release}: all {total} manifests are applied");
            if progress.left_alone > 0 {
                message = format!(
                    "{message}, left alone by overrides: {}",
                    progress.left_alone
                );
            }
            if !repaired.is_empty() {
                message = format!("{message}, put right last: {}", repaired.join(", "));
            }
            (false, "Complete", message)
        }
    };
    Some(condition("Progressing", is_true, reason, &message))
}

/// What failed last is told until it is known to be right, or to fail in another way.
fn failing(previous: &Status, progress: &Progress) -> Option<Condition> {
    let is_told = previous
        .conditions
        .iter()
        .any(|condition| condition.name == "Failing");
    let problems = match &progress.phase {
        Phase::Failed(problems) => problems.as_slice(),
        Phase::Waiting { troubles, .. } => troubles,
        Phase::Applying | Phase::Done(_) => &[],
    };
    let is_over = matches!(progress.phase, Phase::Done(_) | Phase::Failed(_));
    let Some(reason) = problems.iter().map(|problem| problem.kind).min() else {
        let is_right = is_over || !is_told;
        return is_right.then(|| condition("Failing", false, "NoProblem", ""));
    };
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Some(condition(
        "Failing",
        true,
        reason.reason(),
        &texts.join("; "),
    ))
}

fn name(release: &Release) -> String {
    match (&*release.version, &*release.digest) {
        ("", "") => "the release".into(),
        ("", digest) => format!("release {digest}"),
        (version, _) => format!("release {version}"),
    }
}

fn condition(name: &str, is_true: bool, reason: &str, message: &str) -> Condition {
    Condition {
        name: name.into(),
        status: if is_true { "True" } else { "False" }.into(),
        reason: reason.into(),
        message: shortened(message, LONGEST_MESSAGE),
        ..Condition::default()
    }
}

/// Puts a condition in its place; the time changes only if what it says changes.
fn set(conditions: &mut Vec<Condition>, mut condition: Condition, now: &str) {
    now.clone_into(&mut condition.last_transition_time);
    let is_named = |other: &&mut Condition| other.name == condition.name;
    let Some(other) = conditions.iter_mut().find(is_named) else {
        return conditions.push(condition);
    };
    if other.status == condition.status && !other.last_transition_time.is_empty() {
        condition.last_transition_time = std::mem::take(&mut other.last_transition_time);
    }
    condition.other = std::mem::take(&mut other.other);
    *other = condition;
}

#[cfg(test)]
mod tests;
