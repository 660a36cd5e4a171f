//! What the operator says while it works.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes lines for people; what is said again and again is taken once.
#[derive(Clone)]
pub struct Log {
    write: Arc<dyn Fn(&str) + Send + Sync>,
    last: Arc<Mutex<BTreeMap<&'static str, String>>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    /// Makes a log from something that writes a line.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            write: Arc::new(write),
            last: Arc::default(),
        }
    }

    /// Says something.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        (self.write)(line.as_ref());
    }

    /// Says something about a topic unless it was the last that was said about it.
    pub(crate) fn news(&self, topic: &'static str, line: impl Into<String>) {
        let line = line.into();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.get(topic) != Some(&line) {
            (self.write)(&line);
            last.insert(topic, line);
        }
    }

    /// Forgets what was said about a topic, so that it is said again when it happens again.
    pub(crate) fn over(&self, topic: &'static str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.remove(topic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once_until_they_are_over() {
        let lines = Arc::new(Mutex::new(vec![]));
        let log = Log::new({
            let lines = Arc::clone(&lines);
            move |line| lines.lock().unwrap().push(line.to_owned())
        });
        for line in ["a", "a", "b", "a"] {
            log.news("x", line);
        }
        log.news("y", "a");
        log.over("y");
        log.news("y", "a");
        assert_eq!(*lines.lock().unwrap(), ["a", "b", "a", "a", "a"]);
    }
}
