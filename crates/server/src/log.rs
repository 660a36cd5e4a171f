//! What the server says while it works.

use std::fmt;
use std::sync::Arc;

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

    /// Says something.
    pub(crate) fn say(&self, line: &str) {
        (self.0)(line);
    }
}
