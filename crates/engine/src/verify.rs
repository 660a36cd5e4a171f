//! `verify`: are the expectations still met, and is everything still as it was left?

mod left;
mod objects;
mod settle;
mod silent;

use bootlace_model::event::Event;
use bootlace_model::expect::{CheckedBy, Expectation};
use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::replay::{RunState, StepProgress, Unknown};
use bootlace_model::step::Step;
use bootlace_model::view::{CheckView, RunStateView, StepStateView, VerifyView};

use crate::Engine;
use crate::claims::Finding;
use crate::folders::Folders;
use crate::history::deeds;
use crate::status::run_state;
use crate::store::Store;

pub(crate) use self::left::difference;
use self::silent::Silent;

/// How long to look again before saying that what only `verify` looks at is not so: one lost
/// packet is not an outage.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// How long to wait before looking again.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(200);

/// Where a run stands between forth and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ways {
    /// It has passed its point of no return: nothing takes it back but giving the machine back.
    pub past_return: bool,
    /// Taking back was begun and not ended: nothing else can go on.
    pub going_back: bool,
}

impl Engine<'_> {
    /// Evaluates the expectations of all finished steps again, and looks for drift.
    /// What does not hold is in the view, not an error.
    pub fn verify(&self) -> Result<VerifyView, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        let state = store.read(&run, &mut |_, _| {})?;
        let run_state = run_state(&state, store.holder()?.is_some());
        let chosen = self.options.choice.of(self.sequence)?;
        let mut checks: Vec<CheckView> = state.unknown.iter().map(unknown_check).collect();
        let deeds = deeds(self, &run)?;
        let given = objects::given(&deeds);
        let left = left::as_left(deeds);
        let folders = Folders::new(self.host);
        let mut silent = Silent::default();
        let cut_off = self.cut_off(&state, run_state)?;
        for step in &self.sequence.steps[chosen] {
            let id = self.sequence.id(step.name());
            let progress = state.steps.get(&id);
            let unfinished = progress.and_then(|progress| unfinished(&id, progress, run_state));
            checks.extend(unfinished.or_else(|| cut_off.clone().filter(|it| it.step == id.step())));
            let Some(progress) = progress.filter(|progress| progress.has_been_done()) else {
                continue;
            };
            checks.extend(self.expected(*step, progress, &state, &mut silent)?);
            if let Some(given) = given.get(&id) {
                let there = objects::checks(self.host, step.name(), given, &mut silent)?;
                checks.extend(there);
            }
            for (path, (_, wanted)) in left.iter().filter(|(_, (owner, _))| *owner == id) {
                let now = folders.look(path)?;
                let is_replaced = self.sequence.replaced_later.contains(&path.as_str());
                let wanted = left::wanted(wanted, &now, is_replaced);
                checks.push(left::drift(step.name(), path, &wanted, &now));
            }
        }
        let ok = checks.iter().all(|check| check.ok);
        Ok(VerifyView {
            run: run.to_string(),
            sequence: self.sequence.name.into(),
            ok,
            state: run_state,
            checks,
        })
    }

    /// Evaluates the expectations of a step that was done.
    fn expected(
        &self,
        step: &dyn Step,
        progress: &StepProgress,
        state: &RunState,
        silent: &mut Silent,
    ) -> Result<Vec<CheckView>, Fault> {
        let mut checks = Vec::new();
        for expectation in step.expects(self.settings, &state.known()) {
            let until = expectation.until.map(|until| self.sequence.id(until));
            // A step that was cut off may have ended it already.
            let is_over = |until: &StepId| state.stands(until) || state.touched.contains(until);
            if until.as_ref().is_some_and(is_over) {
                continue;
            }
            let finding = self.look(step.name(), &expectation, progress.ended, silent)?;
            checks.push(CheckView {
                step: step.name().into(),
                what: expectation.claim.what(),
                ok: finding.holds,
                found: finding.found,
                because: expectation.because.into(),
                unfinished: false,
            });
        }
        Ok(checks)
    }

    /// Looks once; what no run waited for gets the time that is left of its own.
    fn look(
        &self,
        step: &str,
        expectation: &Expectation,
        ended: Option<jiff::Timestamp>,
        silent: &mut Silent,
    ) -> Result<Finding, Fault> {
        let claim = &expectation.claim;
        let mut finding = silent.evaluate(self.host, claim)?;
        if expectation.checked_by == CheckedBy::Run {
            return self.settle(step, claim, finding, silent);
        }
        let now = self.host.now();
        let until = ended.map_or(now, |ended| ended + expectation.within);
        let until = until.max(now + GRACE);
        // The clock may be set while this waits, or may have been since the step ended.
        let left = until.duration_since(now).unsigned_abs();
        let left = left.min(expectation.within.max(GRACE));
        let began = self.host.steady();
        if !finding.holds && !finding.hopeless {
            self.observer.on(&Event::StepWaiting {
                step: self.sequence.id(step),
                what: claim.what(),
                until,
            });
        }
        while !finding.holds && !finding.hopeless && self.host.steady() < began + left {
            self.host.sleep(LOOK_AGAIN)?;
            finding = silent.evaluate(self.host, claim)?;
        }
        Ok(finding)
    }

    /// Says where a run was interrupted, if it was between two steps.
    fn cut_off(
        &self,
        state: &RunState,
        run_state: RunStateView,
    ) -> Result<Option<CheckView>, Fault> {
        if run_state != RunStateView::Interrupted || state.undoing {
            return Ok(None);
        }
        let steps = &self.sequence.steps[state.goal.of(self.sequence)?];
        let is_open = |step: &&&dyn Step| !state.is_settled(&self.sequence.id(step.name()));
        let (step, found) = match steps.iter().find(is_open) {
            Some(step) => (step, "the run was interrupted before it"),
            // Only the end of the run itself is missing.
            None => return Ok(None),
        };
        Ok(Some(unfinished_check(step.name(), found.into())))
    }

    /// Tells whether the run has passed its point of no return, behind which nothing before it is
    /// planned again.
    pub fn is_past_return(&self) -> Result<bool, Fault> {
        Ok(self.ways()?.past_return)
    }

    /// Tells which ways lead on from where the run stands.
    pub fn ways(&self) -> Result<Ways, Fault> {
        let store = Store::new(self.host, &self.settings.paths.state);
        let run = store.must_find(self.sequence.name, self.options.run.as_ref())?;
        let state = store.read(&run, &mut |_, _| {})?;
        Ok(Ways {
            past_return: self.passed_no_return(&state).is_some(),
            going_back: state.undoing,
        })
    }
}

/// A step that was begun and is not done proves nothing, and must not look as if all were well.
fn unfinished(step: &StepId, progress: &StepProgress, run: RunStateView) -> Option<CheckView> {
    let found = match (progress.state, &progress.fault) {
        (StepStateView::Failed, Some(fault)) => format!("it failed: {fault}"),
        (StepStateView::Failed, None) => "it failed".into(),
        (StepStateView::Running, _) if run == RunStateView::Running => "it is running".into(),
        (StepStateView::Running, _) => "it was interrupted".into(),
        _ => return None,
    };
    Some(unfinished_check(step.step(), found))
}

/// What this version does not know it cannot judge, and must not look as if all were well.
fn unknown_check(Unknown { line, what, tool }: &Unknown) -> CheckView {
    CheckView {
        step: "journal".into(),
        what: "this version understands the whole journal".into(),
        ok: false,
        found: format!("line {line}, written by bootlace {tool}: {what}"),
        because: "It cannot check what it does not understand.".into(),
        unfinished: false,
    }
}

fn unfinished_check(step: &str, found: String) -> CheckView {
    CheckView {
        step: step.into(),
        what: "the step is done".into(),
        ok: false,
        found,
        because: "A step counts only once it is done and verified.".into(),
        unfinished: true,
    }
}
