//! `bootlace log`: a run's journal.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::record::{Line, Record};
use bootlace_model::step::{Choice, Sequence};
use bootlace_report::log::LogText;

use crate::args::{OnRun, Output};
use crate::console::Console;
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::session::Session;

pub(crate) fn log(session: &mut Session, args: &OnRun) -> Result<Ending, Fault> {
    let work = session.by_journal(args)?;
    let console = &session.console;
    let mut filter = Filter::new(work.sequence, &work.options.choice)?;
    let mut text = LogText::new(console.stdout(), console.is_verbose());
    let mut written = Ok(());
    let read = work.engine(&Unobserved).log(&mut |raw, line| {
        if written.is_ok() && filter.lets_through(line) {
            written = write(console, &mut text, raw, line);
        }
    });
    if console.output() == Output::Text {
        console.write(&console.rooted.text(&text.finish()))?;
    }
    written?;
    read?;
    Ok(Ending::Done)
}

fn write(console: &Console, text: &mut LogText<'_>, raw: &str, line: &Line) -> Result<(), Fault> {
    match console.output() {
        Output::Text => console.write(&console.rooted.text(&text.push(line))),
        Output::Json => console.write(&format!("{}\n", raw.trim_end())),
        Output::Yaml => {
            let value: serde_json::Value = serde_json::from_str(raw)
                .map_err(|error| Fault::internal(format!("a journal line is no JSON: {error}")))?;
            let yaml = bootlace_report::output::yaml(&value)?;
            console.write(&format!("---\n{yaml}"))
        }
    }
}

/// Lets the lines of chosen steps through, and those that are about the whole run.
#[derive(Debug)]
struct Filter {
    chosen: Option<BTreeSet<StepId>>,
    /// The steps of effects, which later records name by number alone.
    steps: BTreeMap<u64, StepId>,
}

impl Filter {
    fn new(sequence: &Sequence, choice: &Choice) -> Result<Self, Fault> {
        let chosen = if *choice == Choice::default() {
            None
        } else {
            let steps = sequence.steps[choice.of(sequence)?].iter();
            Some(steps.map(|step| sequence.id(step.name())).collect())
        };
        let steps = BTreeMap::new();
        Ok(Self { chosen, steps })
    }

    fn lets_through(&mut self, line: &Line) -> bool {
        let Some(chosen) = &self.chosen else {
            return true;
        };
        let step = match &line.rec {
            Record::Intent { n, step, .. } => {
                self.steps.insert(*n, step.clone());
                Some(step)
            }
            Record::Done { n, .. }
            | Record::UndoIntent { n }
            | Record::UndoDone { n, .. }
            | Record::UndoRefused { n, .. } => self.steps.get(n),
            Record::StepStarted { step, .. }
            | Record::StepPlanned { step, .. }
            | Record::FactLearned { step, .. }
            | Record::Verified { step, .. }
            | Record::Skipped { step, .. }
            | Record::Failed { step, .. }
            | Record::StepUndone { step } => Some(step),
            Record::RunOpened { .. }
            | Record::RunResumed { .. }
            | Record::TailCut { .. }
            | Record::RunClosed { .. } => None,
            Record::Foreign(foreign) => foreign.kind.step(),
        };
        step.is_none_or(|step| chosen.contains(step))
    }
}
