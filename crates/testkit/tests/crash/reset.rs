//! Reset: past the point of no return, and a crash or a failure in its middle does not matter.

use std::collections::BTreeSet;

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::{Errno, FakeHost, Operation, When};
use bootlace_testkit::tree::Snapshot;

use super::{FEW, MANY, death};

/// What an undisturbed reset does, and what it leaves.
struct Undisturbed<'a> {
    bench: &'a Bench,
    operations: Vec<Operation>,
    tree: Snapshot,
    /// Secrets of the user that the run removed for good: they cannot be put back.
    refused: BTreeSet<String>,
}

impl<'a> Undisturbed<'a> {
    fn new(bench: &'a Bench) -> Result<Self, Wrong> {
        let host = bench.finished_machine()?;
        let refused = refused(bench, &host)?;
        let tree = bench.tree(&host);
        if refused.is_empty() {
            let compared = bench.start.compare(&tree);
            compared.map_err(|difference| Wrong(format!("after reset {difference}")))?;
        }
        let operations = host.trace();
        Ok(Self {
            bench,
            operations,
            tree,
            refused,
        })
    }

    /// Resets without a disturbance; it must end where an undisturbed reset ends.
    fn must_end_so(&self, host: &FakeHost) -> Result<(), Wrong> {
        let refused = refused(self.bench, host)?;
        if !refused.is_subset(&self.refused) {
            return Err(Wrong(format!("reset refused {refused:?}")));
        }
        let compared = self.tree.compare(&self.bench.tree(host));
        compared.map_err(|difference| Wrong(format!("after reset {difference}")))
    }

    fn dies(&self, operation: u64, when: When, seed: u64) -> Result<(), Wrong> {
        let mut dice = Dice::new(seed);
        let host = self.bench.finished_machine()?;
        host.crash_at(operation, when);
        let reset = self.bench.reset(&host);
        if !host.is_crashed() {
            return Err(Wrong(format!("it was not reached: {reset:?}")));
        }
        let death = death(&mut dice);
        host.reboot(death);
        self.must_end_so(&host)
            .map_err(|wrong| wrong.when(format!("{death:?}")))
    }

    fn fails(&self, operation: u64, errno: Errno, when: When) -> Result<(), Wrong> {
        let host = self.bench.finished_machine()?;
        host.fail_at(operation, errno, when);
        // Some failures are survived; whatever came of it, it is reset again.
        drop(self.bench.reset(&host));
        host.clear_faults();
        self.must_end_so(&host)
    }
}

/// Resets, and returns what could not be put back.
fn refused(bench: &Bench, host: &FakeHost) -> Result<BTreeSet<String>, Wrong> {
    let view = bench.reset(host);
    let view = view.map_err(|fault| Wrong::fault("reset", &fault))?;
    Ok(view.refused.into_iter().map(|left| left.target).collect())
}

fn crash_in_reset(most: u64) -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.one_way_benches()? {
        let undisturbed = Undisturbed::new(&bench)?;
        for (operation, what) in sample.choose(&undisturbed.operations, most) {
            for when in When::ALL {
                let seed = sample.roll();
                sample.try_out(
                    || format!("{}, {when:?} {operation} ({what})", bench.case.name),
                    || undisturbed.dies(operation, when, seed),
                );
            }
        }
    }
    sample.end("crashes in reset")
}

fn fail_in_reset(most: u64) -> Result<(), Wrong> {
    let errors = [Errno::ENOSPC, Errno::EIO, Errno::EACCES];
    let mut sample = Sample::begin();
    for bench in sample.one_way_benches()? {
        let undisturbed = Undisturbed::new(&bench)?;
        for (operation, what) in sample.choose(&undisturbed.operations, most) {
            for when in [When::Before, When::Within] {
                let errno = errors[Dice::new(sample.roll()).index(3)];
                sample.try_out(
                    || {
                        format!(
                            "{}, {errno:?} {when:?} {operation} ({what})",
                            bench.case.name
                        )
                    },
                    || undisturbed.fails(operation, errno, when),
                );
            }
        }
    }
    sample.end("failed operations in reset")
}

#[test]
fn a_crash_in_reset_is_reset() -> Result<(), Wrong> {
    crash_in_reset(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_crashes_in_reset_are_reset() -> Result<(), Wrong> {
    crash_in_reset(MANY)
}

#[test]
fn a_failure_in_reset_is_reset() -> Result<(), Wrong> {
    fail_in_reset(FEW)
}

#[test]
#[ignore = "slow: a wide sample"]
fn many_failures_in_reset_are_reset() -> Result<(), Wrong> {
    fail_in_reset(MANY)
}
