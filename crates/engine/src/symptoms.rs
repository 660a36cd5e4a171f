//! Looking for causes that are already visible, so that nobody waits for what cannot come.

mod complaints;
mod containers;
mod earlier;
mod processes;

pub(crate) use earlier::{Earlier, start_afresh};

use bootlace_model::effect::UnitName;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::symptom::{KnownLine, Symptom};

use crate::folders::Folders;
use crate::port::Host;

/// How many lines of a log are searched for a known cause.
const SEARCHED: usize = 40;
/// How many lines are searched for an image that could not be fetched: kubelets talk a lot.
const SEARCHED_FOR_IMAGES: usize = 400;
/// What a kubelet says of an image that it could not fetch.
const NOT_PULLED: &str = "ErrImagePull";
/// How many lines of a log are shown.
const SHOWN: usize = 5;
/// How often systemd may restart a unit before that counts as a loop.
const RESTARTS: u32 = 3;
/// The largest certificate that is read.
const LARGEST: u64 = 1 << 20;

/// Returns the first symptom that shows and is news, as the fault that it is.
pub(crate) fn first(
    host: &dyn Host,
    symptoms: &[Symptom],
    earlier: &Earlier,
) -> Result<Option<Fault>, Fault> {
    for symptom in symptoms {
        let fault = match symptom {
            Symptom::UnitFails(unit) => unit_fails(host, unit, earlier)?,
            Symptom::ContainersFail(signs) => containers::fail(host, signs, earlier)?,
            Symptom::ProcessesFail { state, known } => processes::fail(host, state, known)?,
            Symptom::ImagesMissing { images, fetcher } => {
                images_missing(host, images, fetcher.as_ref())?
            }
            Symptom::ObjectsComplain(signs) => complaints::find(host, signs, earlier)?,
            Symptom::CertificateOutOfDate { path } => out_of_date(host, path)?,
        };
        if fault.is_some() {
            return Ok(fault);
        }
    }
    Ok(None)
}

fn unit_fails(host: &dyn Host, unit: &UnitName, earlier: &Earlier) -> Result<Option<Fault>, Fault> {
    let found = host.unit(unit)?;
    if !found.has_failed && earlier.restarts_since(unit, found.restarts) < RESTARTS {
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

fn images_missing(
    host: &dyn Host,
    images: &[String],
    fetcher: Option<&UnitName>,
) -> Result<Option<Fault>, Fault> {
    let Some(there) = host.images()? else {
        return Ok(None);
    };
    let missing = images.iter().filter(|image| !there.contains(image));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    let Some(first) = missing.first() else {
        return Ok(None);
    };
    let load = "load it with `ctr --namespace k8s.io images import`, then `bootlace resume`";
    if let Some(fetcher) = fetcher {
        return cannot_fetch(host, &missing, fetcher).map(|fault| Some(fault?.hint(load)));
    }
    let message = format!("the image {first} is not loaded, and nothing will fetch it");
    let mut fault = Fault::new(FaultKind::StepFailed, message);
    fault.details = missing[1..]
        .iter()
        .map(|image| format!("nor is {image}"))
        .collect();
    Ok(Some(fault.hint(load)))
}

/// Tells which of the images somebody tried to fetch in vain, in its own words.
fn cannot_fetch(
    host: &dyn Host,
    images: &[&str],
    fetcher: &UnitName,
) -> Result<Option<Fault>, Fault> {
    let log = host.unit_log(fetcher, SEARCHED_FOR_IMAGES)?;
    let failed = images.iter().find_map(|image| {
        let gives_up = |line: &&String| line.contains(image) && line.contains(NOT_PULLED);
        // Some of the lines repeat the whole container; the shortest says it best.
        let line = log.iter().filter(gives_up).min_by_key(|line| line.len());
        Some((image, line?))
    });
    Ok(failed.map(|(image, line)| {
        let message = format!("the image {image} is not loaded and cannot be fetched");
        let mut fault = Fault::new(FaultKind::StepFailed, message);
        fault.details.push(line.clone());
        fault
    }))
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
