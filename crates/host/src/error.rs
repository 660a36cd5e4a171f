//! Puts what the operating system and libraries say into the port's words.

use std::error::Error as StdError;
use std::io;

use bootlace_engine::port::HostError;

/// Says what was tried, on what, and what the operating system answered.
pub(crate) fn refused(
    act: &'static str,
    target: impl Into<String>,
    error: impl Into<io::Error>,
) -> HostError {
    HostError::Io {
        act,
        target: target.into(),
        error: error.into(),
    }
}

/// Says what was tried, on what, and why it makes no sense, in our own words.
pub(crate) fn senseless(
    act: &'static str,
    target: impl Into<String>,
    why: impl Into<String>,
) -> HostError {
    refused(
        act,
        target,
        io::Error::new(io::ErrorKind::InvalidInput, why.into()),
    )
}

/// Joins an error and its causes, without repeating what one of them says already.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in causes(error) {
        let text = cause.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// Lists an error and what caused it, outermost first.
pub(crate) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // An I/O error hides the one it wraps behind that one's own cause.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        match wrapped {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => error.source(),
        }
    })
}
