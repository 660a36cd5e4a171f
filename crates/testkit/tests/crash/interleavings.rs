//! Steps that do not need each other run in any order, with the same result.

use bootlace_engine::Options;
use bootlace_testkit::crash::{Bench, Sample, Wrong};

fn runs_and_is_undone(bench: &Bench, options: &Options) -> Result<(), Wrong> {
    let host = bench.machine();
    let ran = bench.engine(&host, options).run();
    ran.map_err(|fault| Wrong::fault("running", &fault))?;
    bench.must_finish(&host)?;
    bench.must_undo(&host)
}

#[test]
fn every_interleaving_gives_the_same_tree() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    let seeds = if sample.soak { 200 } else { 8 };
    for bench in sample.benches()? {
        for _ in 0..seeds {
            let seed = sample.roll();
            let options = Options {
                interleave: Some(seed),
                ..bench.options()
            };
            sample.try_out(
                || format!("{}, order {seed}", bench.case.name),
                || runs_and_is_undone(&bench, &options),
            );
        }
    }
    sample.end("orders of steps")
}

#[test]
fn real_threads_give_the_same_tree() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        for jobs in [1, 2, 4, 8] {
            let options = Options {
                interleave: None,
                jobs,
                ..bench.options()
            };
            sample.try_out(
                || format!("{}, {jobs} jobs", bench.case.name),
                || runs_and_is_undone(&bench, &options),
            );
        }
    }
    sample.end("runs on threads")
}

#[test]
fn a_paused_run_gives_the_same_tree() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    for bench in sample.benches()? {
        let options = Options {
            pause: true,
            ..bench.options()
        };
        sample.try_out(
            || bench.case.name.clone(),
            || runs_and_is_undone(&bench, &options),
        );
    }
    sample.end("paused runs")
}
