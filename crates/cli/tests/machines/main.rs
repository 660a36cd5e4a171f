//! bootlace on real machines: systemd, containerd, kubelet and Kubernetes, all of them real.
//!
//! Each test makes its own machines with a network of their own, so they do not meet.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test drives machines from outside, and may fail loudly"
)]

mod back;
mod encryption_key;
mod faults;
mod ignition;
mod interrupted;
mod killed;
mod layered;
mod life;
mod pointer;
mod power;
mod restarts;
mod routes;
mod snapshot;
mod taken_away;
mod user_view;
mod world;
