//! The rules. Where versions differ, the rule says so; everything else holds for all of them.

mod disks;
mod filesystems;
mod keys;
mod luks;
mod nodes;
mod resources;
mod units;

use crate::node::{Node, Step, Value};
use crate::problem::Problem;
use crate::report::{Report, Severity};
use crate::text::path;
use crate::version::Version;

/// Judges a config by the rules of a version.
pub(crate) fn validate(root: &Node, version: Version) -> Report {
    let mut judge = Judge {
        version,
        path: Vec::new(),
        report: Report::default(),
    };
    units::no_path_twice(&mut judge, root);
    judge.within(root, "ignition", |judge, ignition| {
        resources::ignition(judge, ignition);
    });
    judge.within(root, "storage", |judge, storage| {
        nodes::storage(judge, storage);
        filesystems::on_disks(judge, storage);
        judge.each(storage, "directories", nodes::directory);
        judge.each(storage, "disks", disks::disk);
        judge.each(storage, "files", nodes::file);
        judge.each(storage, "filesystems", filesystems::filesystem);
        judge.each(storage, "links", nodes::link);
        judge.each(storage, "luks", luks::luks);
        judge.each(storage, "raid", disks::raid);
    });
    judge.within(root, "systemd", |judge, systemd| {
        units::templates(judge, systemd);
        judge.each(systemd, "units", units::unit);
    });
    keys::no_key_twice(&mut judge, root);
    judge.report.sorted()
}

/// Goes through a config and writes down what is wrong.
struct Judge {
    version: Version,
    path: Vec<Step>,
    report: Report,
}

impl Judge {
    /// Looks at a part of a part, if it is there.
    fn within(&mut self, node: &Node, name: &'static str, look: impl FnOnce(&mut Self, &Node)) {
        if let Some(inner) = node.get(name) {
            self.path.push(Step::Field(name));
            look(self, inner);
            self.path.pop();
        }
    }

    /// Looks at every item of a list.
    fn each(&mut self, node: &Node, name: &'static str, look: impl Fn(&mut Self, &Node)) {
        self.within(node, name, |judge, list| {
            if let Value::List(items) = &list.value {
                for (index, item) in items.iter().enumerate() {
                    judge.path.push(index_step(index));
                    look(judge, item);
                    judge.path.pop();
                }
            }
        });
    }

    /// Notes an error about a part itself.
    fn error(&mut self, node: &Node, problem: Problem) {
        self.note(Severity::Error, node, &[], problem);
    }

    /// Notes an error about a field of a part, which may be missing.
    fn error_in(&mut self, node: &Node, names: &[&'static str], problem: Problem) {
        self.note(Severity::Error, node, names, problem);
    }

    /// Notes a warning about a field of a part.
    fn warn_in(&mut self, node: &Node, names: &[&'static str], problem: Problem) {
        self.note(Severity::Warning, node, names, problem);
    }

    fn note(&mut self, severity: Severity, node: &Node, names: &[&'static str], problem: Problem) {
        let mut path = self.path.clone();
        let mut deepest = node;
        let mut is_there = true;
        for name in names {
            path.push(Step::Field(name));
            match deepest.get(name) {
                Some(inner) if is_there => deepest = inner,
                _ => is_there = false,
            }
        }
        let place = deepest.mark.place(&path);
        self.report.add(severity, problem, place);
    }
}

fn index_step(index: usize) -> Step {
    Step::Index(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Tells what is wrong with a path, if something is.
fn path_problem(path: &str) -> Option<Problem> {
    if path.is_empty() {
        Some(Problem::NoPath)
    } else if !path::is_absolute(path) {
        Some(Problem::PathRelative)
    } else if path::clean(path) != path {
        Some(Problem::DirtyPath)
    } else {
        None
    }
}
