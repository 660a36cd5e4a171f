//! `status` for people: where a run stands, from its journal.

use bootlace_model::view::{RunStateView, StatusView, StepStateView, StepStatus, UnknownView};

use crate::outline::name_column;
use crate::page::{Page, pad};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, duration, moment_text, number_of, one_line};

/// The most steps in a row that are still to do and get a line each.
const MOST_ALONE: usize = 2;

/// Lays out where a run stands; `verbose` adds what proved each step.
pub fn text(view: &StatusView, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    let (sign, word) = run_state(view.state);
    page.line(&format!(
        "{} {} {}",
        style.sign(sign),
        style.paint(Tone::Name, &clean(&view.run)),
        style.paint(sign.tone(), word)
    ));
    page.gap();
    let groups = || view.steps.chunk_by(|a, b| is_blank(a) && is_blank(b));
    let alone = groups().filter(|group| group.len() <= MOST_ALONE).flatten();
    let column = name_column(alone.map(|step| step.id.as_str()));
    for group in groups() {
        if group.len() > MOST_ALONE {
            write_todo(&mut page, group);
        } else {
            for step in group {
                write_step(&mut page, step, column, verbose);
            }
        }
    }
    page.gap();
    footer(&mut page, view);
    page.finish()
}

/// Names the state of a run.
pub(crate) fn run_state(state: RunStateView) -> (Sign, &'static str) {
    match state {
        RunStateView::Running => (Sign::Active, "running"),
        RunStateView::Succeeded => (Sign::Good, "succeeded"),
        RunStateView::Failed => (Sign::Bad, "failed"),
        RunStateView::Interrupted => (Sign::Warn, "interrupted"),
        RunStateView::Undone => (Sign::Undone, "undone"),
        RunStateView::Unknown => (Sign::Unknown, "unknown"),
    }
}

fn step_state(state: StepStateView) -> (Sign, &'static str) {
    match state {
        StepStateView::Todo => (Sign::Todo, "to do"),
        StepStateView::Running => (Sign::Active, "running"),
        StepStateView::Done => (Sign::Good, "done"),
        StepStateView::Failed => (Sign::Bad, "failed"),
        StepStateView::Skipped => (Sign::Skipped, "skipped"),
    }
}

/// Tells whether nothing is to be said of a step but that it is still to do.
fn is_blank(step: &StepStatus) -> bool {
    step.state == StepStateView::Todo && step.error.is_none() && step.reason.is_none()
}

fn write_todo(page: &mut Page<'_>, steps: &[StepStatus]) {
    let names: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let words = format!("{} to do:", count(number_of(steps), "step"));
    page.item(2, Sign::Todo, &words);
    let indent = 2 + page.style().sign_width() + 1;
    page.toned(indent, Tone::Faint, &names.join(", "));
}

fn write_step(page: &mut Page<'_>, step: &StepStatus, column: usize, verbose: bool) {
    let style = page.style();
    let (sign, word) = step_state(step.state);
    let took = step.seconds.map(seconds_text).unwrap_or_default();
    let started = step.started.as_deref().map(moment_text);
    page.line(&format!(
        "  {} {}  {word:7}  {took:>7}  {}",
        style.sign(sign),
        pad(style, Tone::Name, &clean(&step.id), column),
        style.paint(Tone::Faint, started.as_deref().unwrap_or_default())
    ));
    let indent = 2 + style.sign_width() + 1;
    if let Some(reason) = &step.reason {
        let reason = one_line(reason);
        let words = match step.state {
            StepStateView::Done => reason,
            _ => format!("because {reason}"),
        };
        page.toned(indent, Tone::Faint, &words);
    }
    if let Some(fault) = &step.error {
        let mut fault = fault.clone();
        // The step's name stands on the line above.
        fault.step = None;
        crate::fault::write(page, indent, &fault);
    }
    if verbose {
        for evidence in &step.evidence {
            page.item(indent, Sign::Item, evidence);
        }
    }
}

fn footer(page: &mut Page<'_>, view: &StatusView) {
    let of = |state: StepStateView| view.steps.iter().filter(move |step| step.state == state);
    let done = of(StepStateView::Done).count();
    let skipped = of(StepStateView::Skipped).count();
    let all = count(number_of(&view.steps), "step");
    let skipped = match skipped {
        0 => String::new(),
        n => format!(", {n} skipped"),
    };
    page.prose(0, &format!("{done} of {all} done{skipped}."));
    if !view.pinned && view.state != RunStateView::Undone {
        page.item(
            0,
            Sign::Warn,
            "The release is unpinned: images are named by version, not by digest, so what is \
             pulled later may differ from what was planned.",
        );
    }
    for name in &view.insecure {
        page.item(0, Sign::Warn, &format!("Insecure: {name}"));
    }
    for target in &view.refused {
        page.item(0, Sign::Warn, &format!("Undo left alone: {target}"));
    }
    if let Some(UnknownView { line, what, tool }) = &view.unknown {
        let text = format!(
            "This version does not understand line {line} of the journal ({what}). Continue or undo \
             the run with bootlace {tool} or later."
        );
        page.item(0, Sign::Unknown, &text);
    }
}

/// Writes seconds that stand as a fraction in the view.
fn seconds_text(seconds: f64) -> String {
    let millis = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
    duration(u64::try_from(millis.as_millis()).unwrap_or(u64::MAX))
}

/// Lays out how long each step of a finished run took; the longest is as long as the bar.
pub fn times(view: &StatusView, style: &Style) -> String {
    let done = view.steps.iter().filter_map(|step| {
        let seconds = step.seconds.filter(|_| step.state == StepStateView::Done);
        seconds.map(|seconds| (step.id.as_str(), seconds))
    });
    let done: Vec<(&str, f64)> = done.collect();
    let longest = done.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
    let column = name_column(done.iter().map(|(id, _)| *id));
    let mut page = Page::new(style);
    for (id, seconds) in done {
        let share = if longest > 0.0 {
            seconds / longest
        } else {
            0.0
        };
        page.line(&format!(
            "  {}  {:>7}  {}",
            pad(style, Tone::Name, &clean(id), column),
            seconds_text(seconds),
            style.bar(share, 24)
        ));
    }
    page.finish()
}
