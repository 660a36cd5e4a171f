//! A journal in which every kind of record happens.

use bootlace_model::effect::{EffectKind, Origin};
use bootlace_model::ids::{BootId, Digest, RunId};
use bootlace_model::record::{
    Before, EffectRecord, Foreign, ForeignKind, LINE_VERSION, Line, Outcome, Record,
};

use super::{RUN, at, fault, id};

/// Makes journal lines of records, a tenth of a second apart.
fn lines(records: Vec<Record>) -> Vec<Line> {
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
        given: None,
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

/// Returns a run that begins well, is cut off, resumed, fails, and is taken back.
pub(crate) fn journal() -> Vec<Line> {
    let mut records = first_step();
    records.extend(cut_off());
    records.extend(taken_back());
    lines(records)
}

fn boot() -> BootId {
    BootId::new("00000000-0000-0000-0000-000000000000")
}

fn first_step() -> Vec<Record> {
    let mut records = vec![
        Record::RunOpened {
            goal: bootlace_model::step::Choice::default(),
            run: RunId::parse(RUN).unwrap(),
            sequence: "cluster".into(),
            config: serde_json::json!({}),
            tool: "0.1.0".into(),
            boot: boot(),
            insecure: vec!["insecure-skip-signature".into()],
        },
        Record::StepStarted {
            step: id("prepare-assets"),
            undo: None,
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
            reason: None,
        },
    ]);
    records
}

fn cut_off() -> Vec<Record> {
    vec![
        Record::StepStarted {
            step: id("copy-manifests"),
            undo: None,
        },
        Record::StepStarted {
            step: id("release-info"),
            undo: None,
        },
        intent(6, "copy-manifests", EffectKind::PutFile),
        intent(7, "release-info", EffectKind::PutFile),
        done(7, false),
        Record::TailCut { bytes: 120 },
        Record::RunResumed {
            goal: None,
            config: Some(serde_json::json!({})),
            tool: "0.1.1".into(),
            boot: boot(),
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
    ]
}

fn taken_back() -> Vec<Record> {
    vec![
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
        Record::Foreign(Foreign {
            kind: ForeignKind::Other,
            what: "landed: unknown variant `landed`".into(),
        }),
    ]
}
