//! The lines that stay: what live and plain displays say of an event once and for all.

use std::collections::BTreeMap;

use bootlace_model::event::Event;
use bootlace_model::ids::StepId;

use super::Detail;
use crate::outline::name_column;
use crate::page::pad;
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, duration, number_of, one_line};

/// What has to be remembered of earlier events to word later ones.
#[derive(Debug)]
pub(super) struct Lines {
    style: Style,
    detail: Detail,
    column: usize,
    effects: BTreeMap<StepId, u64>,
}

impl Lines {
    pub(super) fn new(style: Style, detail: Detail) -> Self {
        Self {
            style,
            detail,
            column: 0,
            effects: BTreeMap::new(),
        }
    }

    /// Returns a step's name, padded to its column.
    pub(super) fn name(&self, step: &StepId) -> String {
        pad(&self.style, Tone::Name, &clean(step.step()), self.column)
    }

    /// Returns how many columns a step's name takes.
    pub(super) fn name_width(&self, step: &StepId) -> usize {
        self.column.max(clean(step.step()).chars().count())
    }

    /// Takes an event in and returns the lines that stay because of it.
    pub(super) fn take(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::RunStarted { steps, .. } => {
                self.column = name_column(steps.iter().map(StepId::step));
            }
            Event::StepPlanned { step, effects } => {
                self.effects.insert(step.clone(), *effects);
            }
            Event::StepAdvanced { step, of, .. } => {
                self.effects.insert(step.clone(), *of);
            }
            _ => {}
        }
        if self.detail == Detail::Quiet && !matches!(event, Event::StepFailed { .. }) {
            return vec![];
        }
        self.words(event)
    }

    fn words(&self, event: &Event) -> Vec<String> {
        match event {
            Event::RunStarted {
                run,
                sequence,
                steps,
                resumed,
            } => {
                let verb = if *resumed { "goes on" } else { "begins" };
                let run = self.style.paint(Tone::Name, run.as_str());
                let steps = count(number_of(steps), "step");
                vec![format!("Run {run} of {} {verb}: {steps}", clean(sequence))]
            }
            Event::StepDone {
                step,
                millis,
                evidence,
                reason,
            } => self.done(step, *millis, evidence, reason.as_deref()),
            Event::StepSkipped { step, reason } => {
                vec![self.line(Sign::Skipped, step, &format!("skipped: {reason}"))]
            }
            Event::StepKept { step } => vec![self.line(Sign::Good, step, "done before")],
            Event::StepFailed { step, fault } => {
                let line = self.line(Sign::Bad, step, &format!("failed: {}", fault.message));
                vec![line]
            }
            Event::StepUndone { step, effects } => {
                let words = format!("{} taken back", count(*effects, "effect"));
                vec![self.line(Sign::Undone, step, &words)]
            }
            Event::Note { text } => {
                vec![format!(
                    "{} {}",
                    self.style.sign(Sign::Warn),
                    one_line(text)
                )]
            }
            Event::StepStarted { .. }
            | Event::StepPlanned { .. }
            | Event::StepAdvanced { .. }
            | Event::StepWaiting { .. }
            | Event::RunFinished { .. } => vec![],
        }
    }

    fn done(
        &self,
        step: &StepId,
        millis: u64,
        evidence: &[String],
        reason: Option<&str>,
    ) -> Vec<String> {
        let effects = self.effects.get(step).copied().unwrap_or_default();
        let took = duration(millis);
        let effects = count(effects, "effect");
        let reason = reason.map_or(String::new(), |reason| format!("  {reason}"));
        let words = format!("{effects:>12}  {took:>7}{reason}");
        let mut lines = vec![self.line(Sign::Good, step, &words)];
        if self.detail == Detail::Verbose {
            let indent = " ".repeat(self.style.sign_width() + 1);
            let item = self.style.sign(Sign::Item);
            let proofs = evidence.iter().map(|proof| {
                let proof = self.style.paint(Tone::Faint, &one_line(proof));
                format!("{indent}{item} {proof}")
            });
            lines.extend(proofs);
        }
        lines
    }

    fn line(&self, sign: Sign, step: &StepId, words: &str) -> String {
        let sign = self.style.sign(sign);
        format!("{sign} {}  {}", self.name(step), one_line(words))
    }
}
