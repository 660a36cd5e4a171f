//! `explain` for people: an overview of the sequence, then each step as a page of a book.

use bootlace_model::view::{
    ExplainView, ExplainedCheck, ExplainedExpectation, ExplainedFailure, ExplainedStep,
};

use crate::outline::{Outline, name_column};
use crate::page::{Label, Page, pad};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, number_of};

/// The column of the labels `Reads`, `Known failures` and so on.
const LABELS: usize = 16;

/// The most expectations with the same reason that are listed one by one.
const MOST_ALIKE: usize = 2;
/// The most reasons for expectations that are told.
const MOST_REASONS: usize = 6;

/// Lays out the chosen steps, `verbose` with every single expectation; more than one begins with an overview.
pub fn text(view: &ExplainView, outline: &Outline, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    if view.steps.len() > 1 {
        overview(&mut page, view, outline);
    }
    // Whoever asks for one step wants to know what can go wrong with it; a book would repeat itself.
    let tells_failures = verbose || view.steps.len() == 1;
    for step in &view.steps {
        page.gap();
        write_step(&mut page, step, outline, verbose);
        if tells_failures {
            meanings(&mut page, step, &view.failures, verbose);
        } else {
            codes(&mut page, step);
        }
    }
    page.finish()
}

/// Lays out one step, as a paused run shows it before it begins.
pub fn step_text(step: &ExplainedStep, outline: &Outline, style: &Style) -> String {
    let mut page = Page::new(style);
    write_step(&mut page, step, outline, false);
    codes(&mut page, step);
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

fn write_step(page: &mut Page<'_>, step: &ExplainedStep, outline: &Outline, verbose: bool) {
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
    checks(page, &step.checks);
    expectations(page, &step.expects, verbose);
    let signs = signs(&step.expects);
    if !signs.is_empty() {
        page.labelled(&label("Given up if"), &signs.join(", "));
    }
    let undo = match (step.undo.policy.as_str(), step.undo.why.trim()) {
        ("inverse", "") => "the inverse of each effect".to_owned(),
        ("inverse", why) => why.to_owned(),
        (policy, "") => policy.replace('-', " "),
        (policy, why) => format!("{}: {why}", policy.replace('-', " ")),
    };
    page.labelled(&label("Undone by"), &undo);
}

/// Names the known failures.
fn codes(page: &mut Page<'_>, step: &ExplainedStep) {
    if !step.failures.is_empty() {
        page.labelled(&label("Known failures"), &step.failures.join(", "));
    }
}

/// Tells of each known failure where it comes from, `verbose` also what helps.
fn meanings(
    page: &mut Page<'_>,
    step: &ExplainedStep,
    failures: &[ExplainedFailure],
    verbose: bool,
) {
    let mut name = "Known failures";
    for code in &step.failures {
        let known = failures.iter().find(|failure| failure.code == *code);
        let text = match known {
            Some(known) if verbose => format!("{code}: {}\n{}", known.cause, known.remedy),
            Some(known) => format!("{code}: {}", known.cause),
            None => code.clone(),
        };
        page.labelled(&label(name), &text);
        name = "";
    }
}

/// Tells what is looked at before the step begins; checks with the same reason stand together.
fn checks(page: &mut Page<'_>, checks: &[ExplainedCheck]) {
    if checks.is_empty() {
        return;
    }
    page.toned(2, Tone::Faint, "Looked at first");
    for group in checks.chunk_by(|a, b| a.why == b.why) {
        let names: Vec<&str> = group.iter().map(|check| check.name.as_str()).collect();
        page.item(4, Sign::Item, &names.join(", "));
        if let Some(first) = group.first() {
            let indent = 4 + page.style().sign_width() + 1;
            page.toned(indent, Tone::Faint, &first.why);
        }
    }
}

/// Lists what ends the waits of a step, each sign once.
fn signs(expects: &[ExplainedExpectation]) -> Vec<&str> {
    let mut signs: Vec<&str> = vec![];
    for sign in expects.iter().flat_map(|expected| &expected.unless) {
        if !signs.contains(&sign.as_str()) {
            signs.push(sign);
        }
    }
    signs
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

/// Tells what must hold. Expectations that matter for the same reason stand together, and what
/// ends all of them is told once.
fn expectations(page: &mut Page<'_>, expects: &[ExplainedExpectation], verbose: bool) {
    let Some(first) = expects.first() else {
        return;
    };
    let ending = first.until.as_deref();
    let common = expects.iter().all(|e| e.until.as_deref() == ending);
    let ending = ending.filter(|_| common);
    let heading = ending.map_or("Checked by".to_owned(), |step| {
        format!("Checked by, until {step}")
    });
    page.toned(2, Tone::Faint, &heading);
    let groups = by_reason(expects);
    let most = if verbose { usize::MAX } else { MOST_REASONS };
    for group in groups.iter().take(most) {
        write_group(page, group, ending.is_some(), verbose);
    }
    let rest: usize = groups.iter().skip(most).map(Vec::len).sum();
    if rest > 0 {
        page.item(4, Sign::Item, &format!("and {rest} more, which -v lists"));
    }
}

fn write_group(
    page: &mut Page<'_>,
    group: &[&ExplainedExpectation],
    ending_is_told: bool,
    verbose: bool,
) {
    let most = if verbose { usize::MAX } else { MOST_ALIKE };
    for expected in group.iter().take(most) {
        let until = expected.until.as_deref().filter(|_| !ending_is_told);
        page.item(4, Sign::Item, &what_and_when(expected, until));
    }
    let rest = group.len().saturating_sub(most);
    if rest > 0 {
        page.item(4, Sign::Item, &format!("and {rest} more of the kind"));
    }
    if let Some(because) = group.first().map(|expected| &expected.because) {
        let indent = 4 + page.style().sign_width() + 1;
        page.toned(indent, Tone::Faint, because);
    }
}

/// Groups expectations by their reason, in the order in which the reasons first appear.
fn by_reason(expects: &[ExplainedExpectation]) -> Vec<Vec<&ExplainedExpectation>> {
    let mut groups: Vec<Vec<&ExplainedExpectation>> = Vec::new();
    for expected in expects {
        let same = |group: &&mut Vec<&ExplainedExpectation>| {
            group.first().is_some_and(|e| e.because == expected.because)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(expected),
            None => groups.push(vec![expected]),
        }
    }
    groups
}

fn what_and_when(expected: &ExplainedExpectation, until: Option<&str>) -> String {
    let within = match expected.within_seconds {
        0 => String::new(),
        seconds => format!(", within {seconds} s"),
    };
    let until = until.map_or(String::new(), |step| format!(", until {step}"));
    let by = if expected.verify_only {
        ", checked by `verify`"
    } else {
        ""
    };
    format!("{}{within}{until}{by}", expected.what)
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
