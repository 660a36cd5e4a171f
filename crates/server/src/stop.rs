//! A request to stop that many can wait for.

use std::sync::Arc;

use bootlace_model::fault::Fault;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Asks the server to stop; clones ask and wait for the same stop.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Asks for the stop; asking twice is asking once.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Waits until somebody asks.
    pub(crate) async fn asked(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as we do, so waiting does not fail.
        drop(receiver.wait_for(|asked| *asked).await);
    }

    /// Lets `SIGTERM` and `SIGINT` ask.
    pub(crate) fn on_signals(&self) -> Result<(), Fault> {
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            let mut signals = signal(kind).map_err(|error| {
                Fault::internal(format!("cannot listen for signals: {error}"))
                    .because("without that machines would be cut off when the server is stopped")
            })?;
            let stop = self.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    stop.ask();
                }
            });
        }
        Ok(())
    }
}
