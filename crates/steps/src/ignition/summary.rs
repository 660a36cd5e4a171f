//! A config in a sentence or two.

use bootlace_model::effect::EffectKind;
use bootlace_model::provision::Provision;
use bootlace_model::view::{PlanView, PlannedEffect, PlannedState};

/// The most paths that are named.
const NAMED: usize = 3;

/// Counts what a config asks for; with a plan, also what is there already and goes.
pub fn summarise(wishes: &Provision, plan: Option<&PlanView>) -> String {
    let mut parts = Vec::new();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let files = wishes.files.len() + wishes.units.iter().map(unit_files).sum::<usize>();
    let wanted = wishes.users.iter().filter(|user| user.is_wanted()).count();
    let gone = wishes.users.len() - wanted;
    let groups = wishes
        .groups
        .iter()
        .filter(|group| group.is_wanted())
        .count();
    let enabled = |state| {
        wishes
            .units
            .iter()
            .filter(|unit| unit.enabled == Some(state))
            .count()
    };
    let masked = |state| {
        let units = wishes.units.iter();
        units.filter(|unit| unit.mask == Some(state)).count()
    };
    for (verb, number, noun) in [
        ("writes", files, "file"),
        ("makes", wishes.directories.len(), "folder"),
        ("makes", wishes.links.len(), "link"),
        ("adds or changes", wanted, "user"),
        ("removes", gone, "user"),
        ("adds", groups, "group"),
        ("removes", wishes.groups.len() - groups, "group"),
        ("enables", enabled(true), "unit"),
        ("disables", enabled(false), "unit"),
        ("masks", masked(true), "unit"),
        ("unmasks", masked(false), "unit"),
    ] {
        if number > 0 {
            let plural = if number == 1 { "" } else { "s" };
            parts.push(format!("{verb} {} {noun}{plural}", count(number)));
        }
    }
    let mut text = match joined(&parts) {
        None => "This config asks for nothing.".to_owned(),
        Some(parts) => format!("This config {parts}."),
    };
    let arguments = &wishes.kernel_arguments;
    if !arguments.should_exist.is_empty() || !arguments.should_not_exist.is_empty() {
        text += " Kernel arguments are noted, and not changed.";
    }
    if let Some(plan) = plan {
        text += &changes(plan);
    }
    text
}

fn unit_files(unit: &bootlace_model::provision::Unit) -> usize {
    let own = unit.contents.as_ref().is_some_and(|text| !text.is_empty());
    let dropins = unit
        .dropins
        .iter()
        .filter(|it| it.contents.is_some())
        .count();
    usize::from(own && unit.mask != Some(true)) + dropins
}

/// Tells what is there already.
fn changes(plan: &PlanView) -> String {
    let todo = plan
        .steps
        .iter()
        .filter(|step| step.state == PlannedState::Todo);
    let effects: Vec<&PlannedEffect> = todo.flat_map(|step| &step.effects).collect();
    let those = |fits: fn(&PlannedEffect) -> bool| -> Vec<&str> {
        let fitting = effects.iter().filter(|effect| fits(effect));
        fitting.map(|effect| effect.target.as_str()).collect()
    };
    let mut text = String::new();
    for (paths, done) in [
        (those(|effect| effect.replaces), "overwritten"),
        (
            those(|effect| effect.kind == EffectKind::DropPath),
            "removed first, with all that is in it",
        ),
        (
            those(|effect| effect.kind == EffectKind::AppendFile),
            "added to",
        ),
    ] {
        let be = if paths.len() == 1 { "is" } else { "are" };
        let named = paths.iter().take(NAMED).map(|path| (*path).to_owned());
        let more = paths.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("{more} more"));
        let named: Vec<String> = named.chain(more).collect();
        if let Some(paths) = joined(&named) {
            text.extend([" ", &paths, " ", be, " ", done, "."]);
        }
    }
    text
}

/// Joins phrases with commas and a last *and*.
fn joined(parts: &[String]) -> Option<String> {
    match parts {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
