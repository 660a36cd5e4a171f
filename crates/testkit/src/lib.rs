//! What the tests of all crates are made of. Nothing here ships.
//!
//! | module | what it is for |
//! |---|---|
//! | [`fake`] | a machine in memory below the engine's port, which can be crashed at every operation |
//! | [`tree`] | what lies below a path, on the fake machine or a real one, and a readable difference |
//! | [`meaning`] | the same where keys and certificates count by what they mean |
//! | [`sampler`] | a sequence that uses every effect, probe and claim of the model |
//! | [`provision`] | an Ignition config that uses everything, and a machine for it |
//! | [`crash`] | what is crashed: every sequence on its machine, and what must come of it |
//! | [`follow`] | the journal of a real run, read while it grows |
//! | [`mod@env`] | settings, sample configs, an observer that remembers |
//! | [`dice`] | numbers by seed |
//! | [`disk`] | real filesystems on a disk whose power can be cut at every write |
//! | [`ignition`] | random Ignition configs, roots to apply them to, and real Ignition to compare with |

pub mod crash;
pub mod dice;
pub mod disk;
pub mod env;
pub mod fake;
pub mod follow;
pub mod ignition;
pub mod meaning;
pub mod provision;
pub mod sampler;
pub mod tree;
