//! Waiting until something holds, no longer than there is hope.

use std::time::Duration;

use bootlace_model::expect::Claim;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::symptom::Symptom;

use crate::access;
use crate::claims::{self, Finding};
use crate::port::Host;
use crate::symptoms::{self, Earlier};

/// How long to wait before the first look again; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// How long to wait for an answer at first; one who takes calls and says nothing is given longer and
/// longer, so that others can be looked at in between.
pub(crate) const BRIEFLY: Duration = Duration::from_secs(1);
/// How often to look for symptoms: asking the machine costs more than asking an API.
const LOOK_FOR_SYMPTOMS: Duration = Duration::from_millis(500);

/// What is waited for, and how long at most.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) within: Duration,
    pub(crate) because: &'a str,
    pub(crate) symptoms: &'a [Symptom],
}

/// Waits until a claim holds; ends early when it never will.
pub(crate) fn until(host: &dyn Host, patience: &Patience<'_>) -> Result<(), Fault> {
    let earlier = Earlier::look(host, patience.symptoms)?;
    let began = host.steady();
    let deadline = began + patience.within;
    let (mut pause, mut answers_within) = (FIRST_PAUSE, BRIEFLY);
    let mut next_signs = began + LOOK_FOR_SYMPTOMS;
    loop {
        let asked = host.steady();
        let finding = claims::evaluate_within(host, patience.claim, answers_within)?;
        if finding.holds {
            return Ok(());
        }
        if finding.hopeless {
            return Err(unmet(patience, &finding));
        }
        let now = host.steady();
        if now.saturating_sub(asked) >= answers_within {
            answers_within = (answers_within * 3 / 2).min(access::ONE_QUESTION);
        }
        if now >= next_signs {
            // What just became true is no failure, whatever the signs say.
            if let Some(fault) = symptoms::first(host, patience.symptoms, &earlier)? {
                return Err(fault.because(patience.because));
            }
            next_signs = host.steady() + LOOK_FOR_SYMPTOMS;
        }
        if now >= deadline {
            return Err(unmet(patience, &finding));
        }
        host.sleep(pause.min(patience.within))?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Says what was waited for and what was found instead.
pub(crate) fn unmet(patience: &Patience<'_>, finding: &Finding) -> Fault {
    let what = patience.claim.what();
    let waited = patience.within.as_secs();
    let (kind, when) = match (finding.hopeless, waited) {
        (true, _) => (FaultKind::StepFailed, String::new()),
        (false, 0) => (FaultKind::VerifyFailed, String::new()),
        (false, _) => (FaultKind::Deadline, format!(" within {waited} s")),
    };
    let message = format!("not so{when}: {what}; found: {}", finding.found);
    let fault = Fault::new(kind, message).because(patience.because);
    fault.hint("`bootlace log` shows what was done; `bootlace resume` tries again")
}
