//! A crash at every operation and after every record, then resume: the same tree.

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::{Death, FakeHost, When};

/// Chooses how the machine dies.
fn death(dice: &mut Dice) -> Death {
    if dice.percent(25) {
        Death::Kill
    } else {
        Death::PowerCut { seed: dice.roll() }
    }
}

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
        story += &format!(", then {when:?} {operation} {next:?}");
    }
    host.clear_faults();
    bench.must_finish(&host).map_err(|wrong| wrong.when(story))
}

#[test]
fn a_crash_at_any_operation_is_resumed() {
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        for operation in sample.choose(bench.operations.len() as u64, 120) {
            for when in When::ALL {
                let seed = sample.roll();
                let first = death(&mut Dice::new(seed));
                let what = &bench.operations[usize::try_from(operation).unwrap()];
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what})", bench.case.name),
                    || dies_and_goes_on(&bench, seed, first, |host| host.crash_at(operation, when)),
                );
            }
        }
    }
    super::end(sample);
}

#[test]
fn a_crash_after_any_record_is_resumed() {
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        for append in 0..bench.appends {
            for first in [
                Death::Kill,
                Death::PowerCut {
                    seed: sample.roll(),
                },
            ] {
                let seed = sample.roll();
                sample.try_out(
                    || format!("{}, after append {append}", bench.case.name),
                    || {
                        dies_and_goes_on(&bench, seed, first, |host| {
                            host.crash_after_append(append)
                        })
                    },
                );
            }
        }
        for sync in 0..bench.log_syncs {
            let first = Death::PowerCut {
                seed: sample.roll(),
            };
            let seed = sample.roll();
            sample.try_out(
                || format!("{}, after journal sync {sync}", bench.case.name),
                || dies_and_goes_on(&bench, seed, first, |host| host.crash_after_log_sync(sync)),
            );
        }
    }
    super::end(sample);
}

#[test]
fn a_stop_at_any_operation_is_resumed() {
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        for operation in sample.choose(bench.operations.len() as u64, 60) {
            sample.try_out(
                || format!("{}, stopped at {operation}", bench.case.name),
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
    super::end(sample);
}
