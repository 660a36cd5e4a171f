//! A run that was killed is interrupted: what it has not done yet has not drifted.

use bootlace_model::fault::FaultKind;
use bootlace_model::view::RunStateView;
use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::fake::{Death, FakeHost};

use super::{FEW, MANY};

/// Kills a run, and verifies what is there.
fn is_called_interrupted(bench: &Bench, order: impl Fn(&FakeHost)) -> Result<(), Wrong> {
    let host = bench.machine();
    order(&host);
    let report = bench.run(&host);
    if !host.is_crashed() {
        return Err(Wrong(format!("it was not reached: {report:?}")));
    }
    host.reboot(Death::Kill);
    host.clear_faults();
    let view = match bench.verify(&host) {
        // It was killed before there was a run.
        Err(fault) if fault.kind == FaultKind::Preflight => return Ok(()),
        view => view.map_err(|fault| Wrong::fault("verify", &fault))?,
    };
    if let Some(drifted) = view.checks.iter().find(|it| !it.ok && !it.unfinished) {
        return Err(Wrong(format!("it is said to have drifted: {drifted:#?}")));
    }
    let status = bench.status(&host);
    let state = status
        .map_err(|fault| Wrong::fault("status", &fault))?
        .state;
    if view.state != state {
        let said = format!("status says {state:?}, verify {:?}", view.state);
        return Err(Wrong(said));
    }
    // A run that only lacks the record of its end may verify.
    let is_told = !view.ok || view.checks.iter().all(|check| check.ok);
    if matches!(state, RunStateView::Interrupted | RunStateView::Succeeded) && is_told {
        return Ok(());
    }
    Err(Wrong(format!("it is {state:?} and ok is {}", view.ok)))
}

fn kill_after_records(most: u64) -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for append in sample.choose_below(bench.appends, most) {
            sample.try_out(
                || format!("{}, after append {append}", bench.case.name),
                || is_called_interrupted(&bench, |host| host.crash_after_append(append)),
            );
        }
        for (operation, what) in sample.choose(&bench.operations, most) {
            for when in bootlace_testkit::fake::When::ALL {
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what})", bench.case.name),
                    || is_called_interrupted(&bench, |host| host.crash_at(operation, when)),
                );
            }
        }
    }
    sample.end("killed runs, verified")
}

#[test]
fn a_run_that_was_killed_has_not_drifted() -> Result<(), Wrong> {
    kill_after_records(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn a_run_that_was_killed_anywhere_has_not_drifted() -> Result<(), Wrong> {
    kill_after_records(MANY)
}
