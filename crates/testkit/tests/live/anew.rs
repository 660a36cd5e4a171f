//! Starting a unit anew, when that helps.

use std::time::Duration;

use bootlace_engine::port::Host as _;
use bootlace_model::effect::{Anew, Effect, StartUnit};
use bootlace_model::expect::Claim;

use super::single::{LONG, Try, at, origin, start, unit};

/// Returns how long a run takes that starts a unit, and then again unless a folder is there.
fn takes(unless: &str) -> Duration {
    let why = "A test wants it.".into();
    let unless = Claim::Directory { path: at(unless) };
    let again = Effect::StartUnit(StartUnit {
        unit: unit("lasting.service"),
        anew: Some(Anew { why, unless }),
        within: LONG,
        products: vec![],
        origin: origin(),
    });
    let attempt = Try::new(vec![start("lasting.service", vec![]), again], vec![]);
    let began = attempt.host.now();
    attempt.run().unwrap();
    attempt.host.now().duration_since(began).unsigned_abs()
}

#[test]
fn a_unit_is_started_anew_only_where_that_helps() {
    let (needless, needed) = (takes("/var/lib"), takes("/never"));
    assert!(needless < needed, "{needless:?} < {needed:?}");
}
