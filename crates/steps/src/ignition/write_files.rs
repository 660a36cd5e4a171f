//! `write-files`: folders, files and links.

use std::collections::HashSet;

use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::provision::{File, Holds, Provision};
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};

use super::facts::{ACCOUNTS, TARGET, UNIT_PLACES};
use super::step::{IgnitionStep, checks_nothing};
use super::{authorize_ssh_keys, entries, presets, wishes, write_units};

pub(super) const NAME: &str = "write-files";

static ABOUT: About = About {
    title: "Write folders, files and links",
    why: "Entries are worked off from the shallow to the deep, and hard links come last, so that what \
          an entry needs is there. Whether something may be replaced is decided by what was there \
          before this run, which was noted when the step before ended: after a power cut nobody takes \
          a file that this run wrote for one that it found, and nothing is appended twice. Links of \
          the target are followed inside of the target, and two entries that lead to the same place \
          are refused. Everything that is wrong is told at once, before the first file is written. \
          All files are written beside their places, made durable together, and then put into place \
          in order.",
    reads: &["storage.directories, storage.files and storage.links of the config"],
    writes: &["/"],
    command: "\
install -d -m 0755 FOLDER && chown UID:GID FOLDER
install -m 0644 -o UID -g GID CONTENT FILE
ln -s TARGET LINK",
    undo: UndoPolicy::Inverse,
    failures: &["I-01", "I-03", "I-06"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[authorize_ssh_keys::NAME],
    uses: &["ignition.target", "ignition.accounts"],
    yields,
    checks: checks_nothing,
    plan,
    expects,
};

fn yields(settings: &Settings) -> Vec<Ask> {
    let places = write_units::places(wishes(settings), &settings.paths.state);
    vec![UNIT_PLACES.from(Probe::Survey(places))]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    let (target, accounts) = (facts.get(&TARGET)?, facts.get(&ACCOUNTS)?);
    let effects = entries::decide(wishes(settings), &target, &accounts, &settings.paths.state)?;
    Ok(Decision::Do(effects))
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let wishes = wishes(settings);
    let claims = claims(wishes);
    if claims.is_empty() {
        return vec![];
    }
    let what = format!(
        "the config's folders and files are there, {} in all",
        claims.len()
    );
    let because = "What reads them later cannot tell a half of a config from the whole.";
    vec![Expectation::now(Claim::All { what, claims }, because)]
}

fn claims(wishes: &Provision) -> Vec<Claim> {
    let replaced = replaced(wishes);
    // What lies below may lie elsewhere by now: the way to it was followed before it was replaced.
    let stays = |path: &TargetPath| {
        let mut above = std::iter::successors(path.parent(), TargetPath::parent);
        replaced.is_empty() || !above.any(|above| replaced.contains(above.as_str()))
    };
    let path = |text: &str| TargetPath::new(text).ok().filter(stays);
    let directories = wishes.directories.iter();
    let directories = directories.filter_map(|it| {
        Some(Claim::Directory {
            path: path(&it.entry.path)?,
        })
    });
    let files = wishes.files.iter();
    let files = files.filter_map(|file| {
        Some(Claim::File {
            path: path(&file.entry.path)?,
            digest: digest(file),
            mode: file.mode,
        })
    });
    // A link that was there may say the same in other words, so links are left to drift detection.
    directories.chain(files).collect()
}

/// Lists the paths at which something else is put, whatever is there.
fn replaced(wishes: &Provision) -> HashSet<&str> {
    let directories = wishes.directories.iter().map(|it| &it.entry);
    let files = wishes.files.iter().map(|it| &it.entry);
    let links = wishes.links.iter().map(|it| &it.entry);
    let entries = directories.chain(files).chain(links);
    let replaced = entries.filter(|entry| entry.overwrite);
    replaced.map(|entry| entry.path.as_str()).collect()
}

/// Returns what a file must hold, if the config says all of it and nothing is added later.
fn digest(file: &File) -> Option<Digest> {
    match &file.holds {
        Holds::Whole(content) if file.entry.path != presets::PRESET => Some(content.digest()),
        _ => None,
    }
}
