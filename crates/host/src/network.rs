//! The small runtime on which everything waits that talks to somebody over a socket.
//!
//! It is started with the first question: most calls of the tool ask nobody, and it would cost each
//! of them time. Downloads, APIs and the container runtime share it.

use std::pin::pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, HostResult};
use tokio::runtime::Runtime;

use crate::clock::{STOP_CHECK, StopHandle};

/// Waits for the network; does nothing before it is needed.
#[derive(Debug, Default)]
pub(crate) struct Network {
    runtime: OnceLock<Runtime>,
}

impl Network {
    /// Waits for something, at most so long; none if time is up.
    pub(crate) fn wait_for<T>(
        &self,
        future: impl Future<Output = T>,
        within: Duration,
        stop: &StopHandle,
    ) -> HostResult<Option<T>> {
        let begun = Instant::now();
        self.runtime()?.block_on(async {
            let mut future = pin!(future);
            loop {
                if stop.is_requested() {
                    return Err(HostError::Stopped);
                }
                let left = within.saturating_sub(begun.elapsed());
                if left.is_zero() {
                    return Ok(None);
                }
                let slice = left.min(STOP_CHECK);
                if let Ok(done) = tokio::time::timeout(slice, future.as_mut()).await {
                    return Ok(Some(done));
                }
            }
        })
    }

    /// Tells whether somebody was asked already.
    #[cfg(test)]
    pub(crate) fn is_started(&self) -> bool {
        self.runtime.get().is_some()
    }

    fn runtime(&self) -> HostResult<&Runtime> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| crate::error::refused("start", "the network runtime", error))?;
        Ok(self.runtime.get_or_init(|| runtime))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // A name that is just being looked up cannot be interrupted; do not wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
