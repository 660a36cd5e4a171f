//! The operator against a real API server.
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the test makes files and processes, and tidies them up"
)]

#[path = "real_api/cluster.rs"]
mod cluster;
#[path = "real_api/journey.rs"]
mod journey;
#[path = "real_api/operators.rs"]
mod operators;
#[path = "real_api/shipped.rs"]
mod shipped;
