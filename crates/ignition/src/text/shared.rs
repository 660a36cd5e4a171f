//! Texts of values: on their own, or a stretch of the text that they were read from.

use std::ops::Deref;
use std::sync::Arc;

/// A stretch of a whole text.
#[derive(Debug, Clone)]
pub struct Stretch {
    whole: Arc<String>,
    from: u32,
    length: u32,
}

impl Stretch {
    /// Takes a stretch; none if it is not within the text, or does not begin and end between characters.
    pub(crate) fn new(whole: &Arc<String>, from: usize, length: usize) -> Option<Self> {
        whole.get(from..from.checked_add(length)?)?;
        Some(Self {
            whole: Arc::clone(whole),
            from: u32::try_from(from).ok()?,
            length: u32::try_from(length).ok()?,
        })
    }

    /// Tells whether it is one of this text.
    pub fn is_of(&self, whole: &Arc<String>) -> bool {
        Arc::ptr_eq(&self.whole, whole)
    }

    /// Returns how many bytes lie before it, and how many it has.
    pub fn bounds(&self) -> (u32, u32) {
        (self.from, self.length)
    }

    /// Returns the text of the stretch.
    pub fn as_str(&self) -> &str {
        let from = self.from as usize;
        let text = self.whole.get(from..from + self.length as usize);
        text.unwrap_or_default()
    }
}

/// The text of a value.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    /// On its own.
    Own(Box<str>),
    /// A long one, which is not held twice.
    Of(Stretch),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Of(stretch) => stretch.as_str(),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Own(text.into())
    }
}
