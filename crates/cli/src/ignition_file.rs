//! The Ignition config that a run works by: read and resolved, or as the run keeps it.

mod reread;

use std::collections::VecDeque;
use std::path::Path;

use bootlace_engine::port::{FetchRequest, Host};
use bootlace_model::config::IgnitionSettings;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::provision::Index;
use bootlace_model::step::Sequence;
use bootlace_model::view::PlanView;
use bootlace_steps::ignition::resolve::{Request, Resolved, Text, resolve};
use bootlace_steps::ignition::summarise;

use crate::args::Given;
use crate::commands::read_ignition;
use crate::session::{Session, Work};

/// The largest config that a run keeps: contents that were fetched are in it.
const LARGEST_KEPT: u64 = 1 << 30;

/// Tells whether a sequence applies an Ignition config.
pub(crate) fn is_about(sequence: &Sequence) -> bool {
    sequence.name == "ignition"
}

/// Puts the config that was named into the settings, else the one that the run keeps.
pub(crate) fn settle(session: &Session, work: &mut Work, given: &Given) -> Result<(), Fault> {
    if !is_about(work.sequence) {
        return refuse(given);
    }
    bootlace_host::limits::open_many_files();
    // Another config is another run; the same one goes on.
    work.options.anew = true;
    work.settings.ignition = Some(match &given.ignition {
        Some(file) => read(session, &work.host, file)?,
        None => kept(work)?,
    });
    Ok(())
}

/// Like [`settle`], but without a config there is none.
pub(crate) fn settle_if_given(
    session: &Session,
    work: &mut Work,
    given: &Given,
) -> Result<(), Fault> {
    if given.ignition.is_none() {
        return Ok(());
    }
    settle(session, work, given)
}

/// Tells what a config comes to.
pub(crate) fn summary(work: &Work, plan: Option<&PlanView>) -> Option<String> {
    let config = work.settings.ignition.as_ref()?;
    Some(summarise(&config.provision, plan))
}

fn refuse(given: &Given) -> Result<(), Fault> {
    if given.ignition.is_none() {
        return Ok(());
    }
    let message = "--ignition is for the sequence ignition";
    Err(Fault::new(FaultKind::Usage, message)
        .hint("`bootlace plan ignition --ignition FILE` shows what a config would change"))
}

/// Reads a config with all that it refers to.
fn read(session: &Session, host: &dyn Host, file: &Path) -> Result<IgnitionSettings, Fault> {
    let (name, bytes) = read_ignition(file)?;
    let again = reread::of(file, bytes.len())?;
    let text = Text { name, bytes, again };
    let mut fetch = |request: &Request| {
        let content = host.fetch(&FetchRequest {
            url: &request.url,
            authorities: request.authorities.as_deref(),
            trusts_system: true,
            headers: &request.headers,
            limit: request.limit,
            within: request.within,
        });
        content.map_err(Fault::from)
    };
    let resolved = resolve(text, &mut fetch)?;
    for warning in &resolved.warnings {
        session.console.say(&format!("warning: {warning}\n"));
    }
    settings(resolved)
}

fn settings(resolved: Resolved) -> Result<IgnitionSettings, Fault> {
    IgnitionSettings::new(resolved.provision, resolved.inputs)
        .map_err(|error| Fault::internal(format!("a config cannot be kept: {error}")))
}

/// Reads the config that the newest run keeps.
fn kept(work: &Work) -> Result<IgnitionSettings, Fault> {
    let state = &work.settings.paths.state;
    let run = work.options.run.as_ref();
    let begun = bootlace_engine::begun_with(&work.host, state, work.sequence, run)?;
    let digest = begun
        .as_ref()
        .and_then(|config| config.pointer("/ignition/digest"));
    let digest = digest.and_then(|digest| serde_json::from_value::<Digest>(digest.clone()).ok());
    let none = || {
        Fault::new(
            FaultKind::Usage,
            "no Ignition config is given, and no run keeps one",
        )
        .hint("`bootlace plan ignition --ignition FILE` shows what a config would change")
        .hint("`bootlace ignition apply FILE` applies one")
    };
    let digest = digest.ok_or_else(none)?;
    let place = IgnitionSettings::place(state, digest);
    let place = place.map_err(|bad| Fault::internal(bad.to_string()))?;
    let config = read_kept(&work.host, &place)?;
    if config.digest != digest {
        return Err(lost(&place, "was changed"));
    }
    Ok(config)
}

/// Reads a config from what a run keeps, as it was read when the run began.
fn read_kept(host: &dyn Host, place: &TargetPath) -> Result<IgnitionSettings, Fault> {
    let gone = || lost(place, "is gone");
    let changed = || lost(place, "was changed");
    let dir = host.open_dir(place)?.ok_or_else(gone)?;
    let read = |name: &str, digest: Option<Digest>| -> Result<Vec<u8>, Fault> {
        if dir.stat(name)?.is_none() {
            return Err(gone());
        }
        let bytes = dir.read(name, LARGEST_KEPT)?;
        match digest {
            Some(digest) if Digest::of(&bytes) != digest => Err(changed()),
            _ => Ok(bytes),
        }
    };
    let index = read(IgnitionSettings::INDEX, None)?;
    let index: Index = serde_json::from_slice(&index).map_err(|_| lost(place, "cannot be read"))?;
    let text = Text {
        name: index.name,
        bytes: read(IgnitionSettings::CONFIG, Some(index.config))?,
        again: None,
    };
    let fetched = index.fetched.iter().enumerate().map(|(number, entry)| {
        let content = read(&IgnitionSettings::fetched(number), Some(entry.digest))?;
        Ok((&entry.url, content))
    });
    let mut fetched = fetched.collect::<Result<VecDeque<_>, Fault>>()?;
    // What is asked for follows from what is read, so the answers come in the same order.
    let mut fetch = |request: &Request| match fetched.pop_front() {
        Some((url, content)) if *url == request.url => Ok(content),
        _ => Err(Fault::internal(format!("{} is not kept", request.url))),
    };
    settings(resolve(text, &mut fetch)?)
}

fn lost(place: &TargetPath, what: &str) -> Fault {
    Fault::refused(format!("the config that the run keeps {what}"))
        .in_file(place.as_str())
        .because("A run goes on by the config that it began with, and by no other.")
        .hint("give the same config again with --ignition FILE")
        .hint("`bootlace undo ignition` takes the run back; it needs no config")
}
