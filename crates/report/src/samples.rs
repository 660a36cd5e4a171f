//! Views, records and events for the snapshots of this crate.

use bootlace_model::effect::{EffectKind, Origin};
use bootlace_model::fault::{Fault, FaultKind, Place};
use bootlace_model::ids::{BootId, Digest, RunId, StepId};
use bootlace_model::record::{Before, EffectRecord, LINE_VERSION, Line, Outcome, Record};
use bootlace_model::view::{
    CertificateView, CheckView, ExplainView, ExplainedExpectation, ExplainedStep, ExplainedUndo,
    PkiView, PlanView, PlannedEffect, PlannedState, PlannedStep, RefusedView, RunStateView,
    RunSummary, RunsView, StatusView, StepStateView, StepStatus, UndoView, VerifyView,
};
use jiff::Timestamp;

use crate::outline::{Outline, OutlinedStep};

pub(crate) const RUN: &str = "20261115T120000Z-cluster-beef";

const STEPS: [(&str, &str, bool); 7] = [
    (
        "prepare-assets",
        "Makes keys, certificates and kubeconfigs",
        true,
    ),
    (
        "copy-manifests",
        "Copies the manifests that the user brought",
        true,
    ),
    (
        "release-info",
        "Reads which images the release consists of",
        true,
    ),
    ("render-api", "Renders the API's own definitions", false),
    (
        "render-kube-controller-manager",
        "Renders the controllers' static pod and its config",
        false,
    ),
    (
        "hand-over",
        "Gives the cluster to its own control plane",
        false,
    ),
    (
        "clean-assets",
        "Removes what only the bootstrap needed",
        false,
    ),
];

pub(crate) fn outline() -> Outline {
    let steps = STEPS.map(|(id, title, built)| OutlinedStep {
        id: id.into(),
        title: title.into(),
        built,
    });
    Outline {
        sequence: "cluster".into(),
        about: "Brings up a control plane from nothing but this machine.".into(),
        steps: steps.into(),
    }
}

pub(crate) fn id(step: &str) -> StepId {
    StepId::new("cluster", step)
}

pub(crate) fn at(millis: i64) -> Timestamp {
    let noon: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    Timestamp::from_millisecond(noon.as_millisecond() + millis).unwrap()
}

pub(crate) fn explained() -> ExplainView {
    let steps = STEPS.map(|(id, title, built)| explained_step(id, title, built));
    ExplainView {
        sequence: "cluster".into(),
        steps: steps.into(),
    }
}

fn explained_step(id: &str, title: &str, built: bool) -> ExplainedStep {
    let why = "Every component proves who it is with a certificate, and every certificate is \
               signed by an authority that the others trust. Type `bootlace pki list` to see the \
               whole tree. Keys never leave the machine on which they are made.\n\nA second \
               paragraph says what would go wrong without this step.";
    let key = |n: u32| ExplainedExpectation {
        what: format!("the key /opt/bootlace/tls/key-{n}.key is readable by its owner alone"),
        within_seconds: 0,
        because: "whoever reads it can sign as the cluster".into(),
        until: Some("hand-over".into()),
    };
    let mut expects: Vec<ExplainedExpectation> = (0..5).map(key).collect();
    let api = ExplainedExpectation {
        what: "https://localhost:6443/readyz answers 200".into(),
        within_seconds: 300,
        because: "nothing after this step works without the API".into(),
        until: (id == "prepare-assets").then(|| "hand-over".into()),
    };
    expects.insert(2, api);
    let (policy, undo) = match id {
        "hand-over" => (
            "point-of-no-return",
            "the first control plane is gone after this",
        ),
        "clean-assets" => (
            "forward-only",
            "what was cleaned can be made again by a new run",
        ),
        _ => ("inverse", ""),
    };
    ExplainedStep {
        id: id.into(),
        title: title.into(),
        why: why.into(),
        reads: vec!["spec.controlPlane".into(), "spec.network".into()],
        writes: vec!["/opt/bootlace/tls/".into(), "/opt/bootlace/auth/".into()],
        command: "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \\\n  -out /opt/bootlace/tls/root-ca.key".into(),
        expects,
        undo: ExplainedUndo {
            policy: policy.into(),
            why: undo.into(),
        },
        failures: vec!["clock-behind".into(), "key-unreadable".into()],
        needs: if id == "prepare-assets" { vec![] } else { vec!["prepare-assets".into()] },
        built,
    }
}

pub(crate) fn planned() -> PlanView {
    let effect = |kind, target: &str, detail: &str, command: &str| PlannedEffect {
        kind,
        target: target.into(),
        detail: detail.into(),
        command: command.into(),
    };
    let step = |id: &str, state, effects, reason: Option<&str>| PlannedStep {
        id: id.into(),
        state,
        effects,
        reason: reason.map(Into::into),
    };
    let effects = vec![
        effect(
            EffectKind::MakeDirectory,
            "/opt/bootlace/manifests",
            "mode 0755",
            "install -d -m 0755 /opt/bootlace/manifests",
        ),
        effect(
            EffectKind::IssueCertificate,
            "/opt/bootlace/tls/kube-apiserver-to-kubelet-client.crt",
            "O=system:masters, CN=kube-apiserver-kubelet-client, signed by kubernetes-ca.crt, 365 days",
            "openssl req -x509 -new -key /opt/bootlace/tls/a.key",
        ),
        effect(
            EffectKind::DropPath,
            "/opt/bootlace/old",
            "kept for undo",
            "rm -rf /opt/bootlace/old",
        ),
        effect(
            EffectKind::SetUnit,
            "kubelet.service",
            "enabled, by links",
            "systemctl enable kubelet.service",
        ),
        effect(
            EffectKind::RunCommand,
            "load-modules",
            "within 10 s, may be run again",
            "modprobe overlay",
        ),
    ];
    let unbuilt = STEPS.iter().skip(3).map(|(id, _, _)| {
        step(
            id,
            PlannedState::Unknown,
            vec![],
            Some("this step is not built yet"),
        )
    });
    let mut steps = vec![
        step("prepare-assets", PlannedState::Done, vec![], None),
        step("copy-manifests", PlannedState::Todo, effects, None),
        step(
            "release-info",
            PlannedState::Unknown,
            vec![],
            Some(
                "release.digest is known after copy-manifests, which has to run before this can be told",
            ),
        ),
    ];
    steps.extend(unbuilt);
    PlanView {
        sequence: "cluster".into(),
        steps,
    }
}

pub(crate) fn fault() -> Fault {
    let place = Place {
        file: "release.yaml".into(),
        line: Some(7),
        column: Some(5),
    };
    Fault::new(
        FaultKind::StepFailed,
        "the release names the image etcd twice, with different digests, so that it cannot be \
         told which one is meant",
    )
    .in_step(&id("release-info"))
    .at(place)
    .because("a cluster that runs two versions of etcd loses writes")
    .detail("sha256:1111111111111111111111111111111111111111111111111111111111111111")
    .detail("an evil \x1b[2Jdetail")
    .hint("remove one of the two lines, then type `bootlace resume cluster`")
    .hint("`bootlace undo cluster` takes back what was done so far")
}

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
    };
    VerifyView {
        run: RUN.into(),
        sequence: "cluster".into(),
        ok: false,
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

/// Makes journal lines of records, a tenth of a second apart.
pub(crate) fn lines(records: Vec<Record>) -> Vec<Line> {
    let numbered = (0_u32..).zip(records);
    let lines = numbered.map(|(n, rec)| Line {
        v: LINE_VERSION,
        seq: u64::from(n),
        prev: Digest::of(b""),
        at: at(i64::from(n) * 100),
        rec,
    });
    lines.collect()
}

fn intent(n: u64, step: &str, kind: EffectKind) -> Record {
    let effect = EffectRecord {
        kind,
        target: format!("/opt/bootlace/file-{n}"),
        digest: None,
        origin: Origin::new("built-in", "sample"),
        undo: None,
        products: vec![],
        no_inverse: None,
    };
    Record::Intent {
        n,
        step: id(step),
        effect,
        before: Before::default(),
    }
}

fn done(n: u64, found: bool) -> Record {
    Record::Done {
        n,
        after: vec![],
        found,
    }
}

pub(crate) fn journal() -> Vec<Line> {
    let boot = BootId::new("00000000-0000-0000-0000-000000000000");
    let mut records = vec![
        Record::RunOpened {
            run: RunId::parse(RUN).unwrap(),
            sequence: "cluster".into(),
            config: serde_json::json!({}),
            tool: "0.1.0".into(),
            boot: boot.clone(),
            insecure: vec!["insecure-skip-signature".into()],
        },
        Record::StepStarted {
            step: id("prepare-assets"),
        },
        Record::StepPlanned {
            step: id("prepare-assets"),
            plan: Digest::of(b"plan"),
            effects: 6,
        },
    ];
    let kinds = [EffectKind::MakeKey, EffectKind::PutFile];
    records.extend(
        (0..6)
            .zip(kinds.iter().cycle())
            .map(|(n, kind)| intent(n, "prepare-assets", *kind)),
    );
    records.extend((0..6).map(|n| done(n, n == 5)));
    records.extend([
        Record::FactLearned {
            step: id("prepare-assets"),
            fact: "pki.root".into(),
            value: serde_json::json!("sha256:11"),
        },
        Record::Verified {
            step: id("prepare-assets"),
            evidence: vec!["root-ca.key: mode 0600".into(), "root-ca.crt: valid".into()],
        },
        Record::StepStarted {
            step: id("copy-manifests"),
        },
        Record::StepStarted {
            step: id("release-info"),
        },
        intent(6, "copy-manifests", EffectKind::PutFile),
        intent(7, "release-info", EffectKind::PutFile),
        done(7, false),
        Record::TailCut { bytes: 120 },
        Record::RunResumed {
            config: Some(serde_json::json!({})),
            tool: "0.1.1".into(),
            boot,
            insecure: vec![],
        },
        Record::Skipped {
            step: id("clean-assets"),
            reason: "assets were not pulled from a store".into(),
        },
        Record::Failed {
            step: id("release-info"),
            fault: fault(),
        },
        Record::RunClosed {
            outcome: Outcome::Failed,
        },
        Record::UndoIntent { n: 7 },
        Record::UndoDone { n: 7, forced: true },
        Record::UndoRefused {
            n: 5,
            target: "/opt/bootlace/file-5".into(),
            why: "someone edited it since".into(),
        },
        Record::StepUndone {
            step: id("release-info"),
        },
        Record::Unknown,
    ]);
    lines(records)
}
