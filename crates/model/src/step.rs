//! Steps, sequences, and the choice of some steps of a sequence.

use crate::check::Check;
use crate::config::Settings;
use crate::effect::Effect;
use crate::expect::Expectation;
use crate::fact::{Ask, FactError, Facts};
use crate::failure::KnownFailure;
use crate::fault::{Fault, FaultKind};
use crate::ids::StepId;
use crate::path::TargetPath;

/// How a step is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoPolicy {
    /// By the inverse of each effect.
    Inverse,
    /// Not by itself; what it did stays, for this reason.
    ForwardOnly {
        /// Why.
        why: &'static str,
    },
    /// Neither it nor anything before it, for this reason.
    PointOfNoReturn {
        /// Why.
        why: &'static str,
    },
}

/// What a step tells about itself; printed by `explain`, and the text of the book.
#[derive(Debug)]
pub struct About {
    /// A line that names the act.
    pub title: &'static str,
    /// Two to six sentences that teach why the step exists.
    pub why: &'static str,
    /// What it reads, by name.
    pub reads: &'static [&'static str],
    /// What it writes, by name; a trailing `/` means everything below.
    pub writes: &'static [&'static str],
    /// What a person would type to do the same by hand.
    pub command: &'static str,
    /// How it is taken back.
    pub undo: UndoPolicy,
    /// Codes of the failures that are known for it.
    pub failures: &'static [&'static str],
    /// Whether it can run; one that is not built says so in plans and refuses to run.
    pub built: bool,
}

/// What a step decides to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// These effects, in this order; the engine leaves out those that are already true.
    Do(Vec<Effect>),
    /// A part: these effects, and the rest not, for this reason. The step is done, and says so.
    DoPart {
        /// What is done.
        effects: Vec<Effect>,
        /// Why not all of it.
        reason: String,
    },
    /// These effects first: what they bring decides the rest, and [`Step::plan_rest`] is asked for
    /// it once they are done.
    DoFirst {
        /// What is done first.
        effects: Vec<Effect>,
        /// What is decided then, for plans.
        rest: String,
        /// The folders whose content is known only then.
        opens: Vec<TargetPath>,
    },
    /// Nothing, for this reason.
    Skip {
        /// Why.
        reason: String,
    },
}

/// Why a step cannot decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A fact is not known yet; in a plan that is an answer, in a run a defect.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// An input is wrong or something forbids it.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

impl From<Fault> for PlanError {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<crate::path::BadPath> for PlanError {
    fn from(bad: crate::path::BadPath) -> Self {
        Fault::bad_input(bad.to_string()).into()
    }
}

/// One step of a sequence. Pure: it decides, the engine does.
pub trait Step: Sync {
    /// Names the step within its sequence, for ever.
    fn name(&self) -> &'static str;
    /// Tells a person what it is for.
    fn about(&self) -> &'static About;
    /// Names the earlier steps whose verified results it needs.
    fn needs(&self) -> &'static [&'static str];
    /// Lists what must be known of the world before planning; answered read-only.
    fn asks(&self, _settings: &Settings) -> Vec<Ask> {
        vec![]
    }
    /// Names the facts of earlier steps that `plan` reads.
    fn uses(&self) -> &'static [&'static str] {
        &[]
    }
    /// Lists the facts that later steps may use, answered once this step is verified.
    fn yields(&self, _settings: &Settings) -> Vec<Ask> {
        vec![]
    }
    /// Lists what must be so before the step may begin; looked at read-only.
    fn checks(&self, _settings: &Settings) -> Vec<Check> {
        vec![]
    }
    /// Decides what shall be so. The same inputs give the same effects.
    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError>;
    /// Decides the rest, after [`Decision::DoFirst`]; the facts are asked for again before.
    fn plan_rest(&self, _settings: &Settings, _facts: &Facts) -> Result<Decision, PlanError> {
        Ok(Decision::Do(vec![]))
    }
    /// Lists what must hold afterwards; at least one would fail if the step had done nothing.
    ///
    /// A step that is only explained has no facts yet, and expects what the settings alone say.
    fn expects(&self, settings: &Settings, facts: &Facts) -> Vec<Expectation>;
}

/// A named order of steps; the order is written here and nowhere else.
#[derive(Clone, Copy)]
pub struct Sequence {
    /// The name, as people type it.
    pub name: &'static str,
    /// One sentence for lists.
    pub about: &'static str,
    /// The steps, in the order in which `--pause` walks them.
    pub steps: &'static [&'static dyn Step],
    /// What the codes of known failures mean.
    pub failures: &'static [KnownFailure],
    /// Files whose content other commands replace later, as paths on the target: `verify` compares their
    /// mode and their owner alone.
    pub replaced_later: &'static [&'static str],
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sequence({})", self.name)
    }
}

impl Sequence {
    /// Returns the id of a step of this sequence.
    pub fn id(&self, step: &str) -> StepId {
        StepId::new(self.name, step)
    }

    /// Finds a step by its name, with or without the sequence's name in front.
    pub fn position(&self, name: &str) -> Option<usize> {
        let name = name
            .strip_prefix(self.name)
            .and_then(|n| n.strip_prefix('/'))
            .unwrap_or(name);
        self.steps.iter().position(|step| step.name() == name)
    }
}

/// Which steps a person chose with `--from`, `--to` and `--only`.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Choice {
    /// The first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The only step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

impl Choice {
    /// Returns the chosen steps' positions, in order, or says which name is unknown.
    pub fn of(&self, sequence: &Sequence) -> Result<std::ops::Range<usize>, Fault> {
        let find = |name: &str| {
            sequence.position(name).ok_or_else(|| {
                let names: Vec<&str> = sequence.steps.iter().map(|step| step.name()).collect();
                let nearest = crate::config::nearest(name, names.iter().copied());
                let fault = Fault::new(
                    FaultKind::Usage,
                    format!("the sequence {} has no step {name:?}", sequence.name),
                );
                let fault = match nearest {
                    Some(nearest) => fault.hint(format!("did you mean {nearest}?")),
                    None => fault,
                };
                fault.hint(format!(
                    "`bootlace explain {}` lists the steps",
                    sequence.name
                ))
            })
        };
        if let Some(only) = &self.only {
            if self.from.is_some() || self.to.is_some() {
                let message = "--only cannot be combined with --from or --to";
                return Err(Fault::new(FaultKind::Usage, message));
            }
            let only = find(only)?;
            return Ok(only..only + 1);
        }
        let from = self.from.as_deref().map_or(Ok(0), find)?;
        let to = self
            .to
            .as_deref()
            .map_or(Ok(sequence.steps.len().saturating_sub(1)), find)?;
        if from > to {
            let names = (sequence.steps[from].name(), sequence.steps[to].name());
            let message = format!("--from {} comes after --to {}", names.0, names.1);
            return Err(Fault::new(FaultKind::Usage, message));
        }
        Ok(from..to + 1)
    }
}
