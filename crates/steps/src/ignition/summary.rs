//! A config in a sentence or two.

use bootlace_model::effect::EffectKind;
use bootlace_model::provision::Provision;
use bootlace_model::view::{PlanView, PlannedState};

/// The most paths that are named.
const NAMED: usize = 3;

/// What a config comes to, counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Summary {
    parts: Vec<String>,
    overwritten: Vec<String>,
}

/// Counts what a config asks for; with a plan, also what is there already and goes.
pub fn summarise(wishes: &Provision, plan: Option<&PlanView>) -> String {
    let mut parts = Vec::new();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let files = wishes.files.len() + wishes.units.iter().map(unit_files).sum::<usize>();
    let wanted = wishes.users.iter().filter(|user| user.is_wanted()).count();
    let gone = wishes.users.len() - wanted;
    let groups = wishes.groups.iter().filter(|group| group.is_wanted()).count();
    let enabled = |state| wishes.units.iter().filter(|unit| unit.enabled == Some(state)).count();
    let masked = wishes.units.iter().filter(|unit| unit.mask == Some(true)).count();
    for (verb, number, noun) in [
        ("writes", files, "file"),
        ("makes", wishes.directories.len(), "folder"),
        ("makes", wishes.links.len(), "link"),
        ("adds or changes", wanted, "user"),
        ("removes", gone, "user"),
        ("adds", groups, "group"),
        ("enables", enabled(true), "unit"),
        ("disables", enabled(false), "unit"),
        ("masks", masked, "unit"),
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
        text += &changes(wishes, plan);
    }
    text
}

fn unit_files(unit: &bootlace_model::provision::Unit) -> usize {
    let own = unit.contents.as_ref().is_some_and(|text| !text.is_empty());
    let dropins = unit.dropins.iter().filter(|it| it.contents.is_some()).count();
    usize::from(own && unit.mask != Some(true)) + dropins
}

/// Tells what is there already.
fn changes(wishes: &Provision, plan: &PlanView) -> String {
    let todo = plan.steps.iter().filter(|step| step.state == PlannedState::Todo);
    let effects: Vec<_> = todo.flat_map(|step| &step.effects).collect();
    let may_replace = |path: &str| {
        let files = wishes.files.iter().map(|it| &it.entry);
        let links = wishes.links.iter().map(|it| &it.entry);
        let mut entries = files.chain(links);
        entries.any(|entry| entry.overwrite && entry.path == path)
    };
    let of = |kind: EffectKind| effects.iter().filter(move |effect| effect.kind == kind);
    let removed = of(EffectKind::DropPath).map(|effect| effect.target.as_str());
    let replaced = of(EffectKind::PutFile).chain(of(EffectKind::MakeLink));
    let replaced = replaced.map(|effect| effect.target.as_str());
    let replaced: Vec<&str> = replaced.filter(|path| may_replace(path)).collect();
    let added = of(EffectKind::AppendFile).map(|effect| effect.target.as_str());
    let mut text = String::new();
    for (paths, words) in [
        (replaced, "may be overwritten"),
        (removed.collect(), "removed first, with all that is in it"),
        (added.collect(), "added to"),
    ] {
        let verb = match paths.as_slice() {
            [] => continue,
            [_] if words.starts_with("may") => "",
            [_] => "is ",
            _ if words.starts_with("may") => "",
            _ => "are ",
        };
        let mut named: Vec<String> = paths.iter().take(NAMED).map(|it| (*it).to_owned()).collect();
        if paths.len() > NAMED {
            named.push(format!("{} more", paths.len() - NAMED));
        }
        if let Some(paths) = joined(&named) {
            text += &format!(" {paths} {verb}{words}.");
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
