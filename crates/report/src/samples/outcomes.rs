//! What came of runs.

use bootlace_model::view::{
    BenchmarkCheckView, BenchmarkResult, BenchmarkView, CertificateView, CheckView, PkiView,
    RefusedView, RunStateView, RunSummary, RunsView, StatusView, StepStateView, StepStatus,
    UndoView, VerifyView,
};

use super::{RUN, STEPS, fault};

pub(crate) fn status() -> StatusView {
    let step = |id: &str, state, seconds: Option<f64>| StepStatus {
        id: id.into(),
        state,
        started: seconds.map(|_| "2026-11-15T12:00:00.25Z".into()),
        seconds,
        evidence: vec![],
        reason: None,
        error: None,
    };
    let mut steps = vec![
        step("prepare-assets", StepStateView::Done, Some(0.314)),
        step("copy-manifests", StepStateView::Skipped, Some(0.0)),
        step("release-info", StepStateView::Failed, Some(61.5)),
    ];
    steps[0].evidence = vec!["/opt/bootlace/tls/root-ca.key: mode 0600".into()];
    steps[1].reason = Some("spec.manifests names no folder".into());
    steps[2].error = Some(fault());
    let todo = STEPS.iter().skip(3);
    steps.extend(todo.map(|(id, _, _)| step(id, StepStateView::Todo, None)));
    StatusView {
        run: RUN.into(),
        sequence: "cluster".into(),
        state: RunStateView::Failed,
        steps,
        insecure: vec!["insecure-skip-signature".into()],
        pinned: false,
        refused: vec!["/opt/bootlace/manifests/mine.yaml".into()],
        unknown: None,
    }
}

pub(crate) fn succeeded() -> StatusView {
    let mut view = status();
    view.steps.truncate(3);
    for (step, seconds) in view.steps.iter_mut().zip([0.314, 0.002, 0.11]) {
        step.state = StepStateView::Done;
        step.seconds = Some(seconds);
        step.error = None;
        step.reason = None;
    }
    view.state = RunStateView::Succeeded;
    view.pinned = true;
    view.insecure.clear();
    view.refused.clear();
    view
}

pub(crate) fn verified() -> VerifyView {
    let check = |step: &str, what: &str, ok, found: &str| CheckView {
        step: step.into(),
        what: what.into(),
        ok,
        found: found.into(),
        because: "whoever reads it can sign as the cluster".into(),
        unfinished: false,
    };
    VerifyView {
        run: RUN.into(),
        sequence: "cluster".into(),
        ok: false,
        state: RunStateView::Succeeded,
        checks: vec![
            check(
                "prepare-assets",
                "the key /opt/bootlace/tls/root-ca.key is readable by its owner alone",
                false,
                "mode 0644",
            ),
            check(
                "prepare-assets",
                "/opt/bootlace/tls/root-ca.crt exists",
                true,
                "it does",
            ),
            check(
                "copy-manifests",
                "/opt/bootlace/manifests exists",
                true,
                "it does",
            ),
        ],
    }
}

/// What `verify` says of a run that was killed in its second step.
pub(crate) fn verified_interrupted() -> VerifyView {
    let mut view = verified();
    view.state = RunStateView::Interrupted;
    view.checks[0].ok = true;
    let last = &mut view.checks[2];
    last.what = "the step is done".into();
    last.found = "it was interrupted".into();
    last.because = "A step counts only once it is done and verified.".into();
    (last.ok, last.unfinished) = (false, true);
    view
}

/// What `verify --benchmark` says of a machine on which one thing was changed.
pub(crate) fn judged() -> BenchmarkView {
    let check = |number: &str, title: &str, result, found: &str| BenchmarkCheckView {
        number: number.into(),
        title: title.into(),
        automated: true,
        result,
        found: found.into(),
        remedy: None,
        reason: None,
    };
    let mut checks = vec![
        check(
            "1.1.1",
            "The API server's manifest has mode 0600",
            BenchmarkResult::Pass,
            "/etc/kubernetes/manifests/kube-apiserver-pod.yaml: mode 0600",
        ),
        check(
            "1.1.12",
            "etcd's data belongs to an account of etcd",
            BenchmarkResult::Exception,
            "/var/lib/etcd: owner 0:0",
        ),
        check(
            "1.2.15",
            "The API server serves no profiles",
            BenchmarkResult::Fail,
            "--profiling is true",
        ),
    ];
    checks[1].reason = Some("etcd runs as root in a static pod".into());
    checks[2].remedy = Some(
        "in /etc/kubernetes/manifests/kube-apiserver-pod.yaml, set --profiling to false".into(),
    );
    BenchmarkView {
        benchmark: "cis".into(),
        version: "1.12".into(),
        ok: false,
        passed: 1,
        failed: 1,
        exceptions: 1,
        checks,
    }
}

pub(crate) fn undone() -> UndoView {
    UndoView {
        run: RUN.into(),
        undone: 46,
        refused: vec![RefusedView {
            step: "copy-manifests".into(),
            target: "/opt/bootlace/manifests/mine.yaml".into(),
            why: "someone edited it since: its content is neither what this run wrote nor what was there before".into(),
        }],
    }
}

pub(crate) fn runs() -> RunsView {
    let run = |run: &str, state, done, problem: Option<&str>| RunSummary {
        run: run.into(),
        sequence: "cluster".into(),
        state,
        opened: "2026-11-15T12:00:00Z".into(),
        done,
        of: 23,
        problem: problem.map(Into::into),
    };
    RunsView {
        runs: vec![
            run(
                "20261114T080000Z-cluster-0001",
                Some(RunStateView::Undone),
                0,
                None,
            ),
            run(
                "20261114T090000Z-cluster-0002",
                None,
                0,
                Some("line 17 does not follow line 16: its `prev` is not the hash of that line"),
            ),
            run(RUN, Some(RunStateView::Interrupted), 12, None),
        ],
    }
}

pub(crate) fn certificates() -> PkiView {
    let certificate = |path: &str, days: Option<i64>, problems: &[&str]| CertificateView {
        path: path.into(),
        subject: "O=system:masters, CN=admin".into(),
        issuer: "CN=kubernetes-ca".into(),
        not_after: days.map(|_| "2027-11-15T12:00:00Z".into()),
        days_left: days,
        ok: problems.is_empty(),
        problems: problems.iter().map(|&p| p.into()).collect(),
    };
    PkiView {
        certificates: vec![
            certificate("/opt/bootlace/tls/root-ca.crt", Some(3649), &[]),
            certificate(
                "/opt/bootlace/tls/admin.crt",
                Some(-3),
                &["it expired on 2026-11-12 12:00 UTC"],
            ),
            certificate(
                "/opt/bootlace/tls/kube-apiserver.crt",
                None,
                &["it is absent"],
            ),
        ],
    }
}
