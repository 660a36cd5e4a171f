//! `status`, `runs` and `log`: what the journal says.

use bootlace_model::fault::Fault;
use bootlace_model::ids::RunId;
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Line, Outcome};
use bootlace_model::replay::RunState;
use bootlace_model::step::Sequence;
use bootlace_model::view::{
    RunStateView, RunSummary, RunsView, StatusView, StepStateView, StepStatus, UnknownView,
};

use crate::Engine;
use crate::port::Host;
use crate::store::{Store, understood};

/// The fact by which a release step says whether everything is pinned by digest.
const PINNED: &str = "release.pinned";

impl Engine<'_> {
    /// Tells where the run stands, from the journal alone.
    pub fn status(&self) -> Result<StatusView, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        let state = store.read(&run, &mut |_, _| {})?;
        let live = store.holder()?.is_some();
        let chosen = self.options.choice.of(self.sequence)?;
        let steps = self.sequence.steps[chosen].iter();
        let steps = steps
            .map(|step| self.step_status(step.name(), &state, live))
            .collect();
        Ok(StatusView {
            run: run.to_string(),
            sequence: self.sequence.name.into(),
            state: run_state(&state, live),
            steps,
            insecure: state.insecure.clone(),
            pinned: !self.has_release() || state.facts.get(PINNED) == Some(&true.into()),
            refused: state
                .refused
                .iter()
                .map(|(target, why)| format!("{target}: {why}"))
                .collect(),
            unknown: state.unknown.as_ref().map(UnknownView::from),
        })
    }

    /// Tells whether a step of the sequence looks for a release; else there is nothing to pin.
    fn has_release(&self) -> bool {
        let yields = |step: &&dyn bootlace_model::step::Step| step.yields(self.settings);
        let mut facts = self.sequence.steps.iter().flat_map(yields);
        facts.any(|ask| ask.fact == PINNED)
    }

    fn step_status(&self, name: &str, state: &RunState, live: bool) -> StepStatus {
        let Some(progress) = state.steps.get(&self.sequence.id(name)) else {
            return StepStatus {
                id: name.into(),
                state: StepStateView::Todo,
                started: None,
                seconds: None,
                evidence: vec![],
                reason: None,
                error: None,
            };
        };
        // A step that was cut off is to do, not running: nobody works on it.
        let cut_off = progress.state == StepStateView::Running && !live;
        let ended = progress
            .ended
            .map(|ended| millis_between(progress.started, ended));
        StepStatus {
            id: name.into(),
            state: if cut_off {
                StepStateView::Todo
            } else {
                progress.state
            },
            started: Some(progress.started.to_string()),
            #[expect(
                clippy::cast_precision_loss,
                reason = "a step does not take 285,000 years"
            )]
            seconds: ended.map(|millis| millis as f64 / 1000.0),
            evidence: progress.evidence.clone(),
            reason: progress.reason.clone(),
            error: progress.fault.clone(),
        }
    }

    /// Hands out the journal's lines, as they stand on disk and as they are understood.
    /// A damaged journal is an error, after the lines before the damage.
    pub fn log(&self, sink: &mut dyn FnMut(&str, &Line)) -> Result<(), Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        store.read(&run, sink).map(|_| ())
    }
}

/// Returns the settings that a run was begun with, as its journal keeps them; none if there is no
/// run that could go on.
pub fn begun_with(
    host: &dyn Host,
    state: &TargetPath,
    sequence: &Sequence,
    run: Option<&RunId>,
) -> Result<Option<serde_json::Value>, Fault> {
    let store = Store::new(host, state);
    let Some(run) = store.find(sequence.name, run)? else {
        return Ok(None);
    };
    let state = store.read(&run, &mut |_, _| {})?;
    if state.config.is_null() {
        // Another version opened it, and only that one knows by what settings.
        understood(&state)?;
    }
    Ok((state.outcome != Some(Outcome::Undone)).then_some(state.config))
}

/// Lists all runs in a state folder, oldest first.
pub fn runs(
    host: &dyn Host,
    state: &TargetPath,
    sequences: &[Sequence],
) -> Result<RunsView, Fault> {
    let store = Store::new(host, state);
    let live = store.holder()?.is_some();
    let ids = store.runs()?;
    let newest = ids.last().cloned();
    let mut runs = Vec::new();
    for id in ids {
        let live = live && newest.as_ref() == Some(&id);
        runs.push(match store.read(&id, &mut |_, _| {}) {
            Ok(state) => {
                let known = sequences
                    .iter()
                    .find(|sequence| sequence.name == state.sequence);
                let done = state.steps.keys().filter(|step| state.stands(step)).count();
                RunSummary {
                    run: id.to_string(),
                    sequence: state.sequence.clone(),
                    state: Some(run_state(&state, live)),
                    opened: state.opened.map(|at| at.to_string()).unwrap_or_default(),
                    done: done as u64,
                    of: known.map_or(state.steps.len(), |sequence| sequence.steps.len()) as u64,
                    problem: None,
                }
            }
            Err(fault) => RunSummary {
                run: id.to_string(),
                sequence: id.as_str().split('-').nth(1).unwrap_or_default().into(),
                state: None,
                opened: String::new(),
                done: 0,
                of: 0,
                problem: Some(fault.message),
            },
        });
    }
    Ok(RunsView { runs })
}

/// Tells where a run stands.
pub(crate) fn run_state(state: &RunState, live: bool) -> RunStateView {
    match state.outcome {
        Some(Outcome::Succeeded) => RunStateView::Succeeded,
        Some(Outcome::Failed) => RunStateView::Failed,
        Some(Outcome::Undone) => RunStateView::Undone,
        None if live => RunStateView::Running,
        None if state.closed_unknown => RunStateView::Unknown,
        Some(Outcome::Interrupted) | None => RunStateView::Interrupted,
    }
}

/// Returns the milliseconds between two records; nought if the clock was set back between them.
pub(crate) fn millis_between(from: jiff::Timestamp, to: jiff::Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}
