//! A clock that is set during a run: no deadline passes early, none is never reached, and the result is the same.

use bootlace_testkit::crash::{Bench, Sample, Wrong};
use jiff::SignedDuration;

use super::FEW;

/// By how much the clock is set. Certificates are valid from five minutes before they are issued, so a clock
/// that goes back further makes them invalid, and the run has to fail.
const STEPS: [SignedDuration; 4] = [
    SignedDuration::from_mins(-4),
    SignedDuration::from_secs(-30),
    SignedDuration::from_mins(20),
    SignedDuration::from_hours(12),
];

fn runs_with(bench: &Bench, operation: u64, by: SignedDuration) -> Result<(), Wrong> {
    let host = bench.machine();
    host.step_clock_at(operation, by);
    bench
        .run(&host)
        .map_err(|fault| Wrong::fault("running", &fault))?;
    bench.must_finish(&host)
}

#[test]
fn a_clock_that_is_set_during_a_run_does_not_matter() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    let benches = sample
        .benches()?
        .into_iter()
        .chain(sample.one_way_benches()?);
    for bench in benches {
        for (operation, what) in sample.choose(&bench.operations, FEW) {
            let by = STEPS[usize::try_from(sample.roll() % 4).unwrap_or(0)];
            sample.try_out(
                || format!("{}, {by:#} at {operation} ({what})", bench.case.name),
                || runs_with(&bench, operation, by),
            );
        }
    }
    sample.end("clock steps")
}
