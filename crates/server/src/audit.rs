//! One line of JSON for each answer: who asked, for what, and what came of it. Never a token.
//!
//! A thread of its own writes, so that a slow disk does not slow anybody down. A line that cannot be
//! written is lost and counted: a full disk must not keep machines from booting.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;

/// How many lines may wait to be written.
const WAITING: usize = 10_000;
/// How long is waited for the last lines to be written.
const CLOSES: Duration = Duration::from_secs(2);
/// For how long lines are gathered.
const MOMENT: Duration = Duration::from_millis(5);
/// How much is written at a time, about.
const LARGEST_WRITE: usize = 64 << 10;
/// The longest text of a client that is written.
const LONGEST: usize = 256;

/// What is written about an answer.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) time: String,
    pub(crate) source: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Shortens a text of a client.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Takes lines.
#[derive(Debug)]
pub(crate) struct Audit {
    lines: Mutex<Option<SyncSender<Vec<u8>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    lost: AtomicU64,
    fails: AtomicBool,
    why: Mutex<String>,
}

impl Audit {
    /// Begins to write to a file, or to stderr if there is none.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let output: Box<dyn Write + Send> = match path {
            Some(path) => Box::new(append(path)?),
            None => Box::new(io::stderr()),
        };
        let (sender, receiver) = sync_channel(WAITING);
        let state = Arc::new(State::default());
        let thread = std::thread::Builder::new().name("audit".into()).spawn({
            let state = Arc::clone(&state);
            move || write(output, &receiver, &state)
        })?;
        Ok(Self {
            lines: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            state,
        })
    }

    /// Takes a line; it is lost if too many wait.
    pub(crate) fn note(&self, line: &Line) {
        let Ok(mut text) = serde_json::to_vec(line) else {
            return self.state.lose(1, "a line cannot be written as JSON");
        };
        text.push(b'\n');
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = lines.as_ref().map(|lines| lines.try_send(text));
        if !matches!(taken, Some(Ok(()))) {
            self.state.lose(1, "too many lines wait to be written");
        }
    }

    /// Tells what is wrong with the audit, if something is.
    pub(crate) fn problem(&self) -> Option<String> {
        let fails = self.state.fails.load(Ordering::Relaxed);
        let lost = self.lost();
        fails.then(|| {
            let why = self.state.why.lock();
            let why = why.unwrap_or_else(PoisonError::into_inner);
            format!("the audit log cannot be written: {why}; lines lost: {lost}")
        })
    }

    /// Counts the lines that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lost.load(Ordering::Relaxed)
    }

    /// Waits until all lines are written.
    pub(crate) fn close(&self) {
        drop(self.lines.lock().map(|mut lines| lines.take()));
        let thread = self.thread.lock().map(|mut thread| thread.take());
        if let Ok(Some(thread)) = thread {
            // Who does not take the last lines must not keep the server from ending.
            let end = Instant::now() + CLOSES;
            while !thread.is_finished() && Instant::now() < end {
                pause();
            }
        }
    }
}

impl State {
    fn lose(&self, count: u64, why: &str) {
        self.lost.fetch_add(count, Ordering::Relaxed);
        let mut said = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.clone_into(&mut said);
        self.fails.store(true, Ordering::Relaxed);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this server lives beside the engine and its port; its log is the only thing it writes"
)]
fn append(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(crate::disk::NONBLOCK)
        .open(path)
}

/// Writes a line at once, and those that follow within a moment together: to wake this thread for each
/// of thousands a second would cost more than to answer them.
fn write(mut output: Box<dyn Write + Send>, lines: &Receiver<Vec<u8>>, state: &State) {
    let mut is_torn = false;
    let mut written: Option<Instant> = None;
    while let Ok(first) = lines.recv() {
        if written.is_some_and(|written| written.elapsed() < MOMENT) {
            pause();
        }
        let mut text = Vec::new();
        if is_torn {
            // What was left of a line on a full disk must not swallow the next.
            text.push(b'\n');
        }
        let mut count = 1;
        text.extend(first);
        while text.len() < LARGEST_WRITE
            && let Ok(line) = lines.try_recv()
        {
            text.extend(line);
            count += 1;
        }
        let outcome = output.write_all(&text);
        written = Some(Instant::now());
        match outcome {
            Ok(()) => {
                is_torn = false;
                state.fails.store(false, Ordering::Relaxed);
            }
            Err(error) => {
                is_torn = true;
                state.lose(count, &error.to_string());
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a thread of its own, for which nobody waits"
)]
fn pause() {
    std::thread::sleep(MOMENT);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str) -> Line {
        Line {
            time: "t".into(),
            source: "127.0.0.1".into(),
            method: "GET".into(),
            path: path.into(),
            status: 200,
            bytes: 3,
            pool: None,
            config: None,
            version: None,
            token: None,
            node: None,
            agent: None,
            reason: None,
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn every_answer_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let audit = Audit::open(Some(&path)).unwrap();
        audit.note(&line("/a\n\"b"));
        audit.note(&line("/c"));
        audit.close();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["status"], 200);
        }
        assert_eq!(audit.problem(), None);
    }

    #[test]
    fn a_full_disk_is_told_and_stops_nothing() {
        let audit = Audit::open(Some(Path::new("/dev/full"))).unwrap();
        audit.note(&line("/a"));
        audit.note(&line("/b"));
        audit.close();
        let problem = audit.problem().unwrap();
        assert!(problem.contains("No space left"), "{problem}");
        assert_eq!(audit.lost(), 2);
    }
}
