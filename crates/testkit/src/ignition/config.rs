//! Valid configs of every version.

mod disks;
mod fetching;
mod large;
mod passwd;
mod storage;
mod systemd;

use std::collections::BTreeSet;

pub use large::large;

use super::Spec;
use super::draft::Draft;
use crate::dice::Dice;

/// What a config is made for, which decides what may be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It is judged: everything that the version knows may be in it.
    Verdict,
    /// It is merged with others: keys meet often, and it refers to no other config.
    Merge,
    /// It is applied to a folder: no disks, paths and names of [`super::root`], and sources that
    /// [`super::server::Server::fill_in`] completes.
    Tree,
}

/// Makes a valid config of any version.
pub fn valid(dice: &mut Dice, purpose: Purpose) -> Draft {
    let spec = Spec::ALL
        .get(dice.index(Spec::ALL.len()))
        .copied()
        .unwrap_or(Spec::LAST);
    let mut config = valid_of(dice, spec, purpose);
    config.shuffle(dice);
    config
}

/// Makes a valid config of one version.
pub fn valid_of(dice: &mut Dice, spec: Spec, purpose: Purpose) -> Draft {
    let mut maker = Maker {
        dice,
        spec,
        purpose,
        entries: vec![],
        unit_paths: BTreeSet::new(),
    };
    let systemd = maker.systemd();
    let passwd = maker.passwd();
    let storage = maker.storage();
    let mut config = Draft::object().with("ignition", maker.ignition());
    config.put_object("passwd", passwd);
    config.put_object("storage", storage);
    config.put_object("systemd", systemd);
    if spec.has(3) {
        config.put_object("kernelArguments", maker.kernel_arguments());
    }
    config
}

/// An entry of the file system that the config has.
struct Taken {
    path: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    Link,
}

struct Maker<'a> {
    dice: &'a mut Dice,
    spec: Spec,
    purpose: Purpose,
    entries: Vec<Taken>,
    /// Paths that units and drop-ins have.
    unit_paths: BTreeSet<String>,
}

impl Maker<'_> {
    fn is(&self, purpose: Purpose) -> bool {
        self.purpose == purpose
    }

    /// Adds a key in so many of a hundred cases.
    fn maybe(&mut self, to: &mut Draft, percent: u64, key: &str, value: impl Into<Draft>) {
        if self.dice.percent(percent) {
            to.put(key, value);
        }
    }

    /// Chooses how many of something there are: mostly a few, often none.
    fn few(&mut self, percent: u64, most: u64) -> u64 {
        if self.dice.percent(percent) {
            1 + self.dice.below(most)
        } else {
            0
        }
    }

    fn pick<'b>(&mut self, from: &[&'b str]) -> &'b str {
        super::words::pick(self.dice, from)
    }

    /// Chooses names that are not yet there, each once.
    fn names<'b>(&mut self, from: &[&'b str], percent: u64, most: u64) -> Vec<&'b str> {
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..self.few(percent, most) {
            let name = self.pick(from);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn number(&mut self, limit: u64) -> i64 {
        i64::try_from(self.dice.below(limit)).unwrap_or(0)
    }

    fn texts(values: &[&str]) -> Vec<Draft> {
        values.iter().map(|value| Draft::from(*value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_config_again() {
        for purpose in [Purpose::Verdict, Purpose::Merge, Purpose::Tree] {
            let make = |seed| valid(&mut Dice::new(seed), purpose);
            assert_eq!(make(1), make(1));
            assert_ne!(make(1), make(2));
        }
    }

    #[test]
    fn every_config_is_json_that_names_its_version() {
        for seed in 0..200 {
            let mut dice = Dice::new(seed);
            let text = valid(&mut dice, Purpose::Verdict).write(&mut dice);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let version = value["ignition"]["version"].as_str().unwrap();
            assert!(version.starts_with("3."), "{version}");
        }
    }
}
