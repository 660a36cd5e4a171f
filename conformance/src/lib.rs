//! Kubernetes' conformance specs on a cluster of `bootlace up`.
//!
//! `make conformance` runs all of them but those in [`exceptions`], writes `conformance/results.json` and
//! generates `docs/reference/conformance.md` from it. `make test` runs a sample.
//!
//! | module | concern |
//! |---|---|
//! | [`suite`] | listing and running specs with ginkgo |
//! | [`cluster`] | a cluster of `up` with the images that specs need |
//! | [`exceptions`] | specs that cannot run, each with its reason |
//! | [`results`], [`page`] | the record of a run, and its page in the docs |
//! | [`progress`] | how far a run is |

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "it drives a cluster from outside, is for developers, and is never shipped"
)]

pub mod cluster;
pub mod error;
pub mod exceptions;
pub mod page;
pub mod progress;
pub mod results;
pub mod suite;

pub use error::ConformanceError;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, ConformanceError>;
