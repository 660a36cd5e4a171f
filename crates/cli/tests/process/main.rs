//! A control plane of plain processes: the supervisor, the faults it reports, and real Kubernetes.
//!
//! Each test has a folder and ports of its own, and takes its processes with it, so they do not meet.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test drives the program from outside, and may fail loudly"
)]

mod faults;
mod kubernetes;
mod stopped;
mod supervisor;
mod world;
