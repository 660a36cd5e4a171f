//! `log` for people: the journal as a story, in which thousands of effects are one line.
//!
//! Lines come one by one, so that a long journal needs no memory but the names of its effects.
//! Effects that follow each other are counted together until something else happens; what was
//! begun and never answered is told at the end.

mod group;
mod words;

use std::collections::BTreeMap;

use bootlace_model::record::{Line, Record};
use jiff::Timestamp;

use self::group::{Effects, Groups};
use crate::page::{Page, pad};
use crate::plan::kind_name;
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, one_line};

/// The most effects without an answer that are listed one by one.
const MOST_UNANSWERED: usize = 10;

/// A journal that is being told.
#[derive(Debug)]
pub struct LogText<'a> {
    style: &'a Style,
    verbose: bool,
    day: String,
    /// The step of every effect, because later records name effects by number alone.
    steps: BTreeMap<u64, String>,
    unanswered: BTreeMap<u64, String>,
    groups: Groups,
}

impl<'a> LogText<'a> {
    /// Begins; `verbose` tells every effect, every fact and every proof.
    pub fn new(style: &'a Style, verbose: bool) -> Self {
        Self {
            style,
            verbose,
            day: String::new(),
            steps: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            groups: Groups::default(),
        }
    }

    /// Takes a line in and returns what can be told now, possibly nothing.
    pub fn push(&mut self, line: &Line) -> String {
        let mut page = Page::new(self.style);
        if !self.take_effect(&mut page, line) {
            self.tell_groups(&mut page);
            let (sign, words) = match self.about_step(&line.rec) {
                Some((step, (sign, words))) => (sign, format!("{step}: {words}")),
                None => words::of_run(&line.rec),
            };
            self.tell(&mut page, line.at, sign, &words);
            self.tell_more(&mut page, &line.rec);
        }
        page.finish()
    }

    /// Returns what is left to tell after the last line.
    pub fn finish(&mut self) -> String {
        let mut page = Page::new(self.style);
        self.tell_groups(&mut page);
        if !self.unanswered.is_empty() {
            page.gap();
            let effects = count(u64::try_from(self.unanswered.len()).unwrap_or(0), "effect");
            let words = format!("{effects} begun and not answered, cut off or still under way:");
            page.item(0, Sign::Warn, &words);
            for what in self.unanswered.values().take(MOST_UNANSWERED) {
                page.item(self.style.sign_width() + 1, Sign::Item, what);
            }
            if self.unanswered.len() > MOST_UNANSWERED {
                let more = format!("and {} more", self.unanswered.len() - MOST_UNANSWERED);
                page.item(self.style.sign_width() + 1, Sign::Item, &more);
            }
        }
        page.finish()
    }

    /// Counts a record about an effect; false if it is about something else.
    fn take_effect(&mut self, page: &mut Page<'_>, line: &Line) -> bool {
        match &line.rec {
            Record::Intent {
                n, step, effect, ..
            } => {
                let kind = kind_name(effect.kind);
                let what = format!("{kind} {}", one_line(&effect.target));
                if self.verbose {
                    let words = format!("{}: {what}", step.step());
                    self.tell(page, line.at, Sign::Add, &words);
                } else {
                    self.groups.of(step.step(), line.at).intended(kind);
                }
                self.unanswered
                    .insert(*n, format!("{}: {what}", step.step()));
                self.steps.insert(*n, step.step().to_owned());
            }
            Record::Done { n, found, .. } => {
                let what = self.unanswered.remove(n);
                if !self.verbose {
                    let step = self.step_of(*n);
                    self.groups.of(&step, line.at).done(*found);
                } else if *found {
                    let what = what.unwrap_or_else(|| format!("effect {n}"));
                    self.tell(page, line.at, Sign::Good, &format!("{what} was found done"));
                }
            }
            Record::UndoIntent { .. } => {}
            Record::UndoDone { n, forced } => {
                self.unanswered.remove(n);
                let step = self.step_of(*n);
                if self.verbose {
                    let by_force = if *forced { ", by force" } else { "" };
                    let words = format!("{step}: effect {n} taken back{by_force}");
                    self.tell(page, line.at, Sign::Undone, &words);
                } else {
                    self.groups.of(&step, line.at).undone(*forced);
                }
            }
            _ => return false,
        }
        true
    }

    /// Names the step that a record is about, and tells in words what it says of it.
    fn about_step(&self, record: &Record) -> Option<(String, (Sign, String))> {
        let step = match record {
            Record::UndoRefused { n, .. } => self.step_of(*n),
            Record::StepStarted { step, .. }
            | Record::StepPlanned { step, .. }
            | Record::FactLearned { step, .. }
            | Record::Verified { step, .. }
            | Record::Skipped { step, .. }
            | Record::Failed { step, .. }
            | Record::StepUndone { step } => step.step().to_owned(),
            _ => return None,
        };
        Some((step, words::of_step(record, self.verbose)))
    }

    fn step_of(&self, n: u64) -> String {
        let step = self.steps.get(&n).cloned();
        step.unwrap_or_else(|| "a step that is not in this journal".into())
    }

    fn tell_groups(&mut self, page: &mut Page<'_>) {
        for Effects {
            step,
            first,
            last,
            counts,
        } in self.groups.take()
        {
            for (sign, words) in counts.told(first, last) {
                self.tell(page, first, sign, &format!("{step}: {words}"));
            }
        }
    }

    fn tell(&mut self, page: &mut Page<'_>, at: Timestamp, sign: Sign, words: &str) {
        let day = at.strftime("%Y-%m-%d").to_string();
        if day != self.day {
            page.toned(0, Tone::Heading, &format!("{day} UTC"));
            self.day = day;
        }
        let time = at.strftime("%H:%M:%S%.3f").to_string();
        let time = pad(self.style, Tone::Faint, &time, 12);
        let front = format!("{time}  {} ", self.style.sign(sign));
        let rest = 12 + 2 + self.style.sign_width() + 1;
        page.hung(&front, rest, words);
    }

    /// Adds what belongs to a record and needs lines of its own.
    fn tell_more(&self, page: &mut Page<'_>, record: &Record) {
        let indent = 12 + 2 + self.style.sign_width() + 1;
        match record {
            Record::RunOpened { insecure, .. } | Record::RunResumed { insecure, .. } => {
                for name in insecure {
                    page.item(indent, Sign::Warn, &format!("insecure: {}", clean(name)));
                }
            }
            Record::Verified { evidence, .. } if self.verbose => {
                for proof in evidence {
                    page.item(indent, Sign::Item, proof);
                }
            }
            _ => {}
        }
    }
}
