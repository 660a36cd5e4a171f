//! Stages that an image renders: real podman, a real registry, and an image that refuses flags that
//! it does not know.
//!
//! Each test has a registry, a store of podman's and a root of its own, and removes them.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test drives the program from outside, and may fail loudly"
)]

mod faults;
mod renders;
mod world;
