//! A crash at every operation and after every record, then resume: the same tree.

use std::fmt::Write as _;

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::{Death, FakeHost, When};

use super::{FEW, MANY, death};

/// Lets a machine die, go on, die again by chance, and end; it must end well.
fn dies_and_goes_on(
    bench: &Bench,
    seed: u64,
    first: Death,
    order: impl Fn(&FakeHost),
) -> Result<(), Wrong> {
    let mut dice = Dice::new(seed);
    let host = bench.machine();
    order(&host);
    let report = bench.run(&host);
    if !host.is_crashed() {
        return Err(Wrong(format!("it was not reached: {report:?}")));
    }
    host.reboot(first);
    let mut story = format!("{first:?}");
    for _ in 0..dice.below(3) {
        let operation = dice.below(bench.operations.len() as u64);
        let when = When::ALL[dice.index(3)];
        host.crash_at(operation, when);
        let fault = bench.run(&host).err();
        if !host.is_crashed() {
            if let Some(fault) = fault {
                return Err(Wrong::fault("going on", &fault).when(story));
            }
            break;
        }
        let next = death(&mut dice);
        host.reboot(next);
        let told = write!(story, ", then {when:?} {operation} {next:?}");
        told.map_err(|error| Wrong(error.to_string()))?;
    }
    host.clear_faults();
    bench.must_finish(&host).map_err(|wrong| wrong.when(story))
}

fn crash_at_operations(sample: Sample, benches: Vec<Bench>, most: u64) -> Result<(), Wrong> {
    let mut sample = sample;
    for bench in benches {
        for (operation, what) in sample.choose(&bench.operations, most) {
            for when in When::ALL {
                let seed = sample.roll();
                let first = death(&mut Dice::new(seed));
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what})", bench.case.name),
                    || dies_and_goes_on(&bench, seed, first, |host| host.crash_at(operation, when)),
                );
            }
        }
    }
    sample.end("crashes at an operation, resumed")
}

#[test]
fn a_crash_at_an_operation_is_resumed() -> Result<(), Wrong> {
    let sample = Sample::begin();
    let benches = sample.benches()?;
    crash_at_operations(sample, benches, FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn a_crash_at_many_operations_is_resumed() -> Result<(), Wrong> {
    let sample = Sample::begin();
    let benches = sample.benches()?;
    crash_at_operations(sample, benches, MANY)
}

/// Beyond the point of no return there is only one way, and a crash does not close it.
#[test]
fn a_crash_on_the_way_to_the_end_is_resumed() -> Result<(), Wrong> {
    let sample = Sample::begin();
    let benches = sample.one_way_benches()?;
    crash_at_operations(sample, benches, FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn a_crash_at_many_places_on_the_way_to_the_end_is_resumed() -> Result<(), Wrong> {
    let sample = Sample::begin();
    let benches = sample.one_way_benches()?;
    crash_at_operations(sample, benches, MANY)
}

fn crash_after_records(most: u64) -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for append in sample.choose_below(bench.appends, most) {
            let cut = Death::PowerCut {
                seed: sample.roll(),
            };
            for first in [Death::Kill, cut] {
                let seed = sample.roll();
                let order = |host: &FakeHost| host.crash_after_append(append);
                sample.try_out(
                    || format!("{}, after append {append}", bench.case.name),
                    || dies_and_goes_on(&bench, seed, first, order),
                );
            }
        }
        for sync in sample.choose_below(bench.log_syncs, most) {
            let first = Death::PowerCut {
                seed: sample.roll(),
            };
            let seed = sample.roll();
            let order = |host: &FakeHost| host.crash_after_log_sync(sync);
            sample.try_out(
                || format!("{}, after journal sync {sync}", bench.case.name),
                || dies_and_goes_on(&bench, seed, first, order),
            );
        }
    }
    sample.end("crashes after a record, resumed")
}

#[test]
fn a_crash_after_a_record_is_resumed() -> Result<(), Wrong> {
    crash_after_records(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn a_crash_after_many_records_is_resumed() -> Result<(), Wrong> {
    crash_after_records(MANY)
}

#[test]
fn a_stop_is_resumed() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for (operation, what) in sample.choose(&bench.operations, FEW) {
            sample.try_out(
                || format!("{}, stopped at {operation} ({what})", bench.case.name),
                || {
                    let host = bench.machine();
                    host.stop_after(operation);
                    let run = bench.run(&host);
                    run.map_err(|fault| Wrong::fault("stopping", &fault))?;
                    host.clear_faults();
                    bench.must_finish(&host)
                },
            );
        }
    }
    sample.end("stops, resumed")
}
