//! Units and drop-ins.

use std::collections::{HashMap, HashSet};

use super::Judge;
use crate::node::Node;
use crate::problem::Problem;
use crate::text::path::extension;
use crate::text::unit_file;

/// Where units lie.
const FOLDER: &str = "/etc/systemd/system/";

const KINDS: [&str; 12] = [
    ".service",
    ".socket",
    ".device",
    ".mount",
    ".automount",
    ".swap",
    ".target",
    ".path",
    ".timer",
    ".snapshot",
    ".slice",
    ".scope",
];

/// Judges whether a unit and a file, directory or link want the same path.
pub(super) fn no_path_twice(judge: &mut Judge, root: &Node) {
    let mut paths = HashSet::new();
    let units = root.get("systemd").map(|systemd| systemd.items("units"));
    for unit in units.unwrap_or_default() {
        let name = unit.text("name").unwrap_or_default();
        if unit.some_text("contents").is_some() {
            paths.insert(format!("{FOLDER}{name}"));
        }
        for dropin in unit.items("dropins") {
            if dropin.some_text("contents").is_some() {
                let own = dropin.text("name").unwrap_or_default();
                paths.insert(format!("{FOLDER}{name}.d/{own}"));
            }
        }
    }
    judge.within(root, "storage", |judge, storage| {
        for list in ["files", "directories", "links"] {
            judge.each(storage, list, |judge, entry| {
                if paths.contains(entry.text("path").unwrap_or_default()) {
                    judge.error_in(entry, &["path"], Problem::PathConflictsSystemd);
                }
            });
        }
    });
}

/// Judges whether the templates of enabled instances can be enabled.
pub(super) fn templates(judge: &mut Judge, systemd: &Node) {
    let units = systemd.items("units").iter();
    let units: HashMap<&str, &Node> = units
        .map(|unit| (unit.text("name").unwrap_or_default(), unit))
        .collect();
    judge.each(systemd, "units", |judge, unit| {
        let name = unit.text("name").unwrap_or_default();
        let Some(template) = template_of(name).filter(|_| unit.is_true("enabled")) else {
            return;
        };
        let contents = units.get(template.as_str());
        let contents = contents.and_then(|unit| unit.some_text("contents"));
        // One that cannot be read is complained about where it stands.
        let Some(Ok(sections)) = contents.map(unit_file::sections) else {
            return;
        };
        if !sections.iter().any(|section| section == "Install") {
            let unit_name = name.to_owned();
            judge.warn_in(
                unit,
                &["contents"],
                Problem::NoInstallSectionInTemplate {
                    template,
                    unit: unit_name,
                },
            );
        }
    });
}

/// Returns the template of an instance of a service: `a@b.service` is one of `a@.service`.
fn template_of(name: &str) -> Option<String> {
    let inner = name.strip_suffix(".service")?;
    // The shortest name that leaves something behind the sign.
    let at = inner.char_indices().skip(1).find(|(_, c)| *c == '@')?.0;
    let has_instance = inner.len() > at + 1 && !inner.contains('\n');
    has_instance.then(|| format!("{}@.service", &inner[..at]))
}

/// Judges a unit.
pub(super) fn unit(judge: &mut Judge, unit: &Node) {
    let name = unit.text("name").unwrap_or_default();
    if !KINDS.contains(&extension(name)) {
        judge.error_in(unit, &["name"], Problem::InvalidSystemdExt);
    }
    let contents = unit.text("contents").unwrap_or_default();
    match unit_file::sections(contents) {
        Err(why) => judge.error_in(unit, &["contents"], Problem::BadUnit(why)),
        Ok(sections) => {
            let is_wanted = sections.iter().any(|section| section == "Install");
            if unit.is_true("enabled") && !contents.is_empty() && !is_wanted {
                let unit_name = name.to_owned();
                let problem = Problem::NoInstallSection { unit: unit_name };
                judge.warn_in(unit, &["contents"], problem);
            }
        }
    }
    judge.each(unit, "dropins", |judge, dropin| {
        let contents = dropin.text("contents").unwrap_or_default();
        if let Err(why) = unit_file::sections(contents) {
            judge.error_in(dropin, &["contents"], Problem::BadUnit(why));
        }
        if extension(dropin.text("name").unwrap_or_default()) != ".conf" {
            judge.error_in(dropin, &["name"], Problem::InvalidSystemdDropinExt);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_have_templates() {
        assert_eq!(template_of("a@b.service").as_deref(), Some("a@.service"));
        assert_eq!(template_of("a@b@c.service").as_deref(), Some("a@.service"));
        assert_eq!(template_of("@b@c.service").as_deref(), Some("@b@.service"));
        assert_eq!(template_of("a@.service"), None);
        assert_eq!(template_of("a@b.socket"), None);
        assert_eq!(template_of("a.service"), None);
    }
}
