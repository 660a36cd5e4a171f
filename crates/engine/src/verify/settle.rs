//! What an API says may waver for a moment, and be neither right nor wrong.

use std::time::Duration;

use bootlace_model::event::Event;
use bootlace_model::expect::Claim;
use bootlace_model::fault::Fault;

use super::LOOK_AGAIN;
use super::silent::Silent;
use crate::Engine;
use crate::claims::Finding;

/// How long anything gets to settle: a kubelet that starts again calls pods unready until it has
/// probed them.
const SETTLES: Duration = Duration::from_secs(3);
/// How long a condition gets that has just changed: a node that was not ready for a moment has all
/// its pods marked as unready, and its kubelet corrects that with its next look, every ten seconds.
const CORRECTED: Duration = Duration::from_secs(12);
/// How long all checks together get: conditions that change for ever are wrong.
const ALL: Duration = Duration::from_secs(20);

impl Engine<'_> {
    /// Looks again at what an API says, for a time that all checks share.
    pub(super) fn settle(
        &self,
        step: &str,
        claim: &Claim,
        mut finding: Finding,
        silent: &mut Silent,
    ) -> Result<Finding, Fault> {
        if finding.holds || claim.access().is_none() {
            return Ok(finding);
        }
        let began = *silent.settles_since.get_or_insert(self.host.steady());
        let mut told = false;
        while !finding.holds && !finding.hopeless {
            let waited = self.host.steady().saturating_sub(began);
            let left = self.may_change_for(&finding);
            let left = left.max(SETTLES.saturating_sub(waited));
            let left = left.min(ALL.saturating_sub(waited));
            if left.is_zero() {
                break;
            }
            if !told {
                told = true;
                self.observer.on(&Event::StepWaiting {
                    step: self.sequence.id(step),
                    what: claim.what(),
                    until: self.host.now() + left,
                });
            }
            self.host.sleep(LOOK_AGAIN)?;
            finding = silent.evaluate(self.host, claim)?;
        }
        Ok(finding)
    }

    /// Tells how long a condition may still be corrected.
    fn may_change_for(&self, finding: &Finding) -> Duration {
        let Some(since) = finding.since else {
            return Duration::ZERO;
        };
        let age = self.host.now().duration_since(since);
        // The condition may come from a machine whose clock is ahead; then it counts as new.
        let age = Duration::try_from(age).unwrap_or_default();
        CORRECTED.saturating_sub(age)
    }
}
