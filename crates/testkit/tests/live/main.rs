//! A running machine under the engine: waits that end early, units and products that stay or go,
//! checks that refuse.

#![expect(
    clippy::unwrap_used,
    clippy::redundant_closure_for_method_calls,
    reason = "a test fails where something is not as it shall be"
)]

mod anew;
mod checks;
mod cluster;
mod given;
mod images;
mod products;
mod replan;
mod services;
mod side_by_side;
mod single;
mod symptoms;

use bootlace_testkit::crash::{Bench, Wrong, cases};

/// Prepares the sample sequence.
fn sampler() -> Result<Bench, Wrong> {
    let mut cases = cases().into_iter();
    let case = cases.find(|case| case.name == "sampler");
    Bench::new(
        case.ok_or_else(|| Wrong("the sample sequence is gone".into()))?,
        1,
    )
}
