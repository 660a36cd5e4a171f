//! The time, waiting, and the wish to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, HostResult};

/// How often somebody who waits looks whether the process shall stop.
pub(crate) const STOP_CHECK: Duration = Duration::from_millis(25);

/// Asks a host to stop: everything that waits ends, and programs that run are ended, those that
/// edit after a while.
///
/// Clones ask the same host. There is no way back.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Asks to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Tells whether somebody asked.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns what a signal handler may set.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Returns the time.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the time comes from"
)]
pub(crate) fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Returns the time since an arbitrary moment, whatever the clock is set to.
pub(crate) fn steady() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // It counts up from nought, so neither part is ever negative.
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Waits, but not longer than until the process is asked to stop.
#[expect(
    clippy::disallowed_methods,
    reason = "in slices so short that a wish to stop is noticed"
)]
pub(crate) fn sleep(how_long: Duration, stop: &StopHandle) -> HostResult<()> {
    let begun = Instant::now();
    loop {
        if stop.is_requested() {
            return Err(HostError::Stopped);
        }
        let left = how_long.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(STOP_CHECK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_lasts_as_long_as_it_does() {
        // Begun first and read last, the other clock has seen at least as much.
        let instant = Instant::now();
        let begun = steady();
        sleep(Duration::from_millis(20), &StopHandle::default()).unwrap();
        let took = steady().saturating_sub(begun);
        let seen = instant.elapsed();
        assert!(
            took >= Duration::from_millis(20) && took <= seen,
            "{took:?} {seen:?}"
        );
    }

    #[test]
    fn a_wait_lasts_as_long_as_it_was_asked_for() {
        let begun = Instant::now();
        sleep(Duration::from_millis(60), &StopHandle::default()).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the wait must have begun when it is ended"
    )]
    fn a_wait_ends_when_the_process_shall_stop() {
        let stop = StopHandle::default();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sleep(Duration::from_secs(30), &stop));
            std::thread::sleep(Duration::from_millis(100));
            stop.request();
            assert!(matches!(waiting.join().unwrap(), Err(HostError::Stopped)));
        });
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(matches!(
            sleep(Duration::ZERO, &stop),
            Err(HostError::Stopped)
        ));
    }
}
