//! Keys and certificates: made, issued and looked into.
//!
//! These functions touch nothing but the random source of the operating system. The time is handed
//! in, so that a fake host with a clock of its own issues certificates by the same code.

mod bits;
mod der;
mod inspect;
mod issue;
mod key;
mod pem;

pub use self::bits::secret_bits;
pub use self::inspect::inspect;
pub use self::issue::issue;
pub use self::key::{make_key, public_key};

use bootlace_engine::port::HostError;

/// Wraps a finding about a key or a certificate.
fn crypto(message: impl Into<String>) -> HostError {
    HostError::Crypto(message.into())
}

#[cfg(test)]
mod tests;
