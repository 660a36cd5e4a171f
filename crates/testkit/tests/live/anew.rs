//! Starting a unit anew, when that helps.

use std::time::Duration;

use bootlace_engine::port::{Host as _, Machine as _};
use bootlace_model::effect::{Anew, Effect, StartUnit};
use bootlace_model::expect::Claim;

use super::single::{LONG, Try, at, origin, start, unit};

/// Starts a unit anew, unless a folder is there.
fn anew(name: &str, unless: &str) -> Effect {
    let why = "A test wants it.".into();
    let unless = Claim::Directory { path: at(unless) };
    Effect::StartUnit(StartUnit {
        unit: unit(name),
        anew: Some(Anew { why, unless }),
        within: LONG,
        products: vec![],
        origin: origin(),
    })
}

/// Returns how long a run takes that starts a unit, and then again unless a folder is there.
fn takes(unless: &str) -> Duration {
    let again = anew("lasting.service", unless);
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

#[test]
fn a_unit_that_is_started_anew_is_stopped_by_undo_only_if_it_did_not_run() {
    let units = ["containerd.service", "lasting.service"];
    let effects = units.map(|name| anew(name, "/never")).to_vec();
    let attempt = Try::new(effects, vec![]);
    let active = || units.map(|name| attempt.host.unit(&unit(name)).unwrap().is_active);
    assert_eq!(active(), [true, false]);
    attempt.run().unwrap();
    assert_eq!(active(), [true, true]);
    let view = attempt.undo().unwrap();
    assert_eq!((view.undone, view.refused.len()), (2, 0));
    assert_eq!(active(), [true, false]);
}
