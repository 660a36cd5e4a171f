//! APIs that do not answer: each is asked once, not for every question.

use std::time::Duration;

use bootlace_model::expect::{Access, Claim};
use bootlace_model::fault::Fault;

use crate::claims::{self, Finding};
use crate::port::Host;

/// After how long an API that has not answered counts as silent.
const SILENCE: Duration = Duration::from_secs(3);
/// What is said of a question to an API that is silent.
pub(super) const NOT_ASKED: &str = "not asked: it did not answer a moment ago";

/// The ways to APIs that do not answer. One silence is enough: twenty of them would take minutes.
#[derive(Debug, Default)]
pub(super) struct Silent {
    pub(super) accesses: Vec<Access>,
    /// Since when what does not hold is looked at again, by the steady clock.
    pub(super) settles_since: Option<Duration>,
}

impl Silent {
    /// Looks whether a claim holds, unless the API that it asks is known to be silent.
    pub(super) fn evaluate(&mut self, host: &dyn Host, claim: &Claim) -> Result<Finding, Fault> {
        let Some(access) = claim.access() else {
            return claims::evaluate(host, claim);
        };
        if self.accesses.contains(access) {
            return Ok(Finding {
                holds: false,
                found: NOT_ASKED.into(),
                hopeless: true,
                since: None,
            });
        }
        let began = host.steady();
        let finding = claims::evaluate(host, claim)?;
        // A service that is silent says nothing of the API.
        if !finding.holds && !matches!(claim, Claim::Service(_)) {
            self.note(host, access, began);
        }
        Ok(finding)
    }

    /// Remembers who has not answered, if the question took long.
    pub(super) fn note(&mut self, host: &dyn Host, access: &Access, began: Duration) {
        let took = host.steady().saturating_sub(began);
        if took >= SILENCE {
            self.accesses.push(access.clone());
        }
    }
}
