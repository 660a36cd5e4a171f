//! A failure at every operation: undo gives the starting tree back, and going on ends well.

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::{Errno, FakeHost, When};

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
