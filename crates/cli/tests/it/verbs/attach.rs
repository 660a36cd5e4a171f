//! A run that is followed from another process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::Place;

const RUN: &str = "run cluster --to release-info";

/// A process, and what it says.
struct Watched {
    child: Child,
    input: Option<ChildStdin>,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Watched {
    fn begin(place: &Place, flags: &str) -> Self {
        let mut command = place.command(&format!("{RUN} {flags}"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        Self {
            input: child.stdin.take(),
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
            said: String::new(),
        }
    }

    /// Reads until something is said.
    fn says(&mut self, text: &str) {
        while !self.said.contains(text) {
            let bytes = self.stderr.fill_buf().unwrap();
            assert!(!bytes.is_empty(), "{text} was never said:\n{}", self.said);
            self.said.push_str(&String::from_utf8_lossy(bytes));
            let length = bytes.len();
            self.stderr.consume(length);
        }
    }

    fn answer(&mut self, text: &str) {
        self.input
            .as_mut()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, and returns the code and all that was said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, format!("{}{rest}", self.said))
    }
}

/// Returns a run that waits before its second step, and one that follows it.
fn pair(place: &Place) -> (Watched, Watched) {
    let mut holder = Watched::begin(place, "--pause");
    holder.answer("\n");
    holder.says("2/23 copy-manifests");
    let mut follower = Watched::begin(place, "--attach");
    follower.says("attached to process");
    follower.says("prepare-assets");
    (holder, follower)
}

#[test]
fn the_same_progress_is_shown_until_the_end() {
    let place = Place::with_config();
    let (mut holder, follower) = pair(&place);
    holder.answer("\n\n");
    let (code, said) = follower.end();
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "of cluster begins: 3 steps",
        "✓ prepare-assets",
        "✓ copy-manifests",
        "✓ release-info",
        "Done: 3 steps, ",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(holder.end().0, Some(0));
}

#[test]
fn an_interrupt_is_passed_on() {
    let place = Place::with_config();
    let (holder, follower) = pair(&place);
    follower.signal(Signal::INT);
    let (code, said) = follower.end();
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("`bootlace resume cluster"), "{said}");
    let (code, said) = holder.end();
    assert_eq!(code, Some(7), "{said}");
}

#[test]
fn a_run_whose_process_is_killed_goes_on_here() {
    let place = Place::with_config();
    let (holder, follower) = pair(&place);
    holder.signal(Signal::KILL);
    let (code, said) = follower.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("of cluster goes on: 3 steps"), "{said}");
    assert_eq!(holder.end().0, None);
}

#[test]
fn without_another_process_it_is_a_plain_run() {
    let place = Place::with_config();
    let said = place.call(&format!("{RUN} --attach"));
    assert!(said.starts_with("code: 0\n"), "{said}");
    assert!(!said.contains("attached"), "{said}");
}
