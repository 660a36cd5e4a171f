//! Bytes that must not be shown.

use std::fmt;

/// Bytes that cannot be printed by accident: no `Display`, no `Serialize`, an empty `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes the bytes in.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Hands the bytes to the one place that must have them; the name is meant to be searched for.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        assert_eq!(format!("{:?}", Secret::new(b"hush".to_vec())), "Secret(…)");
    }
}
