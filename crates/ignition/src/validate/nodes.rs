//! Files, directories and links.

use std::collections::HashSet;

use super::resources::resource;
use super::{Judge, path_problem};
use crate::node::{Node, Step};
use crate::problem::Problem;
use crate::text::path;
use crate::version::Version;

/// The most that a mode can be.
const LARGEST_MODE: i64 = 0o7777;
/// Setuid, setgid and sticky.
const SPECIAL_BITS: i64 = 0o7000;

/// Judges what files, directories and links are to each other.
pub(super) fn storage(judge: &mut Judge, storage: &Node) {
    let links = storage.items("links");
    let paths: HashSet<&str> = links.iter().map(path_of).collect();
    let lists = [
        ("directories", Problem::DirectoryUsedSymlink),
        ("files", Problem::FileUsedSymlink),
        ("links", Problem::LinkUsedSymlink),
    ];
    for (name, problem) in lists {
        judge.each(storage, name, |judge, entry| {
            for _ in links_on_the_way(path_of(entry), &paths) {
                judge.error(entry, problem.clone());
            }
        });
    }
    let directories: HashSet<&str> = storage.items("directories").iter().map(path_of).collect();
    judge.each(storage, "links", |judge, link| {
        target(judge, link, &directories);
    });
}

/// Returns the links of the config through which a path leads.
fn links_on_the_way<'p>(path: &'p str, links: &HashSet<&str>) -> Vec<&'p str> {
    if links.is_empty() {
        return Vec::new();
    }
    let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
    slashes.filter(|above| links.contains(above)).collect()
}

fn path_of(entry: &Node) -> &str {
    entry.text("path").unwrap_or_default()
}

fn target(judge: &mut Judge, link: &Node, directories: &HashSet<&str>) {
    // Before 3.3 nobody asked whether there is a target.
    let target = match link.some_text("target") {
        Some(target) => target,
        None if judge.version >= Version::V3_3 => {
            judge.error_in(link, &["target"], Problem::LinkTargetRequired);
            return;
        }
        None => "",
    };
    if !link.is_true("hard") {
        return;
    }
    let mut leads_to = path::clean(target).into_owned();
    if !path::is_absolute(&leads_to) {
        leads_to = path::join(path_of(link), target);
    }
    if directories.contains(leads_to.as_str()) {
        judge.error(link, Problem::HardLinkToDirectory);
    }
    for who in ["user", "group"] {
        for name in ["id", "name"] {
            if link.find(&[who, name]).is_some() {
                judge.warn_in(link, &[who, name], Problem::HardLinkSpecifiesOwner);
            }
        }
    }
}

/// Judges a directory.
pub(super) fn directory(judge: &mut Judge, directory: &Node) {
    entry(judge, directory);
    mode(judge, directory);
}

/// Judges a link.
pub(super) fn link(judge: &mut Judge, link: &Node) {
    entry(judge, link);
}

/// Judges a file.
pub(super) fn file(judge: &mut Judge, file: &Node) {
    entry(judge, file);
    mode(judge, file);
    let source = file.find(&["contents", "source"]);
    if file.is_true("overwrite") && source.is_none() {
        judge.error_in(file, &["overwrite"], Problem::OverwriteAndNilSource);
    }
    judge.each(file, "append", resource);
    judge.within(file, "contents", resource);
}

fn entry(judge: &mut Judge, entry: &Node) {
    if let Some(problem) = path_problem(path_of(entry)) {
        judge.error_in(entry, &["path"], problem);
    }
    for who in ["user", "group"] {
        let Some(owner) = entry.get(who) else {
            continue;
        };
        if owner.number("id").is_some() && owner.some_text("name").is_some() {
            judge.path.push(Step::Field(who));
            judge.error(owner, Problem::BothIdAndNameSet);
            judge.path.pop();
        }
    }
}

fn mode(judge: &mut Judge, entry: &Node) {
    let Some(mode) = entry.number("mode") else {
        return;
    };
    if !(0..=LARGEST_MODE).contains(&mode) {
        judge.error_in(entry, &["mode"], Problem::FileIllegalMode);
    }
    if judge.version < Version::V3_6 && mode & SPECIAL_BITS != 0 {
        judge.warn_in(entry, &["mode"], Problem::ModeSpecialBits);
    }
}
