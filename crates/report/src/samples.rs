//! Views, records and events for the snapshots of this crate.

mod journal;
mod outcomes;

use bootlace_model::effect::EffectKind;
use bootlace_model::fault::{Fault, FaultKind, Place};
use bootlace_model::ids::StepId;
use bootlace_model::view::{
    ExplainView, ExplainedCheck, ExplainedExpectation, ExplainedFailure, ExplainedStep,
    ExplainedUndo, PlanView, PlannedEffect, PlannedState, PlannedStep,
};
use jiff::Timestamp;

pub(crate) use self::journal::journal;
pub(crate) use self::outcomes::{
    certificates, judged, runs, status, succeeded, undone, verified, verified_interrupted,
};
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
        failures: vec![ExplainedFailure {
            code: "clock-behind".into(),
            shows: "a certificate is not yet valid".into(),
            cause: "the clock of this machine is behind".into(),
            remedy: "`timedatectl` sets it".into(),
        }],
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
        unless: vec![],
        verify_only: false,
    };
    let mut expects: Vec<ExplainedExpectation> = (0..5).map(key).collect();
    let api = ExplainedExpectation {
        what: "https://localhost:6443/readyz answers 200".into(),
        within_seconds: 300,
        because: "nothing after this step works without the API".into(),
        until: (id == "prepare-assets").then(|| "hand-over".into()),
        unless: vec!["kubelet.service fails".into()],
        verify_only: false,
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
        checks: checks(),
    }
}

fn checks() -> Vec<ExplainedCheck> {
    let check = |name: &str, why: &str| ExplainedCheck {
        name: name.into(),
        why: why.into(),
        hint: "stop it".into(),
    };
    let ports = "A component listens there.";
    vec![
        check("Port-6443", ports),
        check("Port-2379", ports),
        check("Swap", "The kubelet refuses to start beside it."),
    ]
}

fn planned_effects() -> Vec<PlannedEffect> {
    let effect = |kind, target: &str, detail: &str, command: &str| PlannedEffect {
        replaces: false,
        kind,
        target: target.into(),
        detail: detail.into(),
        command: command.into(),
    };
    vec![
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
    ]
}

pub(crate) fn planned() -> PlanView {
    let step = |id: &str, state, effects, reason: Option<&str>| PlannedStep {
        id: id.into(),
        state,
        effects,
        reason: reason.map(Into::into),
    };
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
        step(
            "copy-manifests",
            PlannedState::Todo,
            planned_effects(),
            None,
        ),
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
        summary: None,
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
