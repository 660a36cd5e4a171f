//! Telling the progress: on the `ClusterVersion`, and only what is new.

use bootlace_model::expect::Maintained;
use serde_json::json;

use crate::clock;
use crate::cluster_version::{self, ClusterVersion, Status};
use crate::operator::Operator;
use crate::status::{self, Phase, Problem, Progress};

/// What was told last, and the progress that is told next.
pub(crate) struct Reporter<'o> {
    operator: &'o Operator,
    told: Status,
    /// Where the work stands; whoever works on it changes it.
    pub(crate) progress: Progress,
    /// Whether the release was complete before this pass, for this very generation.
    is_upkeep: bool,
}

impl<'o> Reporter<'o> {
    /// Begins with what the `ClusterVersion` says.
    pub(crate) fn new(operator: &'o Operator, version: &ClusterVersion) -> Self {
        let ClusterVersion {
            metadata,
            spec,
            status,
        } = version;
        let is_upkeep = status.has_completed(&spec.release)
            && status.observed_generation == metadata.generation;
        let progress = Progress {
            generation: metadata.generation,
            release: spec.release.clone(),
            manifests: status.manifests,
            left_alone: 0,
            phase: Phase::Applying,
        };
        Self {
            operator,
            told: status.clone(),
            progress,
            is_upkeep,
        }
    }

    /// Tells whether this pass only looks after what is complete already.
    pub(crate) fn is_upkeep(&self) -> bool {
        self.is_upkeep
    }

    /// Tells that work has begun, unless it is only looked after what is complete.
    pub(crate) async fn tell_beginning(&mut self) {
        if !self.is_upkeep && self.progress.manifests.applied == 0 {
            self.tell(Phase::Applying).await;
        }
    }

    /// Tells what is waited for; a wait without trouble is not told of what was complete already.
    pub(crate) async fn tell_waiting(&mut self, missing: Vec<String>, troubles: Vec<Problem>) {
        let line = format!("waiting for {}", missing.join("; "));
        self.operator.log.news("waiting", line);
        if !self.is_upkeep || !troubles.is_empty() {
            self.tell(Phase::Waiting { missing, troubles }).await;
        }
    }

    /// Tells that everything is as it should be, what was put right for that, and what there is.
    pub(crate) async fn tell_completion(
        &mut self,
        repaired: Vec<String>,
        mut objects: Vec<Maintained>,
    ) {
        let total = self.progress.manifests.total;
        let line = format!("complete: all {total} manifests are applied and ready");
        self.operator.log.news("pass", line);
        let mut conditions = self.told.conditions.iter();
        let was_failing = conditions.any(|told| told.name == "Failing" && told.status == "True");
        objects.sort_by(|a, b| a.id.cmp(&b.id));
        let objects = Some(objects);
        // An uneventful look must not erase what the last eventful one told.
        if !self.is_upkeep || was_failing || !repaired.is_empty() {
            self.progress.phase = Phase::Done(repaired);
            let next = status::next(&self.told, &self.progress, &clock::now_text());
            self.write(Status { objects, ..next }).await;
        } else if self.told.objects != objects {
            let told = self.told.clone();
            self.write(Status { objects, ..told }).await;
        }
    }

    /// Tells what is wrong, here and on the `ClusterVersion`.
    pub(crate) async fn tell_problems(&mut self, problems: &[Problem]) {
        let level = self.progress.manifests.level;
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let line = format!("run level {level} is not complete: {}", texts.join("; "));
        self.operator.log.news("pass", line);
        self.tell(Phase::Failed(problems.to_vec())).await;
    }

    /// Tells where the work stands.
    ///
    /// A status that cannot be written does not keep the work from going on: it is told with the next.
    async fn tell(&mut self, phase: Phase) {
        self.progress.phase = phase;
        let next = status::next(&self.told, &self.progress, &clock::now_text());
        if next != self.told {
            self.write(next).await;
        }
    }

    async fn write(&mut self, next: Status) {
        let Operator { api, log, .. } = self.operator;
        let (resource, name) = (cluster_version::RESOURCE, cluster_version::NAME);
        let patch = json!({"status": next});
        match api
            .set_status::<ClusterVersion>(resource, name, &patch)
            .await
        {
            Ok(_) => {
                self.told = next;
                log.over("status");
            }
            Err(refusal) => {
                let line = format!("the status cannot be written: {}", refusal.why);
                log.news("status", line);
            }
        }
    }
}
