//! Waiting, always with a deadline.

use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// How long is slept between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Looks again and again until there is an answer; none when the deadline passed.
pub(crate) fn until<T>(
    within: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(answer) = look()? {
            return Ok(Some(answer));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}
