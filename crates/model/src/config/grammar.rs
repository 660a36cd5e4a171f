//! The small grammars of a config's texts: names, endpoints, versions, durations, images.
//!
//! Each reader is a pure function from text to value. What it refuses it explains in words that
//! fit behind the text, and says what to write instead.

pub(super) mod address;
pub(super) mod duration;
pub(super) mod image;
pub(super) mod name;
pub(super) mod version;

/// Why a text is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// What is wrong, as the rest of a sentence that begins with the text.
    pub(super) what: String,
    /// Why it matters.
    pub(super) why: &'static str,
    /// What to write instead.
    pub(super) hint: String,
}

impl Problem {
    pub(super) fn new(what: impl Into<String>, why: &'static str, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why,
            hint: hint.into(),
        }
    }
}
