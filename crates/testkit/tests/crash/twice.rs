//! What is done twice changes nothing more than once.

use bootlace_engine::Options;
use bootlace_model::record::Outcome;
use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::fake::{Death, FakeHost, When};
use bootlace_testkit::meaning::without_times;
use bootlace_testkit::tree::Snapshot;

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
    // Nobody remembers that what is there is ours, so what looks for others' things finds ours.
    let options = Options {
        ignore: vec!["all".into()],
        ..bench.options()
    };
    let ran = bench.engine(&host, &options).run();
    ran.map_err(|fault| Wrong::fault("a run without its journal", &fault))?;
    bench.must_finish(&host)?;
    // Not only the same by meaning: keys that are there are kept. A bootstrap token is valid from the
    // moment at which the API server gets it, and it got it again.
    without_times(&before)
        .compare(&without_times(&bench.tree(&host)))
        .map_err(|difference| Wrong(difference.to_string()))
}

#[test]
fn a_completed_run_is_complete_by_its_journal() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        sample.try_out(|| bench.case.name.clone(), || runs_again(&bench));
    }
    sample.end("second runs")
}

#[test]
fn effects_that_are_already_true_vanish() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample
        .benches()?
        .into_iter()
        .filter(|bench| bench.case.vanishes)
    {
        sample.try_out(
            || bench.case.name.clone(),
            || runs_without_its_journal(&bench),
        );
    }
    sample.end("runs without their journal")
}

/// Looks at a machine in every way; nothing may come of it.
fn is_only_looked_at(bench: &Bench, host: &FakeHost) -> Result<(), Wrong> {
    host.clear_faults();
    let before = Snapshot::of_fake(host, &[]);
    let options = bench.options();
    let engine = bench.engine(host, &options);
    let looked = [
        ("explain", engine.explain().map(|_| ())),
        ("plan", engine.plan().map(|_| ())),
    ];
    for (verb, result) in looked {
        result.map_err(|fault| Wrong::fault(verb, &fault))?;
    }
    // Without a run these have nothing to tell; with one they must tell it.
    let asked = [
        engine.verify().is_ok(),
        engine.status().is_ok(),
        engine.log(&mut |_, _| {}).is_ok(),
    ];
    expect(
        asked == [asked[0]; 3],
        "verify, status and log do not agree whether there is a run",
    )?;
    let changed = host
        .trace()
        .into_iter()
        .find(|operation| !operation.kind.may_look());
    if let Some(operation) = changed {
        return Err(Wrong(format!("looking did this: {operation}")));
    }
    let compared = before.compare(&Snapshot::of_fake(host, &[]));
    compared.map_err(|difference| Wrong(difference.to_string()))
}

#[test]
fn looking_changes_nothing() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        let crashed = bench.machine();
        crashed.crash_at(bench.operations.len() as u64 / 2, When::Before);
        drop(bench.run(&crashed));
        crashed.reboot(Death::PowerCut {
            seed: sample.roll(),
        });
        for (when, host) in [
            ("before a run", bench.machine()),
            ("after a crash", crashed),
            ("after a run", bench.finished_machine()?),
        ] {
            sample.try_out(
                || format!("{}, {when}", bench.case.name),
                || is_only_looked_at(&bench, &host),
            );
        }
    }
    sample.end("looks")
}
