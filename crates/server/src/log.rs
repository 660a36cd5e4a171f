//! What the server says while it works.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// How many lines may wait to be written; more are lost.
const WAITING: usize = 1_000;
/// How long is waited for the last of them.
const CLOSES: Duration = Duration::from_secs(2);

/// Takes lines for people.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    /// Makes a log from something that writes a line.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Lets a thread of its own write, so that nobody else waits for a reader that does not read.
    pub(crate) fn in_background(self) -> (Self, Rest) {
        let (sender, receiver) = sync_channel::<Said>(WAITING);
        std::thread::spawn(move || {
            for said in receiver {
                match said {
                    Said::Line(line) => self.say(&line),
                    // Who asked may have given up meanwhile.
                    Said::Over(told) => drop(told.send(())),
                }
            }
        });
        let lines = sender.clone();
        let log = Self::new(move |line| drop(lines.try_send(Said::Line(line.to_owned()))));
        (log, Rest(sender))
    }

    /// Says something.
    pub(crate) fn say(&self, line: &str) {
        (self.0)(line);
    }
}

/// What is handed to the thread that writes.
enum Said {
    Line(String),
    Over(SyncSender<()>),
}

/// Waits for what was said and is not written yet.
pub(crate) struct Rest(SyncSender<Said>);

impl Rest {
    /// Waits, but not for ever.
    pub(crate) fn write(self) {
        let (told, over) = sync_channel(1);
        if self.0.try_send(Said::Over(told)).is_ok() {
            // If nobody reads, the rest is lost, and nobody is left to be told.
            let _ = over.recv_timeout(CLOSES);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Instant;

    use super::*;

    #[test]
    fn lines_come_in_order_and_nobody_waits_for_a_reader_that_does_not_read() {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&lines);
        let log = Log::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let (log, rest) = log.in_background();
        log.say("a");
        log.say("b");
        rest.write();
        assert_eq!(*lines.lock().unwrap(), ["a", "b"]);
        let stuck = Arc::clone(&lines);
        let held = lines.lock().unwrap();
        let log = Log::new(move |line| stuck.lock().unwrap().push(line.to_owned()));
        let (log, rest) = log.in_background();
        let begin = Instant::now();
        for _ in 0..WAITING * 2 {
            log.say("c");
        }
        rest.write();
        assert!(begin.elapsed() < CLOSES * 2);
        drop(held);
    }
}
