//! A request to stop that many can wait for.

use std::sync::Arc;

use tokio::sync::watch;

/// Asks the operator to stop; clones ask and wait for the same stop.
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
}
