//! Real machines on this computer: systemd as PID 1, a kernel's cgroups, a network of their own.
//!
//! A machine is a systemd-nspawn container whose root is an overlay of a base root, so it is made in
//! milliseconds and boots in less than a second. All machines of one folder share one network namespace with
//! a bridge; nothing of it reaches the network of the host, unless [`Machines::connect_host`] is called. Everything that is made carries an id
//! derived from the folder, and is written down before it is made, so that [`Machines::clean`] finds
//! all of it even after a crash, and touches nothing else.
//!
//! | module | concern |
//! |---|---|
//! | [`machines`](Machines), [`machine`](Machine) | the folder of machines; one machine's life |
//! | `launch`, `command` | starting systemd-nspawn so that it outlives us; programs inside a machine |
//! | `network`, [`forwarder`](Forwarder) | the bridge; a port of 127.0.0.1 that leads to a machine |
//! | [`host_link`](HostLink) | a route of this computer to its machines |
//! | `cgroups`, `mounts`, `processes` | what the kernel holds for us, and how it is given back |
//! | `state`, `names`, `wait`, `tools` | files of record, valid names, deadlines, programs of the host |
//! | [`why_not`] | whether this computer can do it at all |

#![expect(
    clippy::disallowed_methods,
    reason = "this crate drives namespaces, mounts and cgroups of the host, which the port does not offer"
)]

mod cgroups;
mod cluster;
mod command;
mod error;
mod forwarder;
mod host_link;
mod launch;
mod machine;
mod machines;
mod mounts;
mod names;
mod network;
mod preflight;
mod processes;
mod seed;
mod state;
mod tools;
mod wait;

pub use cluster::{API_PORT, BOOTLACE, ClusterMachine};
pub use command::{Finished, Running};
pub use error::MachineError;
pub use forwarder::Forwarder;
pub use host_link::HostLink;
pub use machine::Machine;
pub use machines::{Bind, MachineSpec, Machines, SeedFile};
pub use names::MachineName;
pub use preflight::why_not;

/// What the functions of this crate give.
pub type Result<T> = std::result::Result<T, MachineError>;
