//! Failures that are known before they happen: how they show, where they come from, what helps.

/// A failure that people have met before, under a code that is its name for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFailure {
    /// The code, such as `F-30`; one that begins with `N` is noise and no cause.
    pub code: &'static str,
    /// How it shows, as a phrase.
    pub shows: &'static str,
    /// Where it comes from, as a phrase.
    pub cause: &'static str,
    /// What to do about it, as a phrase.
    pub remedy: &'static str,
}
