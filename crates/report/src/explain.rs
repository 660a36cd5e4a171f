//! `explain` for people: an overview of the sequence, then each step as a page of a book.

use bootlace_model::view::{ExplainView, ExplainedExpectation, ExplainedStep};

use crate::outline::{Outline, name_column};
use crate::page::{Label, Page, pad};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, number_of};

/// The column of the labels `Reads`, `Known failures` and so on.
const LABELS: usize = 16;

/// Lays out the chosen steps; more than one begins with an overview.
pub fn text(view: &ExplainView, outline: &Outline, style: &Style) -> String {
    let mut page = Page::new(style);
    if view.steps.len() > 1 {
        overview(&mut page, view, outline);
    }
    for step in &view.steps {
        page.gap();
        write_step(&mut page, step, outline);
    }
    page.finish()
}

/// Lays out one step, as a paused run shows it before it begins.
pub fn step_text(step: &ExplainedStep, outline: &Outline, style: &Style) -> String {
    let mut page = Page::new(style);
    write_step(&mut page, step, outline);
    page.finish()
}

fn overview(page: &mut Page<'_>, view: &ExplainView, outline: &Outline) {
    let style = page.style();
    let name = style.paint(Tone::Heading, &clean(&view.sequence));
    let built = view.steps.iter().filter(|step| step.built).count();
    let steps = count(number_of(&view.steps), "step");
    let can = match built {
        0 => "none of them can run yet".to_owned(),
        n if n == view.steps.len() => "all of them can run".to_owned(),
        1 => "1 of them can run".to_owned(),
        n => format!("{n} of them can run"),
    };
    page.line(&format!("{name}: {steps}, {can}"));
    if !outline.about.is_empty() {
        page.prose(0, &outline.about);
    }
    page.gap();
    let column = name_column(view.steps.iter().map(|step| step.id.as_str()));
    for step in &view.steps {
        let number = outline.number(&step.id).unwrap_or_default();
        let sign = if step.built {
            Sign::Good
        } else {
            Sign::Unbuilt
        };
        let id = pad(style, Tone::Name, &clean(&step.id), column);
        let front = format!("{number:4} {} {id}  ", style.sign(sign));
        let columns = 4 + 1 + style.sign_width() + 1 + column + 2;
        page.hung(&front, columns, &step.title);
    }
    page.gap();
    page.line(&format!(
        "  {} can run    {} explains itself, cannot run yet",
        style.sign(Sign::Good),
        style.sign(Sign::Unbuilt)
    ));
}

fn write_step(page: &mut Page<'_>, step: &ExplainedStep, outline: &Outline) {
    heading(page, step, outline);
    page.toned(0, Tone::Heading, &step.title);
    page.gap();
    page.prose(2, &step.why);
    page.gap();
    list(page, "Needs", &step.needs);
    list(page, "Reads", &step.reads);
    list(page, "Writes", &step.writes);
    if !step.command.trim().is_empty() {
        page.verbatim(&label("By hand"), &step.command);
    }
    expectations(page, &step.expects);
    let undo = match (step.undo.policy.as_str(), step.undo.why.trim()) {
        ("inverse", "") => "the inverse of each effect".to_owned(),
        ("inverse", why) => why.to_owned(),
        (policy, "") => policy.replace('-', " "),
        (policy, why) => format!("{}: {why}", policy.replace('-', " ")),
    };
    page.labelled(&label("Undone by"), &undo);
    if !step.failures.is_empty() {
        page.labelled(&label("Known failures"), &step.failures.join(", "));
    }
}

fn heading(page: &mut Page<'_>, step: &ExplainedStep, outline: &Outline) {
    let style = page.style();
    let id = clean(&step.id);
    let number = match outline.number(&step.id) {
        Some(number) => format!("{number}/{} ", outline.steps.len()),
        None => String::new(),
    };
    let note = if step.built { "" } else { " (not built yet)" };
    let taken = number.chars().count() + id.chars().count() + note.len() + 1;
    page.line(&format!(
        "{}{}{} {}",
        style.paint(Tone::Faint, &number),
        style.paint(Tone::Active, &id),
        style.paint(Tone::Warn, note),
        style.rule(style.width.saturating_sub(taken))
    ));
}

fn expectations(page: &mut Page<'_>, expects: &[ExplainedExpectation]) {
    for (n, expected) in expects.iter().enumerate() {
        let name = if n == 0 { "Checked by" } else { "" };
        let within = match expected.within_seconds {
            0 => String::new(),
            seconds => format!(", within {seconds} s"),
        };
        let until = expected.until.as_ref();
        let until = until.map_or(String::new(), |step| format!(", until {step}"));
        page.labelled(&label(name), &format!("{}{within}{until}", expected.what));
        if !expected.because.is_empty() {
            page.toned(2 + LABELS + 2, Tone::Faint, &expected.because);
        }
    }
}

fn list(page: &mut Page<'_>, name: &str, items: &[String]) {
    for (n, item) in items.iter().enumerate() {
        page.labelled(&label(if n == 0 { name } else { "" }), item);
    }
}

fn label(text: &str) -> Label<'_> {
    Label {
        indent: 2,
        text,
        column: LABELS,
    }
}
