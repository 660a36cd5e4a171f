//! Looking for causes that are already visible, so that nobody waits for what cannot come.

mod processes;

use bootlace_model::effect::UnitName;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::symptom::{KnownLine, Symptom};

use crate::folders::Folders;
use crate::port::{ContainerState, ContainerStatus, Host};

/// How many lines of a log are searched for a known cause.
const SEARCHED: usize = 40;
/// How many lines of a log are shown.
const SHOWN: usize = 5;
/// How often systemd may restart a unit before that counts as a loop.
const RESTARTS: u32 = 3;
/// The largest certificate that is read.
const LARGEST: u64 = 1 << 20;

/// Returns the first symptom that shows, as the fault that it is.
pub(crate) fn first(host: &dyn Host, symptoms: &[Symptom]) -> Result<Option<Fault>, Fault> {
    for symptom in symptoms {
        let fault = match symptom {
            Symptom::UnitFails(unit) => unit_fails(host, unit)?,
            Symptom::ContainersFail { pods, known } => containers_fail(host, pods, known)?,
            Symptom::ProcessesFail { state, known } => processes::fail(host, state, known)?,
            Symptom::ImagesMissing { images } => images_missing(host, images)?,
            Symptom::CertificateOutOfDate { path } => out_of_date(host, path)?,
        };
        if fault.is_some() {
            return Ok(fault);
        }
    }
    Ok(None)
}

fn unit_fails(host: &dyn Host, unit: &UnitName) -> Result<Option<Fault>, Fault> {
    let found = host.unit(unit)?;
    if !found.has_failed && found.restarts < RESTARTS {
        return Ok(None);
    }
    let how = if found.has_failed {
        format!("{unit} failed ({})", found.result)
    } else {
        let (times, result) = (found.restarts, &found.result);
        format!("{unit} ends again and again: systemd restarted it {times} times ({result})")
    };
    let log = host.unit_log(unit, SEARCHED)?;
    let fault = Fault::new(FaultKind::StepFailed, with_last_words(&how, &log));
    Ok(Some(shown(fault, &log).hint(format!(
        "`journalctl -u {unit}` shows more; when the cause is gone, `bootlace resume` goes on"
    ))))
}

fn containers_fail(
    host: &dyn Host,
    pods: &[String],
    known: &[KnownLine],
) -> Result<Option<Fault>, Fault> {
    let all = host.containers()?.unwrap_or_default();
    let mine = |it: &&ContainerStatus| {
        pods.is_empty() || pods.iter().any(|pod| it.pod.1.starts_with(pod.as_str()))
    };
    for container in all.iter().filter(mine) {
        let ContainerState::Exited { code, reason } = &container.state else {
            continue;
        };
        let log = host.container_log(container, SEARCHED)?;
        let line = known_line(&log, known);
        // A first end for an unknown reason may heal by itself: what it needs may not be up yet.
        let again = container.attempt > 0 && *code != 0;
        let (name, pod) = (&container.name, &container.pod.1);
        let ended = format!("the container {name} of {pod} ended with {code} ({reason})");
        let fault = match line {
            Some((known, said)) => because_of(&ended, known, said),
            None if again => {
                let message = with_last_words(&format!("{ended}, more than once"), &log);
                shown(Fault::new(FaultKind::StepFailed, message), &log)
            }
            None => continue,
        };
        return Ok(Some(fault.hint(format!("its log is {}", container.log))));
    }
    Ok(None)
}

fn images_missing(host: &dyn Host, images: &[String]) -> Result<Option<Fault>, Fault> {
    let Some(there) = host.images()? else {
        return Ok(None);
    };
    let missing = images.iter().filter(|image| !there.contains(image));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    let Some(first) = missing.first() else {
        return Ok(None);
    };
    let message = format!("the image {first} is not loaded, and nothing will fetch it");
    let mut fault = Fault::new(FaultKind::StepFailed, message);
    fault.details = missing[1..]
        .iter()
        .map(|image| format!("nor is {image}"))
        .collect();
    Ok(Some(fault.hint(
        "load it with `ctr --namespace k8s.io images import`, then `bootlace resume`",
    )))
}

fn out_of_date(host: &dyn Host, path: &TargetPath) -> Result<Option<Fault>, Fault> {
    let Some(certificate) = Folders::new(host).read(path, LARGEST)? else {
        return Ok(None);
    };
    let problems = host
        .inspect(&certificate, None, None)?
        .time_problems(host.now());
    Ok((!problems.is_empty()).then(|| {
        let message = format!(
            "the certificate {path} cannot be used: {}",
            problems.join("; ")
        );
        Fault::new(FaultKind::StepFailed, message)
            .in_file(path.as_str())
            .hint("`date` shows this machine's clock; `bootlace pki check` all certificates")
    }))
}

/// Finds the latest line of a log by which a cause is known.
fn known_line<'a>(
    log: &'a [String],
    known: &'a [KnownLine],
) -> Option<(&'a KnownLine, &'a String)> {
    known.iter().find_map(|known| {
        let said = log.iter().rev().find(|line| line.contains(known.needle))?;
        Some((known, said))
    })
}

/// Says how something ended and why, in the words by which the cause is known.
fn because_of(ended: &str, known: &KnownLine, said: &str) -> Fault {
    let message = format!("{ended}: {} [{}]", known.cause, known.code);
    let mut fault = Fault::new(FaultKind::StepFailed, message).hint(known.hint);
    fault.details.push(said.to_owned());
    fault
}

/// Adds the last line of a log to a sentence.
fn with_last_words(sentence: &str, log: &[String]) -> String {
    match log.iter().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{sentence}; last words: {}", line.trim()),
        None => sentence.to_owned(),
    }
}

fn shown(mut fault: Fault, log: &[String]) -> Fault {
    let first = log.len().saturating_sub(SHOWN);
    fault.details.extend(log[first..].iter().cloned());
    fault
}
