//! Real machines: they boot, run programs, die, come back, and leave nothing behind.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests look at the kernel's view of machines, and their helpers are tests too"
)]

mod clean;
mod forwarder;
mod host_link;
mod life;
mod rig;
