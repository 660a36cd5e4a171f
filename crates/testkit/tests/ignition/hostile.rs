//! Configs that nobody means well with, on roots that nobody prepared well: whatever comes of them,
//! nothing outside of the root changes, and nothing is left half done.

mod config;
mod place;

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::row;
use bootlace_testkit::tree::Snapshot;

use self::place::Place;

/// How long one config may take, with its plan and its end.
const WITHIN: Duration = Duration::from_secs(10);

/// What came of the configs of a row.
#[derive(Debug, Default)]
struct Ends {
    applied: u64,
    /// Refused by what the config itself says.
    invalid: u64,
    /// Refused by what it finds on the root.
    refused: u64,
}

#[test]
fn hostile_configs_on_hostile_roots_do_no_harm() {
    try_many(1_000);
}

#[test]
#[ignore = "slow: five thousand hostile configs"]
fn many_more_hostile_configs_do_no_harm() {
    try_many(5_000);
}

fn try_many(count: u64) {
    let ends = Mutex::new(Ends::default());
    let said = row::try_all("hostile configs", count, |dice| {
        let end = try_within(dice.clone())?;
        let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            End::Applied => ends.applied += 1,
            End::Invalid => ends.invalid += 1,
            End::Refused => ends.refused += 1,
        }
        Ok(())
    });
    let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
    let said = said.unwrap();
    // A row in which everything ends in the same way has tried nothing else.
    let enough = count / 20;
    let varied = [ends.applied, ends.invalid, ends.refused];
    assert!(varied.iter().all(|end| *end >= enough), "{said}: {ends:?}");
}

enum End {
    Applied,
    Invalid,
    Refused,
}

/// Tries one config, and does not wait for ever.
fn try_within(mut dice: Dice) -> Result<End, String> {
    let place = Place::new(&mut dice);
    let text = config::hostile(&mut dice, &place.outside());
    let shown = String::from_utf8_lossy(&text).replace(&"/deep".repeat(900), "/deep…");
    let told = |what: String| format!("{what}\n{shown}");
    let (tell, told_by) = mpsc::channel();
    let trying = thread::spawn(move || {
        let end = check(&place, &text);
        // Nobody listens any more once it took too long.
        drop(tell.send(end));
    });
    match told_by.recv_timeout(WITHIN) {
        Ok(end) => end.map_err(told),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(told(format!("it took more than {WITHIN:?}"))),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let cause = trying.join().unwrap_err();
            let text = cause.downcast_ref::<String>().cloned();
            let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(told(format!("panic: {}", text.unwrap_or_default())))
        }
    }
}

fn check(place: &Place, text: &[u8]) -> Result<End, String> {
    let before = place.look()?;
    let same = |when: &str| {
        before
            .compare(&place.look()?)
            .map_err(|difference| format!("{when}: {difference}"))
    };
    let settings = match place.root.settings(text) {
        Ok(settings) => settings,
        Err(fault) => {
            well_said(&fault, &["storage.", "systemd.", "ignition", "passwd."])?;
            same("reading it changed something")?;
            return Ok(End::Invalid);
        }
    };
    let planned = place.root.plan_with(&settings);
    same("a plan changed something")?;
    let applied = place.root.apply_with(&settings);
    if let Err(fault) = applied {
        // A config may give a folder to a user, and write through a link in it: then the link is a
        // stranger's by the time of the write, and root does not follow it.
        let is_strangers_link = fault.kind == FaultKind::Refused
            && fault.message.contains("through a symbolic link of user");
        if !is_strangers_link {
            well_said(&fault, &["storage.", "systemd."])?;
        }
        same(&format!("a failure left something ({fault})"))?;
        return Ok(End::Refused);
    }
    planned.map_err(|fault| format!("applied, but not planned: {fault}"))?;
    place.untouched_outside()?;
    let undone = place.root.undo().map_err(|fault| fault.to_string())?;
    if !undone.refused.is_empty() {
        return Err(format!("undo left {:?}", undone.refused));
    }
    same("undo left something")?;
    Ok(End::Applied)
}

/// Checks that a fault tells which entry is wrong, and what to do.
fn well_said(fault: &Fault, entries: &[&str]) -> Result<(), String> {
    let said = format!("{:?} {fault} {:?}", fault.kind, fault.details);
    if fault.kind != FaultKind::BadInput {
        return Err(format!("a config is to blame, not this: {said}"));
    }
    let is_syntax = fault
        .place
        .as_ref()
        .is_some_and(|place| place.column.is_some());
    if !is_syntax && !entries.iter().any(|entry| said.contains(entry)) {
        return Err(format!("it does not say which entry is wrong: {said}"));
    }
    if fault.hints.is_empty() {
        return Err(format!("it does not say what to do: {said}"));
    }
    Ok(())
}

/// Compares all of a place: the root, and what lies beside it.
struct Look {
    root: Snapshot,
    outside: Snapshot,
    beside: BTreeSet<String>,
}

impl Look {
    fn compare(&self, now: &Self) -> Result<(), String> {
        let compared = self.root.compare(&now.root);
        compared.map_err(|difference| difference.to_string())?;
        let outside = self.outside.compare(&now.outside);
        outside.map_err(|difference| format!("outside of the root: {difference}"))?;
        if self.beside != now.beside {
            return Err(format!("{:?} became {:?}", self.beside, now.beside));
        }
        Ok(())
    }
}
