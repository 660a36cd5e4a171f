//! Effects that follow each other, counted per step.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::theme::Sign;
use crate::words::{count, duration, millis_between};

/// The effects of some steps since something else was told, in the order of their first record.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Effects>);

/// The effects of one step.
#[derive(Debug)]
pub(super) struct Effects {
    pub(super) step: String,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) counts: Counts,
}

/// How many effects were begun, ended and taken back.
#[derive(Debug, Default)]
pub(super) struct Counts {
    kinds: BTreeMap<&'static str, u64>,
    done: u64,
    found: u64,
    undone: u64,
    forced: u64,
}

impl Groups {
    /// Returns the counts of a step, to which a record of this moment belongs.
    pub(super) fn of(&mut self, step: &str, at: Timestamp) -> &mut Counts {
        let position = self.0.iter().position(|group| group.step == step);
        let position = position.unwrap_or_else(|| {
            self.0.push(Effects {
                step: step.to_owned(),
                first: at,
                last: at,
                counts: Counts::default(),
            });
            self.0.len() - 1
        });
        let group = &mut self.0[position];
        group.last = at;
        &mut group.counts
    }

    /// Hands out the groups and begins anew.
    pub(super) fn take(&mut self) -> Vec<Effects> {
        std::mem::take(&mut self.0)
    }
}

impl Counts {
    pub(super) fn intended(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    pub(super) fn done(&mut self, found: bool) {
        self.done += 1;
        self.found += u64::from(found);
    }

    pub(super) fn undone(&mut self, forced: bool) {
        self.undone += 1;
        self.forced += u64::from(forced);
    }

    /// Tells what was counted, as one line for what was done and one for what was taken back.
    pub(super) fn told(&self, first: Timestamp, last: Timestamp) -> Vec<(Sign, String)> {
        let took = duration(millis_between(first, last));
        let done = (self.begun() + self.done > 0).then(|| (Sign::Add, self.done_words(&took)));
        let undone = (self.undone > 0).then(|| (Sign::Undone, self.undone_words(&took)));
        done.into_iter().chain(undone).collect()
    }

    fn begun(&self) -> u64 {
        self.kinds.values().sum()
    }

    fn done_words(&self, took: &str) -> String {
        let words = match (self.begun(), self.done) {
            (begun, 0) => format!("{} begun", count(begun, "effect")),
            (begun, done) if begun == done || begun == 0 => {
                format!("{} performed in {took}", count(done, "effect"))
            }
            (begun, done) => {
                let begun = count(begun, "effect");
                format!("{begun} begun, {done} performed in {took}")
            }
        };
        let found = match self.found {
            0 => String::new(),
            found => format!(", {found} found done after a crash"),
        };
        let kinds = self.kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let colon = if kinds.is_empty() { "" } else { ": " };
        format!("{words}{found}{colon}{kinds}")
    }

    fn undone_words(&self, took: &str) -> String {
        let forced = match self.forced {
            0 => String::new(),
            forced => format!(", {forced} by force"),
        };
        format!(
            "{} taken back in {took}{forced}",
            count(self.undone, "effect")
        )
    }
}
