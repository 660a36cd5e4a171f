//! What is wrong with a config on this target, entry by entry.

use bootlace_model::effect::Origin;
use bootlace_model::fault::{Fault, FaultKind};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    what: String,
    origin: Origin,
    hint: String,
}

/// Everything that is wrong.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// Notes something against an entry.
    pub(super) fn add(
        &mut self,
        origin: &Origin,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Finding {
            what: what.into(),
            origin: origin.clone(),
            hint: hint.into(),
        });
    }

    /// Refuses the config if anything is wrong with it.
    pub(super) fn refuse(self) -> Result<(), Fault> {
        let Some(first) = self.0.first() else {
            return Ok(());
        };
        let mut fault = Fault::new(FaultKind::BadInput, told(first))
            .because("A config is applied as a whole or not at all, so nothing was written.")
            .hint(first.hint.clone());
        if let Some((place, _)) = first.origin.entry() {
            fault = fault.at(place);
        }
        let others = self.0.iter().skip(1);
        fault.details = others.map(told).collect();
        Err(fault)
    }
}

/// Says what is wrong, and which entry asks for it.
fn told(finding: &Finding) -> String {
    match finding.origin.entry() {
        Some((_, entry)) => format!("{entry}: {}", finding.what),
        None => format!("{} ({})", finding.what, finding.origin.name),
    }
}
