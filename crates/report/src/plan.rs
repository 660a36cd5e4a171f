//! `plan` for people: what is still missing, step by step.

use std::collections::BTreeMap;

use bootlace_model::effect::EffectKind;
use bootlace_model::view::{PlanView, PlannedEffect, PlannedState, PlannedStep};

use crate::outline::{Outline, name_column};
use crate::page::{Page, pad};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, number_of, one_line};

/// The widest name of a kind of effect.
const KINDS: usize = "issue-certificate".len();

/// The most effects of one kind that a paused run shows.
const MOST_ALIKE: usize = 4;

/// The most steps in a row that say the same and still get a line each.
const MOST_ALONE: usize = 2;

/// Lays out a plan; `verbose` adds the line that a person would type for each effect.
pub fn text(view: &PlanView, outline: &Outline, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    page.toned(0, Tone::Heading, &format!("Plan for {}", view.sequence));
    page.gap();
    let groups = || view.steps.chunk_by(|a, b| are_alike(a, b, outline));
    let alone = groups().filter(|group| group.len() <= MOST_ALONE).flatten();
    let column = name_column(alone.map(|step| step.id.as_str()));
    for group in groups() {
        if group.len() > MOST_ALONE {
            write_group(&mut page, group, outline);
        } else {
            for step in group {
                write_step(&mut page, step, column, outline, verbose);
            }
        }
    }
    page.gap();
    page.led(0, Tone::Heading, "Plan", &summary(view, outline));
    page.finish()
}

/// Lays out what one step would do, as a paused run shows it before it begins: every effect with
/// the line that a person would type, unless many are of one kind and it is not `verbose`.
pub fn step_text(step: &PlannedStep, outline: &Outline, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    let most = if verbose { usize::MAX } else { MOST_ALIKE };
    write_standing(&mut page, step, name_column([step.id.as_str()]), outline);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for effect in &step.effects {
        let number = kinds.entry(kind_name(effect.kind)).or_default();
        *number += 1;
        if *number <= most {
            write_effect(&mut page, effect, true);
        }
    }
    let hidden = kinds.iter().filter(|(_, number)| **number > most);
    let hidden: Vec<String> = hidden
        .map(|(kind, number)| format!("{} more {kind}", number - most))
        .collect();
    if !hidden.is_empty() {
        let text = format!("and {}; -v lists them", hidden.join(", "));
        page.item(4, Sign::Item, &text);
    }
    page.finish()
}

/// Tells whether two steps say nothing but the same reason.
fn are_alike(a: &PlannedStep, b: &PlannedStep, outline: &Outline) -> bool {
    let says_little = |step: &PlannedStep| {
        step.effects.is_empty() && matches!(step.state, PlannedState::Unknown | PlannedState::Done)
    };
    says_little(a) && says_little(b) && standing(a, outline) == standing(b, outline)
}

fn write_group(page: &mut Page<'_>, group: &[PlannedStep], outline: &Outline) {
    let Some(first) = group.first() else {
        return;
    };
    let (sign, words) = standing(first, outline);
    let steps = count(number_of(group), "step");
    page.item(0, sign, &format!("{steps} {words}:"));
    let names: Vec<&str> = group.iter().map(|step| step.id.as_str()).collect();
    let indent = page.style().sign_width() + 1;
    page.toned(indent, Tone::Faint, &names.join(", "));
}

fn write_step(
    page: &mut Page<'_>,
    step: &PlannedStep,
    column: usize,
    outline: &Outline,
    verbose: bool,
) {
    write_standing(page, step, column, outline);
    for effect in &step.effects {
        write_effect(page, effect, verbose);
    }
}

fn write_standing(page: &mut Page<'_>, step: &PlannedStep, column: usize, outline: &Outline) {
    let style = page.style();
    let (sign, words) = standing(step, outline);
    let id = pad(style, Tone::Name, &clean(&step.id), column);
    let front = style.sign_width() + 1 + column + 2;
    let mut lines =
        crate::page::wrap(&clean(&words), style.width.saturating_sub(front)).into_iter();
    let first = lines.next().unwrap_or_default();
    page.line(&format!("{} {id}  {first}", style.sign(sign)));
    for line in lines {
        page.line(&format!("{}{line}", " ".repeat(front)));
    }
}

fn write_effect(page: &mut Page<'_>, effect: &PlannedEffect, verbose: bool) {
    let style = page.style();
    let kind = kind_name(effect.kind);
    let (target, detail) = (one_line(&effect.target), one_line(&effect.detail));
    let front = 4 + style.sign_width() + 1 + KINDS + 2;
    let sign = style.sign(kind_sign(effect.kind));
    let shown = style.paint(Tone::Faint, &detail);
    let line = format!("    {sign} {kind:KINDS$}  {target}");
    if front + target.chars().count() + 2 + detail.chars().count() <= style.width {
        page.line(&format!("{line}  {shown}"));
    } else {
        page.line(&line);
        page.toned(front, Tone::Faint, &detail);
    }
    if verbose {
        for command in clean(&effect.command).lines() {
            let command = style.paint(Tone::Code, command);
            page.line(&format!(
                "{}{command}",
                " ".repeat(4 + style.sign_width() + 1)
            ));
        }
    }
}

/// Tells where a step stands, as a symbol and in words.
fn standing(step: &PlannedStep, outline: &Outline) -> (Sign, String) {
    let reason = step.reason.as_deref().map(one_line);
    match step.state {
        PlannedState::Done => (Sign::Good, "done".into()),
        PlannedState::Todo if step.effects.is_empty() => {
            (Sign::Active, "nothing is missing, to be verified".into())
        }
        PlannedState::Todo => {
            let effects = number_of(&step.effects);
            let refused = reason.map_or(String::new(), |reason| format!("; {reason}"));
            (Sign::Active, format!("{effects} to do{refused}"))
        }
        PlannedState::Skipped => (Sign::Skipped, with_reason("skipped", reason)),
        PlannedState::Unknown if outline.is_built(&step.id) => {
            (Sign::Unknown, with_reason("not known yet", reason))
        }
        PlannedState::Unknown => (Sign::Unbuilt, "not built yet".into()),
    }
}

fn with_reason(words: &str, reason: Option<String>) -> String {
    match reason {
        Some(reason) => format!("{words}: {reason}"),
        None => words.to_owned(),
    }
}

fn summary(view: &PlanView, outline: &Outline) -> String {
    let of = |state: PlannedState| view.steps.iter().filter(move |step| step.state == state);
    let effects: u64 = view.steps.iter().map(|step| number_of(&step.effects)).sum();
    let busy = view.steps.iter().filter(|step| !step.effects.is_empty());
    let to_verify = of(PlannedState::Todo).filter(|step| step.effects.is_empty());
    let unbuilt = of(PlannedState::Unknown).filter(|step| !outline.is_built(&step.id));
    let unknown = of(PlannedState::Unknown).filter(|step| outline.is_built(&step.id));
    let steps = |number: usize| count(u64::try_from(number).unwrap_or(u64::MAX), "step");

    let mut parts = vec![match busy.count() {
        0 => "nothing to do".to_owned(),
        busy => format!("{effects} to do in {}", steps(busy)),
    }];
    let further = [
        (to_verify.count(), "to verify"),
        (unknown.count(), "not known yet"),
        (of(PlannedState::Skipped).count(), "skipped"),
        (of(PlannedState::Done).count(), "done"),
        (unbuilt.count(), "not built yet"),
    ];
    let further = further.iter().filter(|(number, _)| *number > 0);
    parts.extend(further.map(|(number, words)| format!("{} {words}", steps(*number))));
    format!("{}.", parts.join(", "))
}

/// Returns the name of a kind, as journals and plans write it.
pub(crate) fn kind_name(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::PutFile => "put-file",
        EffectKind::MakeDirectory => "make-directory",
        EffectKind::MakeLink => "make-link",
        EffectKind::DropPath => "drop-path",
        EffectKind::MakeKey => "make-key",
        EffectKind::IssueCertificate => "issue-certificate",
        EffectKind::SetUnit => "set-unit",
        EffectKind::RunCommand => "run-command",
        EffectKind::Fetch => "fetch",
        EffectKind::StartUnit => "start-unit",
        EffectKind::ImportImages => "import-images",
        EffectKind::ApplyObjects => "apply-objects",
        EffectKind::Await => "await",
        EffectKind::SetAttributes => "set-attributes",
        EffectKind::AppendFile => "append-file",
        EffectKind::MakeHardLink => "make-hard-link",
        EffectKind::MakeToken => "make-token",
    }
}

fn kind_sign(kind: EffectKind) -> Sign {
    match kind {
        EffectKind::DropPath => Sign::Remove,
        EffectKind::SetUnit | EffectKind::SetAttributes | EffectKind::AppendFile => Sign::Change,
        EffectKind::RunCommand
        | EffectKind::StartUnit
        | EffectKind::ImportImages
        | EffectKind::ApplyObjects
        | EffectKind::Await => Sign::Execute,
        EffectKind::PutFile
        | EffectKind::MakeDirectory
        | EffectKind::MakeLink
        | EffectKind::MakeKey
        | EffectKind::MakeToken
        | EffectKind::IssueCertificate
        | EffectKind::MakeHardLink
        | EffectKind::Fetch => Sign::Add,
    }
}
