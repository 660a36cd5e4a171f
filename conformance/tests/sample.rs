//! A sample of the conformance specs on a cluster of `up`, and whether the tables fit the specs.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};

use bootlace_conformance::cluster::Cluster;
use bootlace_conformance::exceptions;
use bootlace_conformance::progress::Progress;
use bootlace_conformance::results::{Outcome, Results};
use bootlace_conformance::suite::{Choice, Suite};
use bootlace_testkit::crash::Sample;

/// How many specs a sample has.
const SAMPLE: u64 = 25;

fn suite(folder: &Path) -> Suite {
    Suite::find(folder).expect("`make lab LAB+=--with-conformance` builds the specs")
}

/// Returns the program under test.
fn bootlace() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/bootlace"),
        PathBuf::from,
    )
}

#[test]
#[ignore = "slow: a cluster, and 25 conformance specs on it"]
fn a_sample_of_the_conformance_specs_passes() {
    let results = Results::read().unwrap();
    let all = results.for_samples();
    let mut sample = Sample::begin();
    let numbers = sample.choose_below(all.len() as u64, SAMPLE);
    let chosen: Vec<String> = (0..)
        .zip(&all)
        .filter(|(number, _)| numbers.contains(number))
        .map(|(_, spec)| (*spec).to_owned())
        .collect();
    eprintln!(
        "seed {}; BOOTLACE_SEED repeats the choice of {} specs",
        sample.seed,
        chosen.len()
    );
    // Containers need a disk, which a temporary filesystem is not.
    let folder = tempfile::TempDir::with_prefix_in("bootlace-test-", "/var/tmp").unwrap();
    let suite = suite(folder.path());
    let cluster = Cluster::up(&bootlace(), &folder.path().join("cluster")).unwrap();
    cluster.import(suite.images()).unwrap();
    let mut progress = Progress::start(chosen.len());
    let ended = suite.run(&cluster.kubeconfig(), Choice::Only(&chosen), 3, |event| {
        progress.count(event);
    });
    progress.end();
    let mut ended = ended.unwrap();
    // As in a full run, a spec that failed beside others gets a second attempt alone.
    let failed: Vec<String> = ended
        .iter()
        .filter(|(_, how)| !how.passed)
        .map(|(spec, _)| spec.clone())
        .collect();
    if !failed.is_empty() {
        let again = suite.run(&cluster.kubeconfig(), Choice::Only(&failed), 1, |_| {});
        ended.extend(again.unwrap());
        let what = format!("specs that needed a second attempt: {}", failed.join(", "));
        bootlace_test_notes::tried(&what, failed.len() as u64, sample.seed);
    }
    for spec in &chosen {
        let how = ended.get(spec).expect("each chosen spec has a result");
        assert!(
            how.passed,
            "{spec} failed; BOOTLACE_SEED={} repeats it:\n{}",
            sample.seed, how.failure
        );
    }
    assert_eq!(ended.len(), chosen.len(), "{ended:?}");
}

#[test]
#[ignore = "slow: it needs the built specs"]
fn exceptions_and_results_name_the_specs_of_this_version() {
    let folder = tempfile::tempdir().unwrap();
    let suite = suite(folder.path());
    let specs = suite.list().unwrap();
    let exceptions = exceptions::all().unwrap();
    assert_eq!(exceptions::stale(&exceptions, &specs), Vec::<&str>::new());
    let results = Results::read().unwrap();
    assert_eq!(results.kubernetes, suite.version());
    let recorded: Vec<&String> = results.specs.iter().map(|row| &row.spec).collect();
    assert_eq!(recorded, specs.iter().collect::<Vec<_>>());
}

#[test]
#[ignore = "slow: it needs the built specs"]
fn the_test_images_have_names_that_specs_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let suite = suite(folder.path());
    let asked = suite.images_asked_for().unwrap();
    let names = suite.image_names().unwrap();
    assert!(!names.is_empty());
    for name in names {
        assert!(asked.contains(&name), "no spec asks for {name}");
    }
}

#[test]
fn what_was_not_run_is_what_the_exceptions_name() {
    let results = Results::read().unwrap();
    let mut named: Vec<String> = exceptions::all()
        .unwrap()
        .into_iter()
        .map(|exception| exception.spec)
        .collect();
    named.sort();
    let not_run: Vec<&String> = results.with(Outcome::NotRun).map(|row| &row.spec).collect();
    assert_eq!(not_run, named.iter().collect::<Vec<_>>());
}
