//! Every decision of bootlace: what each step asks, what it would change, and what must hold then.
//!
//! Nothing here touches the world. A step takes settings and facts and returns values; the engine
//! performs them. So a plan and a run cannot differ, and all of this is tested without a machine.
//!
//! | module | what it decides |
//! |---|---|
//! | `cluster` | the 23 steps from an empty folder to a cluster, one file a step, and their order |
//! | [`ignition`] | the steps that apply an Ignition config, and what the config comes to |
//! | [`facts`] | what steps tell each other, each with its type |
//! | `failures` | what can go wrong, by code, and the lines by which it is known |
//! | [`pki`] | which keys and certificates a cluster needs, as one table |
//! | `documents`, `manifest`, `survey` | what manifests must be like to be applied later |
//! | `release`, `bundle` | what a release payload must be like to be trusted, and its images |
//! | [`key_rotation`] | what is next when the key that encrypts Secrets is replaced |
//! | `live_step` | a step on a running machine, as a row of functions |
//! | [`render`] | what the built-in renderers write, and `stage`, which makes steps of them |
//! | [`machine_files`] | which of it goes where on a machine |
//! | `yaml` | how objects are written, the same bytes every time |
//! | `assets`, `expectations` | paths and expectations that several steps have in common |

mod assets;
pub mod benchmark;
mod bundle;
mod cluster;
mod copied;
mod documents;
mod expectations;
pub mod facts;
mod failures;
pub mod ignition;
pub mod key_rotation;
mod live_step;
pub mod machine_files;
mod manifest;
mod release;
pub mod render;
mod stage;
mod survey;
mod yaml;

#[cfg(test)]
mod tests;

use bootlace_model::step::Sequence;

pub use cluster::{limits, pki, pointer};

/// All sequences, as people type them.
pub static SEQUENCES: &[Sequence] = &[cluster::SEQUENCE, ignition::SEQUENCE];

/// Finds a sequence by its name.
pub fn sequence(name: &str) -> Option<&'static Sequence> {
    SEQUENCES.iter().find(|sequence| sequence.name == name)
}
