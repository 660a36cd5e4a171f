//! Where the crates meet: sequences from `steps`, the world from `host`, settings from `model`.

use bootlace_engine::port::Host as _;
use bootlace_host::{RealHost, StopHandle, signals};
use bootlace_model::config::{Settings, nearest};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::step::Sequence;
use bootlace_steps::pki::PkiPlan;

use crate::paths::{Mount, Places};

/// Sequences that are planned and cannot be worked on yet.
const NOT_BUILT: [(&str, &str); 3] = [
    ("node", "is the first boot of one machine"),
    ("upgrade", "makes one running node anew, in place"),
    ("revert", "goes back to the state before us"),
];

/// Lists the sequences that can be worked on.
pub(crate) fn sequences() -> &'static [Sequence] {
    bootlace_steps::SEQUENCES
}

/// Finds a sequence by its name.
pub(crate) fn sequence(name: &str) -> Result<&'static Sequence, Fault> {
    if let Some(sequence) = bootlace_steps::sequence(name) {
        return Ok(sequence);
    }
    let known: Vec<&str> = sequences().iter().map(|sequence| sequence.name).collect();
    let known_text = known.join(", ");
    if let Some((name, does)) = NOT_BUILT.iter().find(|(other, _)| *other == name) {
        return Err(Fault::new(
            FaultKind::Usage,
            format!("the sequence {name}, which {does}, is not built yet"),
        )
        .hint(format!("these can be worked on: {known_text}")));
    }
    let fault = Fault::new(FaultKind::Usage, format!("there is no sequence {name:?}"));
    let fault = match nearest(name, known) {
        Some(nearest) => fault.hint(format!("did you mean {nearest}?")),
        None => fault,
    };
    Err(fault.hint(format!("these can be worked on: {known_text}")))
}

/// Opens the world; nothing is touched yet.
pub(crate) fn host(places: &Places, inputs: &[Mount]) -> RealHost {
    let mut builder = RealHost::builder().root(&places.root);
    for mount in places.mounts.iter().chain(inputs) {
        builder = builder.mount(mount.target.clone(), &mount.source, mount.writable);
    }
    builder.build()
}

/// Opens this computer itself, to ask its programs.
pub(crate) fn plain_host() -> RealHost {
    RealHost::builder().build()
}

/// Lets `SIGINT` and `SIGTERM` ask for a stop, so that a run ends between two effects.
pub(crate) fn stop_on_signals(host: &RealHost) -> Result<(), Fault> {
    listen_for_signals(&host.stop_handle())
}

/// Returns what `SIGINT` and `SIGTERM` ask to stop, for work that no host does.
pub(crate) fn stop_handle() -> Result<StopHandle, Fault> {
    let stop = StopHandle::default();
    listen_for_signals(&stop)?;
    Ok(stop)
}

fn listen_for_signals(stop: &StopHandle) -> Result<(), Fault> {
    signals::install(stop).map_err(|error| {
        Fault::internal(format!("cannot listen for signals: {error}"))
            .because("without that an interrupt would end a run in the middle of an effect")
    })
}

/// Plans the cluster's certificates for this machine.
pub(crate) fn pki_plan(settings: &Settings, host: &RealHost) -> Result<PkiPlan, Fault> {
    let named = settings.cluster.control_plane.node_name.clone();
    let name = named.map_or_else(|| host.host_name(), Ok)?;
    Ok(bootlace_steps::pki::pki_plan(settings, &name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_that_are_not_built_and_misspelt_ones_are_told_apart() {
        assert_eq!(sequence("cluster").unwrap().name, "cluster");
        let fault = sequence("upgrade").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Usage);
        assert!(fault.message.contains("not built yet"), "{fault}");
        let fault = sequence("clutser").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Usage);
        assert_eq!(fault.hints[0], "did you mean cluster?");
    }
}
