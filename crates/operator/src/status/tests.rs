use proptest::prelude::*;

use super::*;

fn progress(phase: Phase) -> Progress {
    Progress {
        generation: 3,
        release: Release {
            version: "v1.36.3".into(),
            image: "registry.example/release".into(),
            digest: "sha256:aa".into(),
        },
        manifests: Manifests {
            total: 12,
            applied: 5,
            level: 20,
        },
        left_alone: 0,
        phase,
    }
}

fn waiting(missing: &[&str], troubles: Vec<Problem>) -> Phase {
    Phase::Waiting {
        missing: missing.iter().map(ToString::to_string).collect(),
        troubles,
    }
}

fn problem(kind: ProblemKind) -> Problem {
    Problem {
        kind,
        what: "0000_30_dns_x.yaml, document 2, Deployment kube-system/coredns".into(),
        why: "spec.replicas: Invalid value (HTTP 422)".into(),
    }
}

fn find<'s>(status: &'s Status, name: &str) -> &'s Condition {
    let mut conditions = status.conditions.iter();
    conditions.find(|condition| condition.name == name).unwrap()
}

fn said(status: &Status) -> [&str; 3] {
    ["Available", "Progressing", "Failing"].map(|name| find(status, name).status.as_str())
}

#[test]
fn an_installation_is_told_from_its_beginning_to_its_end() {
    let status = next(&Status::default(), &progress(Phase::Applying), "t1");
    assert_eq!(said(&status), ["False", "True", "False"]);
    assert_eq!(status.observed_generation, 3);
    assert_eq!(status.history[0].state, PARTIAL);

    let waiting = waiting(
        &["DaemonSet kube-system/kube-proxy (0 of 1 available)"],
        vec![],
    );
    let status = next(&status, &progress(waiting), "t2");
    assert_eq!(said(&status), ["False", "True", "False"]);
    let message = &find(&status, "Progressing").message;
    assert_eq!(
        message,
        "run level 20: 5 of 12 manifests applied, waiting for DaemonSet kube-system/kube-proxy (0 of 1 available)"
    );

    let status = next(&status, &progress(Phase::Done(vec![])), "t3");
    assert_eq!(said(&status), ["True", "False", "False"]);
    assert_eq!(status.history.len(), 1);
    assert_eq!(status.history[0].started_time, "t1");
    assert_eq!(status.history[0].completion_time.as_deref(), Some("t3"));
    assert!(status.has_completed(&progress(Phase::Applying).release));
}

#[test]
fn a_broken_manifest_is_named_until_it_is_right() {
    let failed = Phase::Failed(vec![
        problem(ProblemKind::NotReady),
        problem(ProblemKind::Broken),
    ]);
    let status = next(&Status::default(), &progress(failed), "t1");
    assert_eq!(said(&status), ["False", "True", "True"]);
    let failing = find(&status, "Failing");
    assert_eq!(failing.reason, "ManifestBroken");
    assert!(
        failing.message.starts_with(
            "0000_30_dns_x.yaml, document 2, Deployment kube-system/coredns: spec.replicas"
        ),
        "{}",
        failing.message
    );
    let again = next(&status, &progress(Phase::Applying), "t2");
    assert_eq!(find(&again, "Failing"), failing);
    let done = next(&again, &progress(Phase::Done(vec![])), "t3");
    assert_eq!(said(&done), ["True", "False", "False"]);
    assert_eq!(find(&done, "Failing").last_transition_time, "t3");
}

#[test]
fn trouble_is_told_while_it_is_waited_for() {
    let status = next(&Status::default(), &progress(waiting(&["x"], vec![])), "t1");
    assert_eq!(said(&status), ["False", "True", "False"]);
    let trouble = problem(ProblemKind::NotReady);
    let status = next(&status, &progress(waiting(&["x"], vec![trouble])), "t2");
    assert_eq!(said(&status), ["False", "True", "True"]);
    assert_eq!(find(&status, "Failing").reason, "WorkloadNotReady");
    let status = next(&status, &progress(Phase::Done(vec![])), "t3");
    assert_eq!(said(&status), ["True", "False", "False"]);
}

#[test]
fn what_breaks_after_the_installation_does_not_make_it_undone() {
    let done = next(&Status::default(), &progress(Phase::Done(vec![])), "t1");
    let failed = Phase::Failed(vec![problem(ProblemKind::NotReady)]);
    let status = next(&done, &progress(failed), "t2");
    assert_eq!(said(&status), ["True", "False", "True"]);
    assert_eq!(status.history, done.history);
}

#[test]
fn another_release_is_another_attempt() {
    let done = next(&Status::default(), &progress(Phase::Done(vec![])), "t1");
    let mut newer = progress(Phase::Applying);
    newer.release.version = "v1.36.4".into();
    newer.release.digest = "sha256:bb".into();
    let status = next(&done, &newer, "t2");
    assert_eq!(said(&status), ["False", "True", "False"]);
    let versions: Vec<&str> = status.history.iter().map(|a| a.version.as_str()).collect();
    assert_eq!(versions, ["v1.36.4", "v1.36.3"]);
    assert_eq!(status.history[0].started_time, "t2");
}

#[test]
fn drift_that_was_put_right_is_told() {
    let repaired = vec!["ConfigMap kube-system/coredns".to_owned()];
    let status = next(&Status::default(), &progress(Phase::Done(repaired)), "t1");
    let message = &find(&status, "Progressing").message;
    assert!(
        message.ends_with("put right last: ConfigMap kube-system/coredns"),
        "{message}"
    );
}

#[test]
fn conditions_of_others_are_kept() {
    let mut status = Status::default();
    status.conditions.push(Condition {
        name: "Upgradeable".into(),
        status: "True".into(),
        ..Condition::default()
    });
    let next = next(&status, &progress(Phase::Applying), "t1");
    assert_eq!(next.conditions[0], status.conditions[0]);
    assert_eq!(next.conditions.len(), 4);
}

#[test]
fn the_status_is_written_with_the_names_of_its_schema() {
    let status = next(&Status::default(), &progress(Phase::Done(vec![])), "t1");
    let json = serde_json::to_value(&status).unwrap();
    for at in [
        "/observedGeneration",
        "/desired/digest",
        "/conditions/0/type",
        "/conditions/0/lastTransitionTime",
        "/history/0/startedTime",
        "/history/0/completionTime",
        "/manifests/applied",
        "/manifests/level",
    ] {
        assert!(json.pointer(at).is_some(), "{at}: {json}");
    }
}

fn phases() -> impl Strategy<Value = Phase> {
    let word = prop::sample::select(vec!["a", "b"]).prop_map(ToOwned::to_owned);
    prop_oneof![
        Just(Phase::Applying),
        (
            prop::collection::vec(word.clone(), 0..3),
            prop::collection::vec(Just(problem(ProblemKind::NotReady)), 0..2)
        )
            .prop_map(|(missing, troubles)| Phase::Waiting { missing, troubles }),
        prop::collection::vec(word, 0..3).prop_map(Phase::Done),
        prop::collection::vec(
            prop::sample::select(vec![
                ProblemKind::Broken,
                ProblemKind::Refused,
                ProblemKind::NotReady
            ]),
            0..3
        )
        .prop_map(|kinds| Phase::Failed(kinds.into_iter().map(problem).collect())),
    ]
}

proptest! {
    /// Nothing new to tell: the same status, so that nothing is written.
    #[test]
    fn telling_twice_is_telling_once(phases in prop::collection::vec(phases(), 1..6)) {
        let mut status = Status::default();
        for (n, phase) in phases.into_iter().enumerate() {
            let progress = progress(phase);
            status = next(&status, &progress, &format!("t{n}"));
            prop_assert_eq!(&next(&status, &progress, "later"), &status);
        }
    }

    /// The oracle remembers when each condition last said something else.
    #[test]
    fn times_are_those_of_the_last_change(phases in prop::collection::vec(phases(), 1..8)) {
        let mut status = Status::default();
        let mut changed = std::collections::BTreeMap::<String, (String, String)>::new();
        for (n, phase) in phases.into_iter().enumerate() {
            let now = format!("t{n}");
            status = next(&status, &progress(phase), &now);
            for condition in &status.conditions {
                let entry = changed.entry(condition.name.clone()).or_default();
                if entry.0 != condition.status {
                    *entry = (condition.status.clone(), now.clone());
                }
                prop_assert_eq!(&entry.1, &condition.last_transition_time);
            }
        }
    }
}
