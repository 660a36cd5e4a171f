//! The three displays, fed with the same events by a clock that stands where it is put.

use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use bootlace_model::event::Event;
use bootlace_model::ids::{RunId, StepId};
use indicatif::{ProgressDrawTarget, TermLike};
use insta::assert_snapshot;

use super::live::{Running, draw_line};
use super::{Detail, Mode, Options, Progress};
use crate::samples::{RUN, at, fault, id};
use crate::style::Style;

/// Bytes that a test can look at while a display writes them.
#[derive(Debug, Clone, Default)]
struct Paper(Arc<Mutex<String>>);

impl Paper {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = std::str::from_utf8(bytes).unwrap();
        self.0.lock().unwrap().push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A terminal that keeps every line that was ever written, and forgets what was redrawn.
impl TermLike for Paper {
    fn width(&self) -> u16 {
        80
    }
    fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> std::io::Result<()> {
        self.write_str(&format!("{text}\n"))
    }
    fn write_str(&self, text: &str) -> std::io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
    fn clear_line(&self) -> std::io::Result<()> {
        Ok(())
    }
    fn flush(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A story in which everything happens once, with the moment of each event.
fn story() -> Vec<(i64, Event)> {
    let mut story = begin();
    story.extend(end());
    story
}

fn step() -> StepId {
    id("prepare-assets")
}

fn run() -> RunId {
    RunId::parse(RUN).unwrap()
}

fn begin() -> Vec<(i64, Event)> {
    let latest = |n: u64| format!("/opt/bootlace/tls/key-{n}.key");
    let advanced = |n: u64| Event::StepAdvanced {
        step: step(),
        done: n,
        of: 47,
        latest: latest(n),
    };
    vec![
        (
            0,
            Event::RunStarted {
                run: run(),
                sequence: "cluster".into(),
                steps: vec![step(), id("copy-manifests"), id("release-info")],
                resumed: true,
            },
        ),
        (
            1,
            Event::Note {
                text: "the release is unpinned".into(),
            },
        ),
        (
            2,
            Event::StepKept {
                step: id("hand-over"),
            },
        ),
        (
            3,
            Event::StepStarted {
                step: step(),
                title: "Makes keys and certificates".into(),
            },
        ),
        (
            4,
            Event::StepPlanned {
                step: step(),
                effects: 47,
            },
        ),
        (500, advanced(12)),
        (2600, advanced(30)),
        (2700, advanced(31)),
    ]
}

fn end() -> Vec<(i64, Event)> {
    vec![
        (
            3000,
            Event::StepWaiting {
                step: step(),
                what: "https://localhost:6443/readyz answers 200".into(),
                until: at(33_000),
            },
        ),
        (
            3100,
            Event::StepDone {
                step: step(),
                millis: 3097,
                evidence: vec!["root-ca.key: mode 0600".into()],
                reason: None,
            },
        ),
        (
            3150,
            Event::StepDone {
                step: id("clean-assets"),
                millis: 12,
                evidence: vec!["ca.key does not exist: nothing is there".into()],
                reason: Some("the asset folder stays, without its secrets".into()),
            },
        ),
        (
            3200,
            Event::StepSkipped {
                step: id("copy-manifests"),
                reason: "spec.manifests names no folder".into(),
            },
        ),
        (
            3300,
            Event::StepFailed {
                step: id("release-info"),
                fault: fault(),
            },
        ),
        (
            3400,
            Event::StepUndone {
                step: step(),
                effects: 47,
            },
        ),
        (
            3500,
            Event::RunFinished {
                run: run(),
                outcome: "failed".into(),
                millis: 3500,
            },
        ),
    ]
}

fn shown(mode: Mode, detail: Detail, style: Style) -> String {
    let paper = Paper::default();
    let time = Arc::new(AtomicI64::new(0));
    let hand = Arc::clone(&time);
    let clock: super::Clock = Arc::new(move || at(hand.load(Ordering::SeqCst)));
    let options = Options {
        mode,
        detail,
        style,
    };
    let terminal = paper.clone();
    let progress = Progress::begin(options, clock, Box::new(paper.clone()), || {
        ProgressDrawTarget::term_like(Box::new(terminal))
    });
    for (millis, event) in story() {
        time.store(millis, Ordering::SeqCst);
        progress.on(&event);
    }
    paper.text()
}

#[test]
fn plain() {
    assert_snapshot!(shown(Mode::Plain, Detail::Normal, Style::plain()));
    let verbose = shown(Mode::Plain, Detail::Verbose, Style::plain());
    assert_snapshot!("plain_verbose", verbose);
    assert!(verbose.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn json() {
    let text = shown(Mode::Json, Detail::Normal, Style::plain());
    assert_snapshot!(text);
    let events: Vec<Event> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let story: Vec<Event> = story().into_iter().map(|(_, event)| event).collect();
    assert_eq!(events, story);
}

#[test]
fn quiet_shows_failures_alone() {
    for mode in [Mode::Plain, Mode::Json, Mode::Live] {
        let text = shown(mode, Detail::Quiet, Style::plain());
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        assert_eq!(lines.len(), 1, "{mode:?}: {text}");
        assert!(lines[0].contains("release-info"), "{mode:?}: {text}");
    }
}

#[test]
fn live_leaves_one_line_for_each_finished_step() {
    let text = shown(Mode::Live, Detail::Normal, Style::plain());
    for line in [
        "✓ prepare-assets    47 effects    3.09s",
        "↷ copy-manifests  skipped: spec.manifests names no folder",
        "✗ release-info    failed: the release names the image etcd twice",
        "↶ prepare-assets  47 effects taken back",
        "! the release is unpinned",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
}

#[test]
fn live_lines_say_what_is_done_and_until_when_is_waited() {
    let mut running = Running {
        name: "prepare-assets".into(),
        name_width: 14,
        started: at(0),
        effects: None,
        doing: "Makes keys and certificates".into(),
        until: None,
    };
    let style = Style::plain();
    let ascii = Style {
        unicode: false,
        ..style
    };
    let mut lines = vec![draw_line(&running, &style, at(310), 0)];
    running.effects = Some((12, 47));
    running.doing = "/opt/bootlace/tls/a-name-that-is-much-too-long-for-what-is-left.key".into();
    lines.push(draw_line(&running, &style, at(1310), 5));
    lines.push(draw_line(&running, &ascii, at(1310), 5));
    running.until = Some(at(61_310));
    running.doing = "https://localhost:6443/readyz answers 200".into();
    lines.push(draw_line(&running, &style, at(31_310), 8));
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{lines:#?}"
    );
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_suspended_display_returns_what_was_done_meanwhile() {
    for mode in [Mode::Plain, Mode::Live] {
        let options = Options {
            mode,
            detail: Detail::Normal,
            style: Style::plain(),
        };
        let paper = Paper::default();
        let progress = Progress::begin(options, Arc::new(|| at(0)), Box::new(paper), || {
            ProgressDrawTarget::hidden()
        });
        assert_eq!(progress.suspend(|| 42), 42);
    }
}
