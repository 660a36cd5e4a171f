//! The version operator: holds a cluster to its release.
//!
//! A release is a folder of manifests. The operator reads them (`manifest`, `payload`), sorts
//! them by run level (`order`), applies them level by level, waits until what it applied is ready
//! (`readiness`), and tells how far it is on the `ClusterVersion` (`status`). Then it looks again
//! from time to time, and puts right what drifted.
//!
//! | modules | what they do |
//! |---|---|
//! | `object`, `manifest`, `placeholders`, `overrides`, `order`, `payload` | from files to objects in order; pure |
//! | `readiness`, `pods`, `retry`, `status`, `lease` | decisions about what the API answered; pure |
//! | `api`, `kinds`, `election`, `folder`, `health`, `clock`, `signals` | one neighbour each |
//! | `operator`, `lead`, `pass`, `apply`, `wait`, `report` | the loop |
//! | `serving` | approves the serving certificates of kubelets, by a pure decision |
//! | `node_network` | the pod network of one node: a CNI config and routes to other nodes |

mod api;
mod apply;
mod clock;
mod cluster_version;
mod election;
mod folder;
mod health;
mod kinds;
mod lead;
mod lease;
mod log;
mod manifest;
pub mod node_network;
mod object;
mod operator;
mod order;
mod overrides;
mod pass;
mod payload;
mod placeholders;
mod pods;
mod readiness;
mod report;
mod retry;
mod serving;
mod signals;
mod status;
mod stop;
mod wait;

pub use api::Access;
pub use log::Log;
pub use operator::{Options, run};
pub use stop::Stop;
