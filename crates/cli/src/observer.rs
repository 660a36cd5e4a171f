//! Watches a run: shows its events, and asks before each step of a paused one.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bootlace_engine::Observer;
use bootlace_engine::port::Host;
use bootlace_model::event::Event;
use bootlace_model::step::Sequence;
use bootlace_model::view::{ExplainedStep, PlannedStep};
use bootlace_report::outline::Outline;
use bootlace_report::plan;
use bootlace_report::progress::Progress;
use bootlace_report::style::Style;

use crate::console::{Console, print_stderr};
use crate::rooted::Rooted;

/// How often a question looks whether the process was asked to stop.
const BEAT: Duration = Duration::from_millis(100);

/// Shows what happens.
pub(crate) struct Watcher<'a> {
    progress: Progress,
    host: &'a dyn Host,
    outline: Outline,
    style: Style,
    verbose: bool,
    rooted: Arc<Rooted>,
    answers: OnceLock<Mutex<Receiver<Option<String>>>>,
}

impl std::fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watcher({:?})", self.progress)
    }
}

impl<'a> Watcher<'a> {
    /// Begins to watch.
    pub(crate) fn new(console: &Console, host: &'a dyn Host, sequence: &Sequence) -> Self {
        Self {
            progress: console.progress(),
            host,
            outline: Outline::of(sequence),
            style: *console.stderr(),
            verbose: console.is_verbose(),
            rooted: Arc::clone(&console.rooted),
            answers: OnceLock::new(),
        }
    }

    /// Ends the display before something else is printed.
    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    /// Waits for a line of stdin; none if it ended or if the process was asked to stop.
    ///
    /// Reading blocks and cannot be called off, so a thread of its own does it.
    fn ask(&self) -> Option<String> {
        let answers = self.answers.get_or_init(|| Mutex::new(read_lines()));
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.host.stop_requested() {
            match answers.recv_timeout(BEAT) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }
}

fn read_lines() -> Receiver<Option<String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        loop {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            let answer = matches!(read, Ok(1..)).then_some(line);
            let ended = answer.is_none();
            if sender.send(answer).is_err() || ended {
                return;
            }
        }
    });
    receiver
}

impl Observer for Watcher<'_> {
    fn on(&self, event: &Event) {
        match self.rooted.value(event) {
            Some(event) => self.progress.on(&event),
            None => self.progress.on(event),
        }
    }

    fn may_start(&self, step: &ExplainedStep, plan: &PlannedStep) -> bool {
        self.progress.suspend(|| {
            let why = bootlace_report::explain::step_text(step, &self.outline, &self.style);
            let exact = plan::step_text(plan, &self.outline, &self.style, self.verbose);
            let question = "Enter runs this step, q stops here: ";
            let text = format!("\n{why}\nNow, and exactly:\n{exact}\n{question}");
            print_stderr(&self.rooted.text(&text));
            let answer = self.ask();
            let goes = answer.as_deref().is_some_and(goes_on);
            if answer.is_none_or(|line| !line.ends_with('\n')) {
                print_stderr("\n");
            }
            goes
        })
    }
}

/// Tells whether an answer means to go on: everything does but `q`.
fn goes_on(line: &str) -> bool {
    !matches!(line.trim(), "q" | "Q" | "quit")
}

/// Shows nothing, for what takes no time.
#[derive(Debug)]
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    fn on(&self, _event: &Event) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_q_stops() {
        assert!(goes_on("\n") && goes_on("y\n"));
        assert!(!goes_on("q\n") && !goes_on(" Q \n") && !goes_on("quit"));
    }
}
