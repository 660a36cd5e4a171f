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
use bootlace_model::survey::Survey;

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

fn expects(settings: &Settings, facts: &Facts) -> Vec<Expectation> {
    let claims = claims(wishes(settings), facts.get(&TARGET).ok().as_ref());
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

/// Lists what must be where; before the target was looked at, by the names in the config.
fn claims(wishes: &Provision, target: Option<&Survey>) -> Vec<Claim> {
    // The way to an entry was followed before entries replaced links on it, so its name may lead
    // elsewhere by now. What it leads to is where the entry was put.
    let real = |text: &str| {
        let path = TargetPath::new(text).ok()?;
        let real = target.map(|target| target.real(&path).clone());
        Some(real.unwrap_or(path))
    };
    // A hard link comes last, and overwrites a folder with what other entries put into it.
    let links = wishes.links.iter();
    let links = links.filter(|link| link.hard && link.entry.overwrite);
    let links: HashSet<TargetPath> = links.filter_map(|link| real(&link.entry.path)).collect();
    let stays = |path: &TargetPath| {
        let mut above = std::iter::successors(path.parent(), TargetPath::parent);
        links.is_empty() || !above.any(|above| links.contains(&above))
    };
    let path = |text: &str| real(text).filter(stays);
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

/// Returns what a file must hold, if the config says all of it and nothing is added later.
fn digest(file: &File) -> Option<Digest> {
    match &file.holds {
        Holds::Whole(content) if file.entry.path != presets::PRESET => Some(content.digest()),
        _ => None,
    }
}
