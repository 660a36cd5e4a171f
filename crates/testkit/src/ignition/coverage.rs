//! What is in a row of configs, counted.

use std::collections::BTreeMap;
use std::fmt;

use super::draft::Draft;

/// What must be in many configs, so that a row of them says something.
pub const MUST_BE_FREQUENT: [&str; 8] = [
    "append",
    "drop-ins",
    "groups",
    "hard links",
    "instantiated units",
    "links",
    "masks",
    "users",
];

/// How many configs have something of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How many configs were counted.
    pub configs: usize,
    /// In how many of them something of a kind is.
    pub with: BTreeMap<String, usize>,
}

impl Coverage {
    /// Counts one more config.
    pub fn count(&mut self, config: &Draft) {
        self.configs += 1;
        for (name, is_there) in found(config) {
            *self.with.entry(name.to_owned()).or_default() += usize::from(is_there);
        }
    }

    /// Counts anything else by its name, such as a way in which a config was spoilt.
    pub fn note(&mut self, name: &str) {
        *self.with.entry(name.to_owned()).or_default() += 1;
    }

    /// Lists what is in fewer configs than it must be.
    pub fn rare<'a>(&self, names: &[&'a str], least: usize) -> Vec<&'a str> {
        let is_rare = |name: &&&str| self.with.get(**name).is_none_or(|count| *count < least);
        names.iter().filter(is_rare).copied().collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} configs, with:", self.configs)?;
        for (name, count) in &self.with {
            writeln!(f, "{count:8} {name}")?;
        }
        Ok(())
    }
}

/// Tells of everything that is counted whether a config has it.
fn found(config: &Draft) -> Vec<(&'static str, bool)> {
    let storage = |name: &str| config.list(&["storage", name]);
    let links = storage("links");
    let files = storage("files");
    let units = config.list(&["systemd", "units"]);
    let users = config.list(&["passwd", "users"]);
    let is = |draft: &Draft, key: &str| draft.get(key) == Some(&Draft::Flag(true));
    let has = |draft: &Draft, key: &str| draft.get(key).is_some();
    let is_instance = |unit: &Draft| matches!(unit.get("name"), Some(Draft::Text(name)) if name.contains('@') && !name.contains("@."));
    let contents = |file: &Draft, key: &str| {
        let contents = file.get("contents");
        contents.is_some_and(|contents| has(contents, key))
    };
    let section = |name: &str| config.get("ignition").is_some_and(|draft| has(draft, name));
    vec![
        ("directories", !storage("directories").is_empty()),
        ("files", !files.is_empty()),
        ("append", files.iter().any(|file| has(file, "append"))),
        ("overwrite", files.iter().any(|file| is(file, "overwrite"))),
        (
            "owners",
            files
                .iter()
                .any(|file| has(file, "user") || has(file, "group")),
        ),
        (
            "compression",
            files.iter().any(|file| contents(file, "compression")),
        ),
        (
            "verification",
            files.iter().any(|file| contents(file, "verification")),
        ),
        (
            "headers",
            files.iter().any(|file| contents(file, "httpHeaders")),
        ),
        ("links", links.iter().any(|link| !is(link, "hard"))),
        ("hard links", links.iter().any(|link| is(link, "hard"))),
        ("users", !users.is_empty()),
        (
            "keys",
            users.iter().any(|user| has(user, "sshAuthorizedKeys")),
        ),
        ("groups", !config.list(&["passwd", "groups"]).is_empty()),
        ("units", !units.is_empty()),
        ("drop-ins", units.iter().any(|unit| has(unit, "dropins"))),
        ("masks", units.iter().any(|unit| has(unit, "mask"))),
        ("presets", units.iter().any(|unit| has(unit, "enabled"))),
        ("instantiated units", units.iter().any(is_instance)),
        ("kernel arguments", config.get("kernelArguments").is_some()),
        ("disks", !storage("disks").is_empty()),
        ("arrays", !storage("raid").is_empty()),
        ("file systems", !storage("filesystems").is_empty()),
        ("encrypted volumes", !storage("luks").is_empty()),
        ("references", section("config")),
        ("authorities", section("security")),
        ("proxies", section("proxy")),
        ("timeouts", section("timeouts")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::ignition::config::{Purpose, valid};

    fn count(purpose: Purpose) -> Coverage {
        let mut dice = Dice::new(1);
        let mut coverage = Coverage::default();
        for _ in 0..500 {
            coverage.count(&valid(&mut dice, purpose));
        }
        coverage
    }

    #[test]
    fn configs_have_everything_often_enough() {
        for purpose in [Purpose::Verdict, Purpose::Merge, Purpose::Tree] {
            let coverage = count(purpose);
            let rare = coverage.rare(&MUST_BE_FREQUENT, 50);
            assert!(rare.is_empty(), "{purpose:?}: {rare:?} in {coverage}");
        }
    }

    #[test]
    fn what_is_judged_has_all_there_is() {
        let coverage = count(Purpose::Verdict);
        assert!(
            coverage.with.values().all(|count| *count >= 20),
            "{coverage}"
        );
        assert_eq!(coverage.rare(&["files", "nothing"], 20), ["nothing"]);
    }
}
