//! Ignition configs, applied to real folders by the real engine; owners need root.

#![expect(
    clippy::disallowed_methods,
    clippy::redundant_closure_for_method_calls,
    clippy::unwrap_used,
    reason = "the tests prepare and look at real folders behind the product's back"
)]

mod accounts;
mod bad_input;
mod cases;
mod hostile;
mod life;
mod server;
mod sources;
mod traps;
mod units;
mod world;
