//! Steps that do not need each other run in any order, with the same result.

use bootlace_engine::Options;
use bootlace_testkit::crash::{Sample, Wrong};

#[test]
fn every_interleaving_gives_the_same_tree() {
    let mut sample = Sample::begin();
    let seeds = if sample.soak { 200 } else { 20 };
    for bench in sample.benches().unwrap() {
        for _ in 0..seeds {
            let seed = sample.roll();
            sample.try_out(
                || format!("{}, order {seed}", bench.case.name),
                || {
                    let host = bench.machine();
                    let options = Options {
                        interleave: Some(seed),
                        ..bench.options()
                    };
                    let ran = bench.engine(&host, &options).run();
                    ran.map_err(|fault| Wrong::fault("running", &fault))?;
                    bench.must_finish(&host)?;
                    bench.must_undo(&host)
                },
            );
        }
    }
    super::end(sample);
}

#[test]
fn real_threads_give_the_same_tree() {
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        for jobs in [1, 2, 4, 8] {
            sample.try_out(
                || format!("{}, {jobs} jobs", bench.case.name),
                || {
                    let host = bench.machine();
                    let options = Options {
                        interleave: None,
                        jobs,
                        ..bench.options()
                    };
                    let ran = bench.engine(&host, &options).run();
                    ran.map_err(|fault| Wrong::fault("running", &fault))?;
                    bench.must_finish(&host)?;
                    bench.must_undo(&host)
                },
            );
        }
    }
    super::end(sample);
}

#[test]
fn a_paused_run_gives_the_same_tree() {
    let mut sample = Sample::begin();
    for bench in sample.benches().unwrap() {
        sample.try_out(
            || bench.case.name.clone(),
            || {
                let host = bench.machine();
                let options = Options {
                    pause: true,
                    ..bench.options()
                };
                let ran = bench.engine(&host, &options).run();
                ran.map_err(|fault| Wrong::fault("running", &fault))?;
                bench.must_finish(&host)
            },
        );
    }
    super::end(sample);
}
