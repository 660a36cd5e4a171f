//! Undo: twice equals once, and a crash in its middle does not matter.

use bootlace_model::fault::FaultKind;
use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::When;

use super::{FEW, MANY, death};

#[test]
fn undo_twice_equals_undo_once() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        sample.try_out(
            || bench.case.name.clone(),
            || {
                let host = bench.finished_machine()?;
                bench.must_undo(&host)?;
                host.clear_faults();
                bench.must_undo(&host)?;
                if host.counters().operations > 0 {
                    return Err(Wrong("the second undo touched something".into()));
                }
                // And what was taken back can be done again, and taken back again.
                bench.must_finish(&host)?;
                bench.must_undo(&host)
            },
        );
    }
    sample.end("second undos")
}

#[test]
fn beyond_the_point_of_no_return_undo_refuses_and_touches_nothing() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.one_way_benches()? {
        sample.try_out(
            || bench.case.name.clone(),
            || {
                let host = bench.finished_machine()?;
                let before = bench.tree(&host);
                match bench.undo(&host) {
                    Err(fault) if fault.kind.exit_code() == 9 => {}
                    other => return Err(Wrong(format!("undo came to {other:?}"))),
                }
                let compared = before.compare(&bench.tree(&host));
                compared.map_err(|difference| Wrong(difference.to_string()))
            },
        );
    }
    sample.end("refused undos")
}

fn dies_in_undo(bench: &Bench, operation: u64, when: When, seed: u64) -> Result<(), Wrong> {
    let mut dice = Dice::new(seed);
    let host = bench.finished_machine()?;
    host.crash_at(operation, when);
    let undone = bench.undo(&host);
    if !host.is_crashed() {
        return Err(Wrong(format!("it was not reached: {undone:?}")));
    }
    let first = death(&mut dice);
    host.reboot(first);
    if dice.percent(30) {
        // What is half taken back does not go on; what is not touched yet, or not any more, does.
        match bench.run(&host) {
            Err(fault) if fault.kind == FaultKind::Preflight => {}
            Err(fault) => return Err(Wrong::fault("going on after undo", &fault)),
            Ok(_) => bench.must_finish(&host)?,
        }
    }
    bench
        .must_undo(&host)
        .map_err(|wrong| wrong.when(format!("{first:?}")))
}

fn crash_in_undo(most: u64) -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        let host = bench.finished_machine()?;
        bench.must_undo(&host)?;
        for (operation, what) in sample.choose(&host.trace(), most) {
            for when in When::ALL {
                let seed = sample.roll();
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what})", bench.case.name),
                    || dies_in_undo(&bench, operation, when, seed),
                );
            }
        }
    }
    sample.end("crashes in undo")
}

#[test]
fn a_crash_in_undo_is_undone() -> Result<(), Wrong> {
    crash_in_undo(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_crashes_in_undo_are_undone() -> Result<(), Wrong> {
    crash_in_undo(MANY)
}

fn crash_in_run(most: u64) -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for (operation, what) in sample.choose(&bench.operations, most) {
            for when in When::ALL {
                let seed = sample.roll();
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what}), {seed}", bench.case.name),
                    || {
                        let host = bench.machine();
                        host.crash_at(operation, when);
                        drop(bench.run(&host));
                        host.reboot(death(&mut Dice::new(seed)));
                        bench.must_undo(&host)
                    },
                );
            }
        }
    }
    sample.end("crashes in a run, undone")
}

#[test]
fn a_crash_in_a_run_is_undone() -> Result<(), Wrong> {
    crash_in_run(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_crashes_in_a_run_are_undone() -> Result<(), Wrong> {
    crash_in_run(MANY)
}
