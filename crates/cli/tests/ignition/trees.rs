//! The same trees, applied to the same roots.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::config::{Purpose, valid};
use bootlace_testkit::ignition::coverage::{Coverage, MUST_BE_FREQUENT};
use bootlace_testkit::ignition::draft::Draft;
use bootlace_testkit::ignition::outcome::Outcome;
use bootlace_testkit::ignition::real::RealIgnition;
use bootlace_testkit::ignition::server::Server;
use bootlace_testkit::ignition::spoil::spoil;
use bootlace_testkit::ignition::{root, row};

use crate::{apply, referee};

/// Two equal roots and a config for them.
pub(crate) struct Case {
    folder: PathBuf,
    config: Vec<u8>,
}

impl Case {
    /// Makes roots by the dice.
    pub(crate) fn new(
        referee: &RealIgnition,
        number: u64,
        config: Vec<u8>,
        dice: &mut Dice,
    ) -> Self {
        let folder = referee.place(&format!("case-{number}")).unwrap();
        for name in ["theirs", "ours"] {
            let place = folder.join(name);
            fs::create_dir(&place).unwrap();
            root::make(&place, &mut dice.clone()).unwrap();
        }
        fs::write(folder.join("config.ign"), &config).unwrap();
        Self { folder, config }
    }

    /// Returns the folder that holds both.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn root(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Applies the config to both, and compares what came of it.
    pub(crate) fn compare(&self, referee: &RealIgnition) -> Result<Applied, String> {
        let (theirs, ours) = (self.root("theirs"), self.root("ours"));
        let look = |root: &Path| Outcome::of(root).unwrap();
        let before = look(&ours);
        let by_them = referee.apply(&self.config, &theirs).unwrap();
        let by_us = apply(&self.folder.join("config.ign"), &ours);
        match (by_them, by_us) {
            (Ok(()), Ok(())) => look(&theirs).compare(&look(&ours)).map(|()| Applied::Yes),
            // What Ignition leaves then is half done; ours must be as it was.
            (Err(_), Err(why)) => match before.compare(&look(&ours)) {
                Ok(()) => Ok(Applied::No),
                Err(left) => Err(format!("both fail, and ours is not as it was: {left}{why}")),
            },
            (Ok(()), Err(why)) => Err(format!("only we fail: {why}")),
            (Err(why), Ok(())) => Err(format!("only Ignition fails: {}", last_lines(&why))),
        }
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        // The folder around it is removed in the end; until then a row would fill the disk.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Whether a config was applied, by both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    Yes,
    No,
}

/// Spoils some configs, but only so that they are refused: others might be fetched from anywhere.
fn refused(referee: &RealIgnition, config: &Draft, dice: &mut Dice) -> Option<Vec<u8>> {
    if !dice.percent(15) {
        return None;
    }
    let text = spoil(dice, config.clone()).text;
    let verdict = referee.judge(&text).unwrap();
    (!verdict.is_valid && !text.is_empty()).then_some(text)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("CRITICAL"))
        .collect();
    lines.join("\n")
}

#[test]
#[ignore = "slow: real Ignition"]
fn configs_make_the_same_trees() {
    let (referee, server) = (referee(), Server::listen().unwrap());
    let coverage = Mutex::new(Coverage::default());
    let number = AtomicU64::new(0);
    let said = row::try_all("trees", 1000, |dice| {
        let config = valid(dice, Purpose::Tree);
        let text = match refused(&referee, &config, dice) {
            Some(text) => text,
            None => server.fill_in(&config.write(dice)).into_bytes(),
        };
        let case = Case::new(&referee, number.fetch_add(1, Ordering::Relaxed), text, dice);
        let applied = case.compare(&referee).map_err(|difference| {
            format!("{difference}\n{}", String::from_utf8_lossy(&case.config))
        })?;
        let mut coverage = coverage.lock().unwrap();
        match applied {
            Applied::Yes => coverage.count(&config),
            Applied::No => coverage.note("refused by both"),
        }
        Ok(())
    });
    let coverage = coverage.into_inner().unwrap();
    println!("{coverage}");
    match said {
        Ok(said) => println!("{said}"),
        Err(wrong) => panic!("{wrong}"),
    }
    assert_eq!(coverage.rare(&MUST_BE_FREQUENT, 50), Vec::<&str>::new());
    assert!(coverage.configs >= 500, "only so many were applied");
    assert_eq!(coverage.rare(&["refused by both"], 100), Vec::<&str>::new());
}

#[test]
#[ignore = "slow: real Ignition"]
fn a_link_to_a_link_leads_out_of_the_root_for_ignition_alone() {
    let referee = referee();
    let config = br#"{"ignition": {"version": "3.5.0"},
        "storage": {"files": [{"path": "/opt/twice/file", "contents": {"source": "data:,x"}}]}}"#;
    let case = Case::new(&referee, 0, config.to_vec(), &mut Dice::new(1));
    for name in ["theirs", "ours"] {
        let opt = case.root(name).join("opt");
        symlink("/etc", opt.join("once")).unwrap();
        symlink("/opt/once", opt.join("twice")).unwrap();
    }
    let theirs = referee.apply(&case.config, &case.root("theirs")).unwrap();
    // Outside everything is read-only, so that nothing came of it.
    assert!(theirs.unwrap_err().contains("read-only file system"));
    apply(&case.folder.join("config.ign"), &case.root("ours")).unwrap();
    assert_eq!(fs::read(case.root("ours").join("etc/file")).unwrap(), b"x");
}

#[test]
#[ignore = "slow: real Ignition"]
fn an_empty_config_is_applied_by_ignition_alone() {
    let referee = referee();
    let case = Case::new(&referee, 0, vec![], &mut Dice::new(1));
    let before = Outcome::of(&case.root("ours")).unwrap();
    let theirs = referee.apply(b"", &case.root("theirs")).unwrap();
    assert_eq!(theirs, Ok(()));
    let refusal = apply(&case.folder.join("config.ign"), &case.root("ours")).unwrap_err();
    assert!(refusal.contains("empty"), "{refusal}");
    before
        .compare(&Outcome::of(&case.root("theirs")).unwrap())
        .unwrap();
    before
        .compare(&Outcome::of(&case.root("ours")).unwrap())
        .unwrap();
}
