//! A failure at every operation: undo gives the starting tree back, and going on ends well.

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::fake::{Errno, FakeHost, When};

fn failed_machine(bench: &Bench, operation: u64, errno: Errno, when: When) -> FakeHost {
    let host = bench.machine();
    host.fail_at(operation, errno, when);
    // Some failures are survived: a record that could not be noted, a probe that is asked again.
    let survived = bench.run(&host);
    drop(survived);
    host.clear_faults();
    host
}

fn each_failure(most: u64, check: impl Fn(&Bench, &FakeHost) -> Result<(), Wrong>) {
    let errors = [Errno::ENOSPC, Errno::EIO, Errno::EACCES];
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        for operation in sample.choose(bench.operations.len() as u64, most) {
            for when in [When::Before, When::Within] {
                let errno = errors[usize::try_from(sample.roll() % 3).unwrap()];
                let what = &bench.operations[usize::try_from(operation).unwrap()];
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
    super::end(sample);
}

#[test]
fn a_failure_anywhere_is_undone() {
    each_failure(120, Bench::must_undo);
}

#[test]
fn a_failure_anywhere_is_resumed() {
    each_failure(60, Bench::must_finish);
}
