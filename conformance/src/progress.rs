//! How far a run is: one line that changes on a terminal, a line each half minute elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::suite::Event;

/// How often a line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(30);

/// Counts ends of specs and tells them.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    done: usize,
    failed: usize,
    began: Instant,
    told: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// Starts counting.
    pub fn start(total: usize) -> Self {
        Self {
            total,
            done: 0,
            failed: 0,
            began: Instant::now(),
            told: None,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Counts the end of a spec. A failed one is named at once.
    pub fn count(&mut self, event: Event<'_>) {
        self.done += 1;
        if let Event::Failed(spec) = event {
            self.failed += 1;
            let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
            print(&format!("{clear}conformance: failed: {spec}\n"));
        }
        let line = line(self.done, self.total, self.failed, self.began.elapsed());
        if self.is_terminal {
            print(&format!("\r\x1b[K{line}"));
        } else if self.told.is_none_or(|told| told.elapsed() >= PLAIN_EVERY) {
            self.told = Some(Instant::now());
            print(&format!("{line}\n"));
        }
    }

    /// Ends the line.
    pub fn end(self) {
        if self.is_terminal {
            print("\n");
        }
    }
}

/// Returns the line: done, failed, and the time left if the rest takes as long as what is done.
fn line(done: usize, total: usize, failed: usize, elapsed: Duration) -> String {
    let left = total.saturating_sub(done);
    let seconds = elapsed.as_secs() * left as u64 / done.max(1) as u64;
    let minutes = seconds.div_ceil(60);
    format!("conformance: {done} of {total} specs done, {failed} failed, about {minutes} min left")
}

fn print(text: &str) {
    // The run goes on without a reader.
    let mut stderr = io::stderr().lock();
    drop(
        stderr
            .write_all(text.as_bytes())
            .and_then(|()| stderr.flush()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_time_passed() {
        let text = line(100, 400, 2, Duration::from_mins(10));
        assert_eq!(
            text,
            "conformance: 100 of 400 specs done, 2 failed, about 30 min left"
        );
        assert!(line(0, 10, 0, Duration::ZERO).ends_with("about 0 min left"));
    }
}
