//! One line an event, without control characters: for log files, pipes and simple terminals.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use bootlace_model::event::Event;
use bootlace_model::ids::StepId;
use jiff::Timestamp;

use super::lines::Lines;
use super::{Clock, Detail};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{count, duration, millis_between, moment, one_line};

/// How long a step keeps silent between two lines about its effects, of which there may be
/// thousands a second.
const SILENCE_MILLIS: u64 = 2000;

/// Writes lines.
pub(super) struct Plain {
    clock: Clock,
    style: Style,
    detail: Detail,
    began: Timestamp,
    state: Mutex<State>,
}

struct State {
    lines: Lines,
    advanced: BTreeMap<StepId, Timestamp>,
    writer: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plain({:?})", self.detail)
    }
}

impl Plain {
    pub(super) fn new(
        style: Style,
        detail: Detail,
        clock: Clock,
        writer: Box<dyn Write + Send>,
    ) -> Self {
        let state = State {
            lines: Lines::new(style, detail),
            advanced: BTreeMap::new(),
            writer,
        };
        Self {
            began: clock(),
            clock,
            style,
            detail,
            state: Mutex::new(state),
        }
    }

    pub(super) fn on(&self, event: &Event) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = state.lines.take(event);
        if self.detail != Detail::Quiet {
            lines.extend(self.passing(&mut state, event, now));
        }
        let elapsed = duration(millis_between(self.began, now));
        let elapsed = self.style.paint(Tone::Faint, &format!("[{elapsed:>7}]"));
        for line in lines {
            let line = format!("{elapsed} {}\n", line.trim_end());
            // Nobody may be reading any more, which is no reason to stop the run.
            drop(state.writer.write_all(line.as_bytes()));
        }
        drop(state.writer.flush());
    }

    /// Returns the line of an event that a live display shows only in passing.
    fn passing(&self, state: &mut State, event: &Event, now: Timestamp) -> Option<String> {
        let (step, words) = match event {
            Event::StepStarted { step, title } => (step, one_line(title)),
            Event::StepPlanned { step, effects } => {
                state.advanced.insert(step.clone(), now);
                (step, format!("{} missing", count(*effects, "effect")))
            }
            Event::StepAdvanced {
                step,
                done,
                of,
                latest,
            } => {
                let last = state.advanced.get(step).copied().unwrap_or(now);
                if millis_between(last, now) < SILENCE_MILLIS {
                    return None;
                }
                state.advanced.insert(step.clone(), now);
                (step, format!("{done}/{of} {}", one_line(latest)))
            }
            Event::StepWaiting { step, what, until } => {
                let until = moment(*until);
                let what = one_line(what);
                (step, format!("waiting until {until} at most: {what}"))
            }
            Event::RunFinished {
                run,
                outcome,
                millis,
            } => {
                let took = duration(*millis);
                return Some(format!("Run {run} {} after {took}", one_line(outcome)));
            }
            _ => return None,
        };
        let sign = self.style.sign(Sign::Active);
        Some(format!("{sign} {}  {words}", state.lines.name(step)))
    }
}
