//! One JSON object an event, for other programs.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use bootlace_model::event::Event;

use super::Detail;

/// Writes events as JSON lines.
pub(super) struct Json {
    detail: Detail,
    writer: Mutex<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Json({:?})", self.detail)
    }
}

impl Json {
    pub(super) fn new(detail: Detail, writer: Box<dyn Write + Send>) -> Self {
        let writer = Mutex::new(writer);
        Self { detail, writer }
    }

    pub(super) fn on(&self, event: &Event) {
        if self.detail == Detail::Quiet && !matches!(event, Event::StepFailed { .. }) {
            return;
        }
        let Ok(mut line) = serde_json::to_vec(event) else {
            // Events are plain data; if one could not be written, the next ones still can.
            return;
        };
        line.push(b'\n');
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody may be reading any more, which is no reason to stop the run.
        drop(writer.write_all(&line).and_then(|()| writer.flush()));
    }
}
