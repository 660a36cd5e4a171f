//! Containers that end, or that say again and again what they cannot get over.

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::symptom::{ContainersFail, KnownLine};

use super::{Earlier, SEARCHED, because_of, known_line, shown, with_last_words};
use crate::port::{ContainerState, ContainerStatus, Host};

/// How often a container that runs must say what it cannot get over.
const REPEATED: usize = 3;

/// Returns the first container that fails and did not before, as the fault that it is.
pub(super) fn fail(
    host: &dyn Host,
    signs: &ContainersFail,
    earlier: &Earlier,
) -> Result<Option<Fault>, Fault> {
    for container in latest(host, signs)? {
        if earlier.knows(&container) {
            continue;
        }
        let fault = match &container.state {
            ContainerState::Exited { code, reason } => {
                let again = earlier.was_repeated(&container) && *code != 0;
                let ended = format!("{} ended with {code} ({reason})", named(&container));
                why_ended(host, signs, &container, &ended, again)?
            }
            ContainerState::Running => why_stuck(host, signs, &container)?,
            ContainerState::Created | ContainerState::Unknown => None,
        };
        if let Some(fault) = fault {
            return Ok(Some(fault.hint(format!("its log is {}", container.log))));
        }
    }
    Ok(None)
}

/// Tells whether a container stands where it will not come further by itself.
pub(super) fn any_stuck(host: &dyn Host, signs: &ContainersFail) -> Result<bool, Fault> {
    for container in latest(host, signs)? {
        let is_stuck = match &container.state {
            ContainerState::Exited { .. } => true,
            ContainerState::Running => why_stuck(host, signs, &container)?.is_some(),
            ContainerState::Created | ContainerState::Unknown => false,
        };
        if is_stuck {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists the last start of each container: one that was started again may have got over what ended it.
fn latest(host: &dyn Host, signs: &ContainersFail) -> Result<Vec<ContainerStatus>, Fault> {
    let all = host.containers()?.unwrap_or_default();
    let is_of = |it: &ContainerStatus| {
        let (_, pod) = &it.pod;
        let mut pods = signs.pods.iter();
        signs.pods.is_empty() || pods.any(|begin| pod.starts_with(begin.as_str()))
    };
    let is_latest = |it: &ContainerStatus| {
        let later = |other: &ContainerStatus| {
            (&other.pod, &other.name) == (&it.pod, &it.name) && other.attempt > it.attempt
        };
        !all.iter().any(later)
    };
    let wanted = all.iter().filter(|it| is_of(it) && is_latest(it));
    Ok(wanted.cloned().collect())
}

fn named(container: &ContainerStatus) -> String {
    let (_, pod) = &container.pod;
    format!("the container {} of {pod}", container.name)
}

/// Says why a container ended, if it will not do better the next time.
fn why_ended(
    host: &dyn Host,
    signs: &ContainersFail,
    container: &ContainerStatus,
    ended: &str,
    again: bool,
) -> Result<Option<Fault>, Fault> {
    let log = host.container_log(container, SEARCHED)?;
    Ok(match known_line(&log, signs.known) {
        Some((known, said)) => Some(because_of(ended, known, said)),
        // A first end for an unknown reason may heal by itself: what it needs may not be up yet.
        None if again => {
            let message = with_last_words(&format!("{ended}, more than once"), &log);
            Some(shown(Fault::new(FaultKind::StepFailed, message), &log))
        }
        None => None,
    })
}

/// Says what keeps a container that runs from its work, if it says so again and again.
fn why_stuck(
    host: &dyn Host,
    signs: &ContainersFail,
    container: &ContainerStatus,
) -> Result<Option<Fault>, Fault> {
    if signs.lasting.is_empty() {
        return Ok(None);
    }
    let log = host.container_log(container, SEARCHED)?;
    let times = |known: &&KnownLine| {
        let said = log.iter().filter(|line| line.contains(known.needle));
        said.count() >= REPEATED
    };
    let known = signs.lasting.iter().find(times);
    let found = known.and_then(|known| known_line(&log, std::slice::from_ref(known)));
    Ok(found.map(|(known, said)| {
        let runs = format!("{} runs, and cannot do its work", named(container));
        because_of(&runs, known, said)
    }))
}
