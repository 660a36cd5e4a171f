//! Lines that are redrawn on a terminal: one for each running step, below the lines that stay.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlace_model::event::Event;
use bootlace_model::ids::StepId;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jiff::Timestamp;

use super::lines::Lines;
use super::{Clock, Detail};
use crate::style::Style;
use crate::theme::Tone;
use crate::words::{duration, millis_between, one_line, shorten};

/// How often a running step is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Redraws a terminal.
pub(super) struct Live {
    clock: Clock,
    style: Style,
    detail: Detail,
    terminal: MultiProgress,
    state: Mutex<State>,
}

struct State {
    lines: Lines,
    /// Whether the cursor stands behind a line that stays.
    behind_a_line: bool,
    running: BTreeMap<StepId, (ProgressBar, Arc<Mutex<Running>>)>,
}

/// What is shown of a running step.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// The step's name, padded and coloured.
    pub(super) name: String,
    /// How many columns the name takes.
    pub(super) name_width: usize,
    /// When it began.
    pub(super) started: Timestamp,
    /// How many effects are done, and of how many.
    pub(super) effects: Option<(u64, u64)>,
    /// What it does or waits for.
    pub(super) doing: String,
    /// Until when it waits.
    pub(super) until: Option<Timestamp>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({:?})", self.detail)
    }
}

impl Live {
    pub(super) fn new(
        style: Style,
        detail: Detail,
        clock: Clock,
        terminal: ProgressDrawTarget,
    ) -> Self {
        let state = State {
            lines: Lines::new(style, detail),
            behind_a_line: false,
            running: BTreeMap::new(),
        };
        Self {
            clock,
            style,
            detail,
            terminal: MultiProgress::with_draw_target(terminal),
            state: Mutex::new(state),
        }
    }

    pub(super) fn suspend<R>(&self, act: impl FnOnce() -> R) -> R {
        self.terminal.suspend(act)
    }

    pub(super) fn on(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = state.lines.take(event);
        if self.detail != Detail::Quiet {
            self.redraw(&mut state, event);
        }
        for line in lines {
            // Nobody may be watching any more, which is no reason to stop the run.
            drop(self.terminal.println(line.trim_end()));
            state.behind_a_line = true;
        }
    }

    /// Removes what is redrawn, and leaves the line that the cursor stands behind.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (bar, _) in std::mem::take(&mut state.running).into_values() {
            self.end(&bar);
        }
        if std::mem::take(&mut state.behind_a_line) {
            let end_line = || std::io::stderr().write_all(b"\n");
            // Nobody may be watching any more, and there is nothing left to show.
            drop(self.terminal.suspend(end_line));
        }
    }

    fn redraw(&self, state: &mut State, event: &Event) {
        match event {
            Event::StepStarted { step, title } => self.begin(state, step, title),
            Event::StepPlanned { step, effects } => {
                change(state, step, |running| running.effects = Some((0, *effects)));
            }
            Event::StepAdvanced {
                step,
                done,
                of,
                latest,
            } => change(state, step, |running| {
                running.effects = Some((*done, *of));
                running.doing = one_line(latest);
                running.until = None;
            }),
            Event::StepWaiting { step, what, until } => change(state, step, |running| {
                running.doing = one_line(what);
                running.until = Some(*until);
            }),
            Event::StepDone { step, .. }
            | Event::StepSkipped { step, .. }
            | Event::StepKept { step }
            | Event::StepFailed { step, .. }
            | Event::StepUndone { step, .. } => {
                if let Some((bar, _)) = state.running.remove(step) {
                    self.end(&bar);
                }
            }
            Event::RunFinished { .. } => {
                for (bar, _) in std::mem::take(&mut state.running).into_values() {
                    self.end(&bar);
                }
            }
            Event::RunStarted { .. } | Event::Note { .. } => {}
        }
    }

    fn begin(&self, state: &mut State, step: &StepId, title: &str) {
        let name = state.lines.name(step);
        let running = Arc::new(Mutex::new(Running {
            name_width: state.lines.name_width(step),
            name,
            started: (self.clock)(),
            effects: None,
            doing: one_line(title),
            until: None,
        }));
        let bar = self.terminal.add(ProgressBar::new_spinner());
        let (shown, clock, style) = (Arc::clone(&running), Arc::clone(&self.clock), self.style);
        let draw = move |bar: &ProgressState, line: &mut dyn std::fmt::Write| {
            let running = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let beat = bar.elapsed().as_millis() / TICK.as_millis();
            let drawn = line.write_str(&draw_line(&running, &style, clock(), beat));
            // The writer is a string, which takes everything; the next beat draws again anyway.
            drawn.unwrap_or_default();
        };
        let template = ProgressStyle::with_template("{step}");
        let template = template.unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(template.with_key("step", draw));
        bar.enable_steady_tick(TICK);
        state.running.insert(step.clone(), (bar, running));
    }

    fn end(&self, bar: &ProgressBar) {
        bar.disable_steady_tick();
        bar.finish_and_clear();
        self.terminal.remove(bar);
    }
}

fn change(state: &State, step: &StepId, act: impl FnOnce(&mut Running)) {
    if let Some((_, running)) = state.running.get(step) {
        act(&mut running.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Draws the line of a running step: spinner, name, elapsed, bar or countdown, what it does.
pub(super) fn draw_line(running: &Running, style: &Style, now: Timestamp, beat: u128) -> String {
    let spinner: [&str; 8] = if style.unicode {
        ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"]
    } else {
        ["- ", "\\ ", "| ", "/ ", "- ", "\\ ", "| ", "/ "]
    };
    let beat = usize::try_from(beat % 8).unwrap_or_default();
    let elapsed = duration(millis_between(running.started, now));
    let mut taken = style.sign_width() + 1 + running.name_width + 2 + 7;
    let effects = running.effects.filter(|(_, of)| *of > 0);
    let effects = effects.map_or(String::new(), |(done, of)| {
        let counts = format!("{done}/{of}");
        taken += 2 + BAR_COLUMNS + 1 + counts.len();
        format!("  {} {counts}", bar(style, done, of))
    });
    let doing = match running.until {
        Some(until) => {
            let left = duration(millis_between(now, until));
            format!("{left} left: {}", running.doing)
        }
        None => running.doing.clone(),
    };
    let room = style.width.saturating_sub(taken + 2);
    let line = format!(
        "{} {}  {elapsed:>7}{effects}  {}",
        style.paint(Tone::Active, spinner[beat]),
        running.name,
        style.paint(Tone::Faint, &shorten(&doing, room))
    );
    line.trim_end().to_owned()
}

/// How wide the bar of a running step is.
const BAR_COLUMNS: usize = 12;

fn bar(style: &Style, done: u64, of: u64) -> String {
    let columns = u64::try_from(BAR_COLUMNS).unwrap_or_default();
    let filled = usize::try_from(done.min(of) * columns / of.max(1)).unwrap_or_default();
    let (full, empty) = if style.unicode {
        ("━", "─")
    } else {
        ("#", ".")
    };
    format!(
        "{}{}",
        style.paint(Tone::Active, &full.repeat(filled)),
        style.paint(Tone::Faint, &empty.repeat(BAR_COLUMNS - filled))
    )
}
