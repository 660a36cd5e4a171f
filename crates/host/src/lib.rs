//! The real world behind the engine's port.
pub mod pki;
