//! What is shown on stderr while a run is under way.
//!
//! [`live`] redraws a terminal, [`plain`] writes lines that suit a log file, [`json`] writes one
//! event a line for other programs. All three are told the same events, from several threads.
//! A display that cannot be written to is given up silently: a run must not fail because nobody
//! watches it any more.

mod json;
mod lines;
mod live;
mod plain;

use std::io::Write;

use bootlace_model::event::Event;
use indicatif::ProgressDrawTarget;
use jiff::Timestamp;

use self::json::Json;
use self::live::Live;
use self::plain::Plain;
use crate::style::Style;

/// Tells the time to the display: it counts seconds by it and decides nothing.
pub type Clock = std::sync::Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Which display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Redrawn lines on a terminal.
    Live,
    /// One line an event, without control characters.
    Plain,
    /// One JSON object an event.
    Json,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Failures only.
    Quiet,
    /// What happens.
    #[default]
    Normal,
    /// Also what proves it.
    Verbose,
}

/// What is shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Which display.
    pub mode: Mode,
    /// How much.
    pub detail: Detail,
    /// Colours and symbols.
    pub style: Style,
}

/// The display of one run.
#[derive(Debug)]
pub struct Progress(Display);

#[derive(Debug)]
enum Display {
    Live(Live),
    Plain(Plain),
    Json(Json),
}

impl Progress {
    /// Begins a display on stderr.
    pub fn on_stderr(options: Options, clock: Clock) -> Self {
        let stderr = Box::new(std::io::stderr());
        Self::begin(options, clock, stderr, ProgressDrawTarget::stderr)
    }

    fn begin(
        options: Options,
        clock: Clock,
        writer: Box<dyn Write + Send>,
        terminal: impl FnOnce() -> ProgressDrawTarget,
    ) -> Self {
        let Options { detail, style, .. } = options;
        Self(match options.mode {
            Mode::Live => Display::Live(Live::new(style, detail, clock, terminal())),
            Mode::Plain => Display::Plain(Plain::new(style, detail, clock, writer)),
            Mode::Json => Display::Json(Json::new(detail, writer)),
        })
    }

    /// Shows an event.
    pub fn on(&self, event: &Event) {
        match &self.0 {
            Display::Live(live) => live.on(event),
            Display::Plain(plain) => plain.on(event),
            Display::Json(json) => json.on(event),
        }
    }

    /// Ends the display, so that what is printed next begins on a line of its own.
    pub fn finish(&self) {
        match &self.0 {
            Display::Live(live) => live.finish(),
            Display::Plain(_) | Display::Json(_) => {}
        }
    }

    /// Lets someone else use the terminal, and draws again afterwards.
    pub fn suspend<R>(&self, act: impl FnOnce() -> R) -> R {
        match &self.0 {
            Display::Live(live) => live.suspend(act),
            Display::Plain(_) | Display::Json(_) => act(),
        }
    }
}

#[cfg(test)]
mod tests;
