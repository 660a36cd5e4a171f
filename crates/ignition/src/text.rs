//! Grammars of others that a config contains, each read exactly as Ignition reads it.

pub(crate) mod data_url;
pub(crate) mod path;
pub(crate) mod semver;
pub(crate) mod shared;
pub(crate) mod unit_file;
pub(crate) mod url;
