//! A machine in memory below the engine's port, made to be broken at every point.

mod cluster;
mod dir;
mod disk;
mod durability;
mod errno;
mod faults;
mod host;
mod inode;
mod live_port;
mod log;
mod podman;
mod port;
mod program;
mod running;
mod state;
mod url;
mod walk;
mod world;

#[cfg(test)]
mod tests;

pub use durability::Weather;
pub use errno::Errno;
pub use faults::{Counters, Operation, OperationKind, When};
pub use host::{Death, FakeHost};
pub use podman::podman;
pub use program::{Script, failed, printed};
pub use running::{Ailment, archive};
pub use url::Trouble;
pub use world::World;
