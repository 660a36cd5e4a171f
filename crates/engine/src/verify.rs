//! `verify`: are the expectations still met, and is everything still as it was left?

mod objects;

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::expect::{Access, Claim};
use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::node::NodeState;
use bootlace_model::path::TargetPath;
use bootlace_model::replay::RunState;
use bootlace_model::view::{CheckView, StepStateView, VerifyView};

use crate::Engine;
use crate::claims::{self, Finding};
use crate::folders::Folders;
use crate::history::{Deed, deeds};
use crate::port::Host;
use crate::store::Store;

/// After how long an API that has not answered counts as silent.
const SILENCE: Duration = Duration::from_secs(3);
/// What is said of a question to an API that is silent.
const NOT_ASKED: &str = "not asked: it did not answer a moment ago";

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
        let chosen = self.options.choice.of(self.sequence)?;
        let mut checks = Vec::new();
        let deeds = deeds(self, &run)?;
        let given = objects::given(&deeds);
        let left = as_left(deeds);
        let folders = Folders::new(self.host);
        let mut silent = Silent::default();
        for step in &self.sequence.steps[chosen] {
            let id = self.sequence.id(step.name());
            if let Some(unfinished) = unfinished(&state, &id) {
                checks.push(unfinished);
                continue;
            }
            if !is_done(&state, &id) {
                continue;
            }
            for expectation in step.expects(self.settings) {
                let ended = expectation.until.map(|until| self.sequence.id(until));
                if ended.is_some_and(|until| state.stands(&until)) {
                    continue;
                }
                let finding = silent.evaluate(self.host, &expectation.claim)?;
                checks.push(CheckView {
                    step: step.name().into(),
                    what: expectation.claim.what(),
                    ok: finding.holds,
                    found: finding.found,
                    because: expectation.because.into(),
                });
            }
            if let Some(given) = given.get(&id) {
                let there = objects::checks(self.host, step.name(), given, &mut silent)?;
                checks.extend(there);
            }
            for (path, (_, wanted)) in left.iter().filter(|(_, (owner, _))| *owner == id) {
                let now = folders.look(path)?;
                checks.push(drift(step.name(), path, wanted, &now));
            }
        }
        let ok = checks.iter().all(|check| check.ok);
        Ok(VerifyView {
            run: run.to_string(),
            sequence: self.sequence.name.into(),
            ok,
            checks,
        })
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

/// Returns what the run left at each path it touched, and which step touched it last.
fn as_left(deeds: Vec<Deed>) -> BTreeMap<TargetPath, (StepId, NodeState)> {
    let mut left = BTreeMap::new();
    for deed in deeds {
        // What a program makes is its own affair; its expectations speak for it.
        if deed.effect.kind.is_act() {
            continue;
        }
        for node in deed.after.into_iter().flatten() {
            if node.state.exists() {
                forget_above(&mut left, &node.path);
            } else {
                forget_below(&mut left, &node.path);
            }
            left.insert(node.path, (deed.step.clone(), node.state));
        }
    }
    left
}

/// The ways to APIs that do not answer. One silence is enough: twenty of them would take minutes.
#[derive(Debug, Default)]
struct Silent(Vec<Access>);

impl Silent {
    fn evaluate(&mut self, host: &dyn Host, claim: &Claim) -> Result<Finding, Fault> {
        let Claim::Api(api) = claim else {
            return claims::evaluate(host, claim);
        };
        if self.0.contains(&api.access) {
            return Ok(Finding {
                holds: false,
                found: NOT_ASKED.into(),
                hopeless: false,
            });
        }
        let began = host.steady();
        let finding = claims::evaluate(host, claim)?;
        if !finding.holds {
            self.note(host, &api.access, began);
        }
        Ok(finding)
    }

    /// Remembers who has not answered, if the question took long.
    fn note(&mut self, host: &dyn Host, access: &Access, began: Duration) {
        let took = host.steady().saturating_sub(began);
        if took >= SILENCE {
            self.0.push(access.clone());
        }
    }
}

/// Forgets that folders are gone on the way to something that is there: they were made again for it.
fn forget_above(left: &mut BTreeMap<TargetPath, (StepId, NodeState)>, path: &TargetPath) {
    let mut above = path.parent();
    while let Some(folder) = above {
        if left.get(&folder).is_some_and(|(_, state)| !state.exists()) {
            left.remove(&folder);
        }
        above = folder.parent();
    }
}

/// Forgets what was left in a folder that is gone: a try that was cut off removed it without saying.
fn forget_below<T>(left: &mut BTreeMap<TargetPath, T>, folder: &TargetPath) {
    let next = left.range(folder..).map(|(path, _)| path);
    let next = next.take_while(|path| path.as_str().starts_with(folder.as_str()));
    let below = next.filter(|path| path.below(folder).is_some());
    let below: Vec<TargetPath> = below.cloned().collect();
    for path in below {
        left.remove(&path);
    }
}

/// A step that was begun and is not done proves nothing, and must not look as if all were well.
fn unfinished(state: &RunState, step: &StepId) -> Option<CheckView> {
    let progress = state.steps.get(step)?;
    let found = match (progress.state, &progress.fault) {
        (StepStateView::Failed, Some(fault)) => format!("it failed: {fault}"),
        (StepStateView::Failed, None) => "it failed".into(),
        (StepStateView::Running, _) => "it was begun and is not done".into(),
        _ => return None,
    };
    Some(CheckView {
        step: step.step().into(),
        what: "the step is done".into(),
        ok: false,
        found,
        because: "What it left half done was not looked at.".into(),
    })
}

fn is_done(state: &RunState, step: &StepId) -> bool {
    state
        .steps
        .get(step)
        .is_some_and(|progress| progress.state == StepStateView::Done)
}

fn drift(step: &str, path: &TargetPath, wanted: &NodeState, now: &NodeState) -> CheckView {
    let ok = wanted.same_but_for_labels(now);
    let found = if ok {
        "unchanged".to_owned()
    } else {
        difference(wanted, now)
    };
    CheckView {
        step: step.into(),
        what: format!("{path} is as the run left it"),
        ok,
        found,
        because: "Someone or something changed it since.".into(),
    }
}

/// Tells in what two nodes differ.
pub(crate) fn difference(wanted: &NodeState, now: &NodeState) -> String {
    match (wanted, now) {
        (
            NodeState::File {
                digest,
                mode,
                owner,
                ..
            },
            NodeState::File {
                digest: d,
                mode: m,
                owner: o,
                ..
            },
        ) => {
            let mut words = Vec::new();
            if digest != d {
                words.push("its content was changed".to_owned());
            }
            if mode != m {
                let mode = bootlace_model::shell::mode(*m);
                words.push(format!("its mode is now {mode}"));
            }
            if owner != o {
                words.push(format!("its owner is now {}:{}", o.uid, o.gid));
            }
            words.join(", ")
        }
        (NodeState::Directory { .. }, NodeState::Directory { mode, owner, .. }) => {
            let mode = bootlace_model::shell::mode(*mode);
            format!(
                "its mode is now {mode}, its owner {}:{}",
                owner.uid, owner.gid
            )
        }
        (NodeState::Link { .. }, NodeState::Link { target, .. }) => {
            format!("it points to {target} now")
        }
        (_, NodeState::Absent) => "it is gone".into(),
        (NodeState::Absent, now) => format!("{} is there again", now.noun()),
        (_, now) => format!("it is {} now", now.noun()),
    }
}
