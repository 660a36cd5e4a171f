//! Looking again, and planning again, what a cluster stands on.

use std::time::Duration;

use bootlace_engine::port::Host as _;
use bootlace_testkit::crash::{Bench, Wrong, one_way_cases};
use bootlace_testkit::fake::Ailment;

#[test]
fn nothing_before_the_point_of_no_return_is_planned_again_behind_it() -> Result<(), Wrong> {
    let mut cases = one_way_cases().into_iter();
    let case = cases.find(|case| case.name.starts_with("cluster with defaults"));
    let bench = Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)?;
    let host = bench.finished_machine()?;
    let before = bench.tree(&host);
    let mut options = bench.options();
    options.replan = true;
    // The keys are gone from the asset folder: new ones would replace those of a living cluster.
    let engine = bench.engine(&host, &options);
    for refused in [
        engine.run().map(drop),
        engine.resume().map(drop),
        engine.plan().map(drop),
    ] {
        let fault = refused.unwrap_err();
        assert_eq!(fault.kind.exit_code(), 9, "{fault}");
        assert!(fault.message.contains("hand-over"), "{fault}");
    }
    let compared = before.compare(&bench.tree(&host));
    compared.map_err(|difference| Wrong(difference.to_string()))?;
    options.choice.to = None;
    options.choice.from = Some("add-ons".into());
    let later = bench.engine(&host, &options).run();
    assert!(
        later.is_ok(),
        "what comes later can be done again: {later:?}"
    );
    Ok(())
}

#[test]
fn a_key_on_which_something_stands_that_runs_is_not_made_anew() -> Result<(), Wrong> {
    let mut cases = one_way_cases().into_iter();
    let case = cases.find(|case| case.name.starts_with("cluster with defaults"));
    let bench = Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)?;
    let host = bench.machine();
    let key = format!("{}/tls/ca.key", bench.assets());
    let mut options = bench.options();
    let mut run_to = |step: &str| {
        options.choice.to = Some(step.into());
        options.replan = host
            .set_up(|world| Ok(world.exists("/var/lib/bootlace/lock")))
            .unwrap();
        bench.engine(&host, &options).run().map(drop)
    };
    run_to("render-machine-config").unwrap();
    host.set_up(|world| world.remove(&key)).unwrap();
    run_to("verify-api").unwrap();
    host.set_up(|world| world.remove(&key)).unwrap();
    let fault = run_to("verify-api").unwrap_err();
    assert_eq!(fault.kind.exit_code(), 9, "{fault}");
    assert!(fault.message.contains(&key), "{fault}");
    assert!(!host.set_up(|world| Ok(world.exists(&key))).unwrap());
    Ok(())
}

#[test]
fn an_api_that_says_nothing_is_asked_once_by_verify() -> Result<(), Wrong> {
    let mut cases = one_way_cases().into_iter();
    let case = cases.find(|case| case.name.starts_with("cluster with defaults"));
    let bench = Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)?;
    let host = bench.finished_machine()?;
    host.ail(Ailment::ApiSilent);
    let began = host.now();
    let view = bench.engine(&host, &bench.options()).verify().unwrap();
    let took = host.now().duration_since(began).unsigned_abs();
    let missed = view.checks.iter().filter(|check| !check.ok);
    let missed: Vec<&str> = missed.map(|check| check.found.as_str()).collect();
    assert!(missed.len() > 10, "{missed:?}");
    // Once for each way to it, of which there are few.
    assert!(took < Duration::from_secs(30), "{took:?}");
    Ok(())
}
