//! Starting a unit anew, when that helps.

use bootlace_engine::port::Machine as _;
use bootlace_model::effect::{Effect, StartUnit};

use super::single::{LONG, Try, origin, unit};

fn anew(name: &str) -> Effect {
    Effect::StartUnit(StartUnit {
        unit: unit(name),
        anew: Some("A test wants it.".into()),
        within: LONG,
        products: vec![],
        origin: origin(),
    })
}

#[test]
fn a_unit_that_is_started_anew_is_stopped_by_undo_only_if_it_did_not_run() {
    let units = ["containerd.service", "lasting.service"];
    let effects = units.map(anew).to_vec();
    let attempt = Try::new(effects, vec![]);
    let active = || units.map(|name| attempt.host.unit(&unit(name)).unwrap().is_active);
    assert_eq!(active(), [true, false]);
    attempt.run().unwrap();
    assert_eq!(active(), [true, true]);
    let view = attempt.undo().unwrap();
    assert_eq!((view.undone, view.refused.len()), (2, 0));
    assert_eq!(active(), [true, false]);
}
