//! `verify` for people: what holds, and what does not and why that matters.

use bootlace_model::view::{CheckView, RunStateView, VerifyView};

use crate::outline::name_column;
use crate::page::{Label, Page, pad};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count};

/// Lays out what was looked at; `verbose` also lists what holds.
pub fn text(view: &VerifyView, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    let column = name_column(view.checks.iter().map(|check| check.step.as_str()));
    for checks in view.checks.chunk_by(|a, b| a.step == b.step) {
        write_step(&mut page, checks, column, verbose);
    }
    page.gap();
    let (tone, word, words) = summary(view);
    page.led(0, tone, word, &words);
    page.finish()
}

fn write_step(page: &mut Page<'_>, checks: &[CheckView], column: usize, verbose: bool) {
    let Some(first) = checks.first() else {
        return;
    };
    let style = page.style();
    let broken = checks.iter().filter(|check| !check.ok).count();
    let (sign, words) = match broken {
        0 if checks.len() == 1 => (Sign::Good, "1 holds".to_owned()),
        0 => (Sign::Good, format!("{} hold", checks.len())),
        1 => (Sign::Bad, format!("1 of {} does not hold", checks.len())),
        n => (Sign::Bad, format!("{n} of {} do not hold", checks.len())),
    };
    page.line(&format!(
        "{} {}  {words}",
        style.sign(sign),
        pad(style, Tone::Name, &clean(&first.step), column)
    ));
    for check in checks.iter().filter(|check| verbose || !check.ok) {
        write_check(page, check);
    }
}

fn write_check(page: &mut Page<'_>, check: &CheckView) {
    let indent = page.style().sign_width() + 1;
    let sign = if check.ok { Sign::Good } else { Sign::Bad };
    page.item(indent, sign, &check.what);
    let label = |text| Label {
        indent: indent + page.style().sign_width() + 1,
        text,
        column: 9,
    };
    let (found, because) = (label("found"), label("because"));
    if !check.found.is_empty() {
        page.labelled(&found, &check.found);
    }
    if !check.ok && !check.because.is_empty() {
        page.labelled(&because, &check.because);
    }
}

fn summary(view: &VerifyView) -> (Tone, &'static str, String) {
    let run = &view.run;
    let unfinished = view.checks.iter().filter(|check| check.unfinished);
    let unfinished: Vec<&str> = unfinished.map(|check| check.step.as_str()).collect();
    let looked = view.checks.iter().filter(|check| !check.unfinished);
    let broken = looked.clone().filter(|check| !check.ok).count();
    let all = count(looked.count() as u64, "check");
    if broken > 0 {
        let verb = if broken == 1 { "does" } else { "do" };
        let words = format!("{broken} of {all} {verb} not hold any more in run {run}.");
        return (Tone::Bad, "Drifted", format!("{words}{}", stands(view)));
    }
    if !unfinished.is_empty() {
        let (sign, _) = crate::status::run_state(view.state);
        let words = format!("run {run} has not finished {}.", unfinished.join(", "));
        let rest = format!("What is done holds: {all}.");
        return (
            sign.tone(),
            state_word(view.state),
            format!("{words} {rest}"),
        );
    }
    if view.checks.is_empty() {
        let words = format!("no step of run {run} is done.");
        return (Tone::Warn, "Nothing to verify", words);
    }
    let words = format!("{all} of run {run}.{}", stands(view));
    (Tone::Good, "Verified", words)
}

/// Adds where a run stands that has not come to its end.
fn stands(view: &VerifyView) -> &'static str {
    match view.state {
        RunStateView::Interrupted => " The run was interrupted and can go on.",
        RunStateView::Failed => " The run failed and can go on.",
        RunStateView::Running => " The run is still going on.",
        RunStateView::Succeeded | RunStateView::Undone | RunStateView::Unknown => "",
    }
}

fn state_word(state: RunStateView) -> &'static str {
    match state {
        RunStateView::Interrupted => "Interrupted",
        RunStateView::Running => "Running",
        RunStateView::Failed | RunStateView::Succeeded | RunStateView::Unknown => "Failed",
        RunStateView::Undone => "Undone",
    }
}
