//! The crash harness: every sequence on its machine, and what must come of it whatever happens.

mod bench;
mod cases;
mod sample;

pub use bench::{Bench, Wrong};
pub use cases::{Case, Prepare, cases, one_way_cases};
pub use sample::Sample;
