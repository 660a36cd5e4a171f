//! A failure at every operation: undo gives the starting tree back, and going on ends well.

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::{Death, Errno, FakeHost, Operation, OperationKind, When};

use super::{FEW, MANY};

fn failed_machine(bench: &Bench, operation: u64, errno: Errno, when: When) -> FakeHost {
    let host = bench.machine();
    host.fail_at(operation, errno, when);
    // Some failures are survived: a record that could not be noted, a probe that is asked again.
    drop(bench.run(&host));
    host.clear_faults();
    host
}

fn each_failure(
    most: u64,
    check: impl Fn(&Bench, &FakeHost) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let errors = [Errno::ENOSPC, Errno::EIO, Errno::EACCES];
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for (operation, what) in sample.choose(&bench.operations, most) {
            for when in [When::Before, When::Within] {
                let errno = errors[Dice::new(sample.roll()).index(3)];
                sample.try_out(
                    || {
                        format!(
                            "{}, {errno:?} {when:?} {operation} ({what})",
                            bench.case.name
                        )
                    },
                    || check(&bench, &failed_machine(&bench, operation, errno, when)),
                );
            }
        }
    }
    sample.end("failed operations")
}

#[test]
fn a_failure_is_undone() -> Result<(), Wrong> {
    each_failure(FEW, Bench::must_undo)
}

#[test]
fn a_failure_is_resumed() -> Result<(), Wrong> {
    each_failure(FEW, Bench::must_finish)
}

/// The steps beside a failed one go on, and what they did must not depend on what it left unsynced.
#[test]
fn a_failure_is_resumed_after_a_power_cut() -> Result<(), Wrong> {
    each_failure(FEW, cut_and_finish)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_failures_are_resumed_after_a_power_cut() -> Result<(), Wrong> {
    each_failure(MANY, cut_and_finish)
}

fn cut_and_finish(bench: &Bench, host: &FakeHost) -> Result<(), Wrong> {
    // Nothing survives by luck.
    host.reboot(Death::PowerCut { seed: 0 });
    bench.must_finish(host)
}

/// The kernel reports once that it could not write; a later sync that succeeds proves nothing.
#[test]
fn after_a_failed_sync_of_the_journal_no_other_counts() -> Result<(), Wrong> {
    let is_sync = |operation: &Operation| operation.kind == OperationKind::SyncLog;
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        let operations = (0..).zip(&bench.operations);
        let syncs = operations.filter(|(_, operation)| is_sync(operation));
        let syncs: Vec<u64> = syncs.map(|(number, _)| number).collect();
        for chosen in sample.choose_below(syncs.len() as u64, FEW) {
            let number = syncs[usize::try_from(chosen).unwrap_or_default()];
            sample.try_out(
                || format!("{}, EIO at {number}", bench.case.name),
                || {
                    let host = bench.machine();
                    host.fail_at(number, Errno::EIO, When::Before);
                    let ran = bench.run(&host);
                    let syncs = host.trace().into_iter().filter(is_sync).count();
                    if ran.is_ok() || syncs as u64 > chosen + 1 {
                        return Err(Wrong(format!("{syncs} syncs, then {ran:?}")));
                    }
                    Ok(())
                },
            );
        }
    }
    sample.end("failed syncs of the journal")
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_failures_are_undone() -> Result<(), Wrong> {
    each_failure(MANY, Bench::must_undo)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_failures_are_resumed() -> Result<(), Wrong> {
    each_failure(MANY, Bench::must_finish)
}
