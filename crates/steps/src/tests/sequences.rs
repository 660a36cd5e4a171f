//! Rules that every sequence keeps, whoever writes its steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bootlace_model::config::{Profile, Settings};
use bootlace_model::effect::Effect;
use bootlace_model::fact::Facts;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Answer;
use bootlace_model::step::{PlanError, Sequence, Step};

use serde_json::{Value, json};

use super::{effects, path, settings, step, tree};
use crate::{SEQUENCES, release, sequence};

/// Facts with which every built step can plan.
fn facts() -> Facts {
    let mut facts = Facts::default();
    facts.set("machine.name", Answer::Json("node-1".into()));
    facts.set("manifests.copied", Answer::Content(None));
    facts.set("node.name", Answer::Json("node-1".into()));
    facts.set("auth.bootstrap-token", Answer::Content(None));
    let release = release::built_in("v1.36.3");
    facts.set("release.version", Answer::Json(release.version.into()));
    facts.set("release.images", Answer::Json(json!(release.images)));
    facts.set("release.digest", Answer::Json(Value::Null));
    for (_, _, step) in each() {
        let listed = format!("{}.listed", step.name());
        facts.set(listed, Answer::Content(None));
    }
    let manifest = "{apiVersion: v1, kind: Secret, metadata: {name: a}}";
    facts.set(
        "start-control-plane.now",
        Answer::Json("2026-01-01T00:00:00Z".into()),
    );
    for name in ["manifests.all", "release.manifests", "add-ons"] {
        facts.set(name, Answer::Tree(tree(&[("a.yaml", manifest)])));
    }
    let version = "{apiVersion: v1, kind: ClusterVersion, metadata: {name: version}}";
    let operator = [
        ("manifests/a.yaml", version),
        ("original-overrides.json", "{\"spec\": {\"overrides\": []}}"),
    ];
    facts.set("manifests.operator", Answer::Tree(tree(&operator)));
    super::ignition::set_facts(&mut facts);
    facts.set(
        "manifests.00",
        Answer::Tree(tree(&[("sub/a.yaml", manifest)])),
    );
    facts
}

/// Settings with which every built step has something to do.
fn rich() -> Settings {
    let mut settings = settings();
    settings.cluster.manifests = vec![path("/srv/manifests")];
    settings.cluster.add_ons = Some(path("/srv/add-ons"));
    settings.ignition = Some(super::ignition::config());
    settings
}

fn each() -> impl Iterator<Item = (&'static Sequence, usize, &'static dyn Step)> {
    SEQUENCES.iter().flat_map(|sequence| {
        let steps = sequence.steps.iter().enumerate();
        steps.map(move |(n, step)| (sequence, n, *step))
    })
}

/// Lists the steps that must be verified before a step, however far back.
fn before(sequence: &Sequence, step: &dyn Step) -> BTreeSet<&'static str> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&'static str> = step.needs().to_vec();
    while let Some(name) = open.pop() {
        if all.insert(name) {
            open.extend(sequence.steps[sequence.position(name).unwrap()].needs());
        }
    }
    all
}

#[test]
fn the_cluster_has_exactly_the_promised_steps() {
    let cluster = sequence("cluster").unwrap();
    let names: Vec<&str> = cluster.steps.iter().map(|step| step.name()).collect();
    let promised = "prepare-assets copy-manifests release-info render-api render-auth \
        render-config render-version-operator render-etcd render-kube-apiserver \
        render-kube-controller-manager render-kube-scheduler render-ingress render-machine-config \
        start-control-plane restore-overrides verify-api wait-masters wait-etcd wait-control-plane \
        wait-version-operator hand-over add-ons clean-assets";
    let promised: Vec<&str> = promised.split_whitespace().collect();
    assert_eq!(names, promised);
    assert_eq!(sequence("cluster").map(|it| it.name), Some("cluster"));
    assert!(sequence("nonsense").is_none());
}

#[test]
fn names_are_unique_and_needs_point_backwards() {
    for sequence in SEQUENCES {
        let mut known = BTreeSet::new();
        for step in sequence.steps {
            for needed in step.needs() {
                let name = step.name();
                assert!(
                    known.contains(needed),
                    "{name} needs {needed}, which is not before it"
                );
            }
            let unique: BTreeSet<_> = step.needs().iter().collect();
            assert_eq!(
                unique.len(),
                step.needs().len(),
                "{} repeats itself",
                step.name()
            );
            assert!(known.insert(step.name()), "{} is there twice", step.name());
        }
    }
}

#[test]
fn steps_run_side_by_side_as_the_picture_shows() {
    let sequence = sequence("cluster").unwrap();
    let mut waves: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::new();
    for step in sequence.steps {
        let wave = step.needs().iter().map(|needed| waves[needed] + 1).max();
        waves.insert(step.name(), wave.unwrap_or(1));
    }
    for wave in 1..=waves.values().copied().max().unwrap() {
        let inside = sequence.steps.iter().map(|step| step.name());
        let inside: Vec<&str> = inside.filter(|name| waves[name] == wave).collect();
        writeln!(text, "{wave:>2}  {}", inside.join("  ")).unwrap();
    }
    insta::assert_snapshot!(text);
}

/// Counts sentences: a period, question or exclamation mark, then a space or the end.
fn sentences(text: &str) -> usize {
    let ends = [". ", "? ", "! "].map(|end| text.matches(end).count());
    ends.iter().sum::<usize>() + usize::from(text.ends_with(['.', '?', '!']))
}

#[test]
fn every_why_teaches_in_two_to_six_sentences() {
    for (_, _, step) in each() {
        let about = step.about();
        let count = sentences(about.why);
        assert!(
            (2..=6).contains(&count),
            "{}: {count} sentences",
            step.name()
        );
        assert!(
            about.why.ends_with('.') && about.why.len() > 300,
            "{}",
            step.name()
        );
        assert!(
            !about.why.contains("  ") && !about.why.contains('\n'),
            "{}",
            step.name()
        );
        assert!(
            !about.title.ends_with('.') && !about.title.is_empty(),
            "{}",
            step.name()
        );
        let lists = [about.reads, about.writes, about.failures];
        assert!(lists.iter().all(|list| !list.is_empty()), "{}", step.name());
        assert!(!about.command.is_empty(), "{}", step.name());
        let widest = about.command.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{}: {widest:?}", step.name());
    }
}

#[test]
fn failures_are_codes_of_the_catalogue() {
    let known: BTreeSet<String> = (1..=54)
        .map(|n| format!("F-{n:02}"))
        .chain((1..=7).map(|n| format!("I-{n:02}")))
        .chain(["N-01".into()])
        .collect();
    let mut used = BTreeSet::new();
    for (_, _, step) in each() {
        let codes = step.about().failures;
        assert!(codes.is_sorted(), "{}: {codes:?}", step.name());
        used.extend(codes.iter().map(|code| (*code).to_owned()));
    }
    assert_eq!(used, known, "each known failure belongs to a step");
}

#[test]
fn facts_are_yielded_before_they_are_used() {
    let settings = rich();
    for (sequence, _, step) in each() {
        let before = before(sequence, step);
        let yielded: BTreeSet<&str> = sequence
            .steps
            .iter()
            .filter(|earlier| before.contains(earlier.name()))
            .flat_map(|earlier| earlier.yields(&settings))
            .map(|ask| ask.fact)
            .collect();
        for fact in step.uses() {
            let name = step.name();
            assert!(
                yielded.contains(fact),
                "{name} uses {fact}, which no needed step yields"
            );
        }
    }
}

#[test]
fn a_fact_has_one_source() {
    let settings = rich();
    let mut sources = BTreeMap::new();
    for (_, _, step) in each() {
        for ask in step
            .asks(&settings)
            .into_iter()
            .chain(step.yields(&settings))
        {
            let source = sources.entry(ask.fact).or_insert_with(|| ask.probe.clone());
            assert_eq!(*source, ask.probe, "{} has two sources", ask.fact);
        }
    }
}

#[test]
fn every_step_expects_something_for_a_reason_and_an_end_that_comes() {
    for profile in [Profile::Kubernetes, Profile::Openshift] {
        let mut settings = rich();
        settings.cluster.profile = profile;
        settings.cluster.add_ons = Some(path("/srv/add-ons"));
        for (sequence, n, step) in each() {
            let expectations = step.expects(&settings, &Facts::default());
            assert!(!expectations.is_empty(), "{} expects nothing", step.name());
            for expectation in expectations {
                let what = expectation.claim.what();
                assert_eq!(
                    sentences(expectation.because),
                    1,
                    "{what}: {}",
                    expectation.because
                );
                if let Some(until) = expectation.until {
                    let end = sequence.position(until);
                    assert!(
                        end > Some(n),
                        "{what} ends with {until}, which is not later"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_kept_in_the_assets_is_not_expected_after_they_are_cleaned() {
    for profile in [Profile::Kubernetes, Profile::Openshift] {
        let mut settings = settings();
        settings.cluster.profile = profile;
        for (_, _, step) in each().filter(|(_, _, step)| step.name() != "clean-assets") {
            for expectation in step.expects(&settings, &Facts::default()) {
                let inside = format!("{:?}", expectation.claim).contains("/opt/bootlace/");
                let ends = expectation.until == Some("clean-assets");
                assert_eq!(
                    inside,
                    ends,
                    "{}: {}",
                    step.name(),
                    expectation.claim.what()
                );
            }
        }
    }
}

#[test]
fn built_steps_write_only_what_they_say() {
    let (settings, facts) = (rich(), facts());
    for (_, _, step) in each().filter(|(_, _, step)| step.about().built) {
        for effect in effects(step.name(), &settings, &facts) {
            // What acts writes no path of its own.
            let Some(path) = effect.path().map(TargetPath::as_str) else {
                continue;
            };
            let named = path.replace("/opt/bootlace", "ASSETS");
            let covers = |written: &&str| match written.strip_suffix('/') {
                Some(folder) => named == folder || named.starts_with(*written),
                None => named == **written,
            };
            let written = step.about().writes;
            assert!(written.iter().any(covers), "{} writes {named}", step.name());
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_effects() {
    let (settings, facts) = (rich(), facts());
    for (_, _, step) in each().filter(|(_, _, step)| step.about().built) {
        let first = effects(step.name(), &settings, &facts);
        assert_eq!(first, effects(step.name(), &settings, &facts));
        let named = |effect: &Effect| format!("{:?} {}", effect.kind(), effect.target());
        let targets: BTreeSet<String> = first.iter().map(named).collect();
        assert_eq!(
            targets.len(),
            first.len(),
            "{} wants one thing twice",
            step.name()
        );
    }
}

#[test]
fn built_steps_name_every_fact_that_they_read() {
    let settings = rich();
    for (_, _, step) in each().filter(|(_, _, step)| step.about().built) {
        let mut asked = Facts::default();
        for ask in step.asks(&settings) {
            asked.set(ask.fact, facts().answer(ask.fact).unwrap().clone());
        }
        for fact in step.uses() {
            asked.set(*fact, facts().answer(fact).unwrap().clone());
        }
        let plan = step.plan(&settings, &asked);
        assert!(plan.is_ok(), "{}: {plan:?}", step.name());
    }
}

#[test]
fn every_step_is_built() {
    for (_, _, step) in each() {
        assert!(step.about().built, "{} is not built", step.name());
    }
}

#[test]
fn a_plan_without_its_facts_says_which_is_missing() {
    let error = step("prepare-assets").plan(&settings(), &Facts::default());
    assert!(matches!(error, Err(PlanError::Fact(_))), "{error:?}");
}
