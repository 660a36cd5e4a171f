//! Signals that ask for a stop.

use bootlace_model::fault::Fault;
use tokio::signal::unix::{SignalKind, signal};

use crate::stop::Stop;

/// Lets `SIGTERM` and `SIGINT` ask for the stop.
pub(crate) fn listen(stop: &Stop) -> Result<(), Fault> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind).map_err(|error| {
            Fault::internal(format!("cannot listen for signals: {error}")).because(
                "without that the lease could not be given up when the operator is stopped",
            )
        })?;
        let stop = stop.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                stop.ask();
            }
        });
    }
    Ok(())
}
