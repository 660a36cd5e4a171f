//! Which step runs when: those that do not need each other side by side, within bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use bootlace_model::fault::{Fault, FaultKind};

use crate::Engine;
use crate::step_work::{StepWork, Turn};
use crate::store::OpenRun;

/// What a schedule came to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) steps: u64,
    pub(crate) effects: u64,
    /// Faults in the order in which they came; the first is the one to tell.
    pub(crate) faults: Vec<Fault>,
    /// Whether a person or a signal asked to stop.
    pub(crate) stopped: bool,
}

/// The steps that are left, by what they wait for.
struct Waiting<'a> {
    engine: &'a Engine<'a>,
    left: BTreeSet<usize>,
    settled: BTreeSet<&'static str>,
}

impl<'a> Waiting<'a> {
    fn new(engine: &'a Engine<'a>, run: &OpenRun, todo: &[usize]) -> Self {
        let left: BTreeSet<usize> = todo.iter().copied().collect();
        let done = |position: usize, name: &str| {
            let id = engine.sequence.id(name);
            !left.contains(&position) && run.journal.with_state(|state| state.stands(&id))
        };
        let steps = engine.sequence.steps.iter().enumerate();
        let settled = steps.filter(|(position, step)| done(*position, step.name()));
        let settled = settled.map(|(_, step)| step.name()).collect();
        Self {
            engine,
            left,
            settled,
        }
    }

    /// Finds the first step, in the order of the table, whose needs are all verified.
    fn ready(&self) -> Option<usize> {
        self.left.iter().copied().find(|position| {
            let needs = self.engine.sequence.steps[*position].needs();
            needs.iter().all(|need| self.settled.contains(need))
        })
    }

    /// Takes the first step that is ready.
    fn take_ready(&mut self) -> Option<usize> {
        let ready = self.ready()?;
        self.left.remove(&ready);
        Some(ready)
    }

    /// Tells whether another step is ready.
    fn has_ready(&self) -> bool {
        self.ready().is_some()
    }

    fn settle(&mut self, position: usize) {
        self.settled
            .insert(self.engine.sequence.steps[position].name());
    }
}

/// Works on all steps of `todo`.
pub(crate) fn work(engine: &Engine<'_>, run: &OpenRun, todo: &[usize]) -> Tally {
    if engine.options.pause {
        return one_by_one(engine, run, todo);
    }
    match engine.options.interleave {
        Some(seed) => interleaved(engine, run, todo, seed),
        None => side_by_side(engine, run, todo),
    }
}

/// Strictly in the order of the table, asking before each.
fn one_by_one(engine: &Engine<'_>, run: &OpenRun, todo: &[usize]) -> Tally {
    let mut tally = Tally::default();
    for &position in todo {
        let step = engine.explained(engine.sequence.steps[position]);
        let state = run.journal.with_state(Clone::clone);
        let plan = engine.plan_of(position, &state);
        if !engine.observer.may_start(&step, &plan) {
            tally.stopped = true;
            break;
        }
        let (work, ended) = to_its_end(engine, run, position, || false);
        if !tally.count(work, ended) {
            break;
        }
    }
    tally
}

/// On threads, at most as many as asked for.
fn side_by_side(engine: &Engine<'_>, run: &OpenRun, todo: &[usize]) -> Tally {
    let mut waiting = Waiting::new(engine, run, todo);
    let mut tally = Tally::default();
    let (sender, receiver) = mpsc::channel();
    let going = AtomicBool::new(true);
    let goes = || going.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut running = 0;
        loop {
            while goes() && running < engine.options.jobs.max(1) {
                let Some(position) = waiting.take_ready() else {
                    break;
                };
                if running == 0 && !waiting.has_ready() {
                    // Nothing can run beside it, so there is no need for a thread.
                    let (work, ended) = to_its_end(engine, run, position, || false);
                    if tally.count(work, ended) {
                        waiting.settle(position);
                    } else {
                        going.store(false, Ordering::Relaxed);
                    }
                    continue;
                }
                let sender = sender.clone();
                running += 1;
                scope.spawn(move || {
                    let (work, ended) = to_its_end(engine, run, position, || !goes());
                    // The receiver lives as long as a step runs.
                    drop(sender.send((position, work, ended)));
                });
            }
            if running == 0 {
                break;
            }
            let Ok((position, work, ended)) = receiver.recv() else {
                break;
            };
            running -= 1;
            if tally.count(work, ended) {
                waiting.settle(position);
            } else {
                going.store(false, Ordering::Relaxed);
            }
        }
    });
    tally
}

/// In one thread, turns taken in an order that a seed decides; for tests that must repeat.
fn interleaved(engine: &Engine<'_>, run: &OpenRun, todo: &[usize], seed: u64) -> Tally {
    let mut waiting = Waiting::new(engine, run, todo);
    let mut tally = Tally::default();
    let mut random = seed;
    let mut running: BTreeMap<usize, StepWork<'_>> = BTreeMap::new();
    let mut going = true;
    loop {
        while going && running.len() < engine.options.jobs.max(1) {
            let Some(position) = waiting.take_ready() else {
                break;
            };
            running.insert(position, StepWork::new(engine, run, position));
        }
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = usize::try_from(random >> 33).unwrap_or(0) % running.len().max(1);
        let Some(position) = running.keys().copied().nth(pick) else {
            break;
        };
        let Some(mut work) = running.remove(&position) else {
            break;
        };
        match work.turn() {
            Ok(Turn::More) if work.is_waiting() && !going => {
                tally.count(work.performed, Ended::Abandoned);
            }
            Ok(Turn::More) => drop(running.insert(position, work)),
            Ok(Turn::Over) => {
                tally.count(work.performed, Ended::Over);
                waiting.settle(position);
            }
            Err(fault) => {
                tally.count(work.performed, Ended::Failed(fault));
                going = false;
            }
        }
    }
    tally
}

/// How a step ended.
enum Ended {
    Over,
    Failed(Fault),
    /// It waited for something while another step failed, and is waited for by `resume` again.
    Abandoned,
}

/// Works on a step to its end; if it only waits, no longer than the others go well.
fn to_its_end(
    engine: &Engine<'_>,
    run: &OpenRun,
    position: usize,
    is_hopeless: impl Fn() -> bool,
) -> (u64, Ended) {
    let mut work = StepWork::new(engine, run, position);
    loop {
        match work.turn() {
            Ok(Turn::More) if work.is_waiting() && is_hopeless() => {
                return (work.performed, Ended::Abandoned);
            }
            Ok(Turn::More) => {}
            Ok(Turn::Over) => return (work.performed, Ended::Over),
            Err(fault) => return (work.performed, Ended::Failed(fault)),
        }
    }
}

impl Tally {
    /// Counts a step that ended; tells whether the schedule goes on.
    fn count(&mut self, effects: u64, ended: Ended) -> bool {
        self.effects += effects;
        match ended {
            Ended::Over => {
                self.steps += 1;
                true
            }
            Ended::Failed(fault) if fault.kind == FaultKind::Stopped => {
                self.stopped = true;
                false
            }
            Ended::Failed(fault) => {
                self.faults.push(fault);
                false
            }
            Ended::Abandoned => false,
        }
    }
}
