//! Turns signals into the wish to stop.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::clock::StopHandle;

/// Lets the interrupt and termination signals ask a host to stop.
///
/// A second signal asks again and does no more: what waits ends within moments, and a program that
/// is being ended must not be left behind by a sudden death. `SIGQUIT` and `SIGKILL` are untouched.
/// So is `SIGHUP`, which `nohup` may have switched off on purpose.
pub fn install(stop: &StopHandle) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.flag())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn a_signal_asks_to_stop() {
        for signal in [Signal::INT, Signal::TERM] {
            let stop = StopHandle::default();
            install(&stop).unwrap();
            assert!(!stop.is_requested());
            kill_process(getpid(), signal).unwrap();
            let begun = std::time::Instant::now();
            while !stop.is_requested() {
                assert!(begun.elapsed().as_secs() < 10, "{signal:?} was not noticed");
                std::thread::yield_now();
            }
        }
    }
}
