//! What is done twice changes nothing more than once.

use bootlace_model::record::Outcome;
use bootlace_testkit::crash::{Bench, Sample, Wrong};

fn expect(holds: bool, what: &str) -> Result<(), Wrong> {
    if holds {
        Ok(())
    } else {
        Err(Wrong(what.into()))
    }
}

fn runs_again(bench: &Bench) -> Result<(), Wrong> {
    let host = bench.finished_machine()?;
    let before = bench.tree(&host);
    let report = bench
        .run(&host)
        .map_err(|fault| Wrong::fault("a second run", &fault))?;
    expect(
        report.outcome == Outcome::Succeeded,
        "a second run did not succeed",
    )?;
    expect(report.steps_done == 0, "a second run did steps again")?;
    expect(
        host.counters().operations == 0,
        "a second run touched something",
    )?;
    before
        .compare(&bench.tree(&host))
        .map_err(|difference| Wrong(difference.to_string()))
}

fn runs_without_its_journal(bench: &Bench) -> Result<(), Wrong> {
    let host = bench.finished_machine()?;
    let before = bench.tree(&host);
    let removed = host.set_up(|world| world.remove(bench.state().as_str()));
    removed.map_err(|error| Wrong(error.to_string()))?;
    bench.must_finish(&host)?;
    // Not only the same by meaning: keys that are there are kept.
    before
        .compare(&bench.tree(&host))
        .map_err(|difference| Wrong(difference.to_string()))
}

#[test]
fn a_completed_run_is_complete_by_its_journal() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        sample.try_out(|| bench.case.name.clone(), || runs_again(&bench));
    }
    super::end(sample)
}

#[test]
fn effects_that_are_already_true_vanish() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        sample.try_out(
            || bench.case.name.clone(),
            || runs_without_its_journal(&bench),
        );
    }
    super::end(sample)
}
