//! Random bytes for secrets that are no keys.

use bootlace_engine::port::HostResult;
use bootlace_model::secret::Secret;
use bootlace_model::token::BYTES;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::crypto;

/// Returns random bytes that nobody can guess.
pub fn secret_bits() -> HostResult<Secret> {
    let mut bits = vec![0; BYTES];
    let filled = SystemRandom::new().fill(&mut bits);
    filled.map_err(|_| crypto("the operating system has no random bytes for a secret"))?;
    Ok(Secret::new(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_the_same() {
        let (one, other) = (secret_bits().unwrap(), secret_bits().unwrap());
        assert_eq!(one.expose().len(), BYTES);
        assert_ne!(one, other);
    }
}
