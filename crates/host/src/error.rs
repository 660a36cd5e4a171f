//! Puts what the operating system says into the port's words.

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
