//! What a reader should know of a sequence beside a view of it: numbers, titles, what can run.

use bootlace_model::step::Sequence;

/// A sequence in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Its name.
    pub sequence: String,
    /// One sentence about it.
    pub about: String,
    /// Its steps, in order.
    pub steps: Vec<OutlinedStep>,
}

/// A step in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlinedStep {
    /// Its name within the sequence.
    pub id: String,
    /// A line that names the act.
    pub title: String,
    /// Whether it can run.
    pub built: bool,
}

impl Outline {
    /// Outlines a sequence.
    pub fn of(sequence: &Sequence) -> Self {
        let steps = sequence.steps.iter().map(|step| OutlinedStep {
            id: step.name().to_owned(),
            title: step.about().title.to_owned(),
            built: step.about().built,
        });
        Self {
            sequence: sequence.name.to_owned(),
            about: sequence.about.to_owned(),
            steps: steps.collect(),
        }
    }

    /// Returns the number of a step, from 1.
    pub(crate) fn number(&self, id: &str) -> Option<usize> {
        let position = self.steps.iter().position(|step| step.id == id);
        position.map(|position| position + 1)
    }

    /// Tells whether a step can run; one that is not known here is taken as built.
    pub(crate) fn is_built(&self, id: &str) -> bool {
        let step = self.steps.iter().find(|step| step.id == id);
        step.is_none_or(|step| step.built)
    }
}

/// Returns how wide a column of step names has to be.
pub(crate) fn name_column<'a>(ids: impl IntoIterator<Item = &'a str>) -> usize {
    let widths = ids.into_iter().map(|id| id.chars().count());
    widths.max().unwrap_or(0)
}
