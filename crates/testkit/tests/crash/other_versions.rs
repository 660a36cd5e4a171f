//! Journals that another version of the tool wrote a part of: read, shown, and never written past.

use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

use bootlace_engine::{Engine, Options, begun_with, runs};
use bootlace_model::fault::FaultKind;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Line, Record};
use bootlace_testkit::crash::{Bench, Sample, Wrong};
use bootlace_testkit::fake::FakeHost;
use bootlace_testkit::tree::Snapshot;
use serde_json::{Value, json};

/// What no version knows.
const FUTURE: &str = "of-the-future";
/// The version that is said to have written it.
const TOOL: &str = "9.9.9";

/// A line with something unknown in it.
struct Change {
    /// Counted from 0.
    line: usize,
    /// Where in the record.
    place: String,
    record: Value,
}

/// Says what is wrong unless something holds.
fn expect(holds: bool, what: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong(what())) }
}

/// Finds each place of a record at which a name stands that chooses between variants: where serde
/// knows no other name.
fn changes_of(record: &Value) -> Vec<(String, Value)> {
    let mut places = vec![];
    walk(record, String::new(), &mut places);
    let mut found = vec![];
    for (place, is_key) in places {
        let mut changed = record.clone();
        if is_key {
            rename(&mut changed, &place);
        } else if let Some(value) = changed.pointer_mut(&place) {
            *value = FUTURE.into();
        }
        let read = serde_json::from_value::<Record>(changed.clone());
        if read.is_err_and(|error| error.to_string().contains("unknown variant")) {
            found.push((place, changed));
        }
    }
    found
}

/// Lists the places of texts, and of objects' keys.
fn walk(value: &Value, place: String, places: &mut Vec<(String, bool)>) {
    match value {
        Value::String(_) => places.push((place, false)),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                walk(item, format!("{place}/{n}"), places);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                let below = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                places.push((below.clone(), true));
                walk(field, below, places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Gives a key another name.
fn rename(value: &mut Value, place: &str) {
    let Some((above, key)) = place.rsplit_once('/') else {
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    if let Some(Value::Object(fields)) = value.pointer_mut(above)
        && let Some(field) = fields.remove(&key)
    {
        fields.insert(FUTURE.into(), field);
    }
}

/// The place without numbers, and what stands there: one of each is enough.
fn shape(record: &Value, place: &str) -> String {
    let parts = place.split('/');
    let parts = parts.map(|part| {
        if part.parse::<u64>().is_ok() {
            "*"
        } else {
            part
        }
    });
    let parts: Vec<&str> = parts.collect();
    let there = record
        .pointer(place)
        .and_then(Value::as_str)
        .unwrap_or_default();
    format!("{} {} {there}", record["kind"], parts.join("/"))
}

/// Where the journal of a machine's only run lies, and its lines.
fn journal(bench: &Bench, host: &FakeHost) -> Result<(TargetPath, Vec<Line>), Wrong> {
    let tree = Snapshot::of_fake(host, &[]);
    let mut files = tree.files.into_keys();
    let path = files.find(|path| path.as_str().ends_with("/journal.jsonl"));
    let path = path.ok_or_else(|| Wrong("there is no journal".into()))?;
    let (mut lines, options) = (vec![], bench.options());
    let log = bench
        .engine(host, &options)
        .log(&mut |_, line| lines.push(line.clone()));
    log.map_err(|fault| Wrong::fault("log", &fault))?;
    Ok((path, lines))
}

/// Writes a journal with its hashes; `v` is that of the changed line.
fn write(records: &[(Value, u32)]) -> Vec<u8> {
    let (mut text, mut prev) = (String::new(), Digest::of(b""));
    for (seq, (record, v)) in records.iter().enumerate() {
        let content = format!(
            r#"{{"v":{v},"seq":{seq},"prev":"{prev}","at":"2026-01-01T00:00:00Z","rec":{record}"#
        );
        prev = Digest::of(content.as_bytes());
        text.extend([&content, ",\"hash\":\"", &prev.to_string(), "\"}\n"]);
    }
    text.into_bytes()
}

/// The records of a finished run, its tool, and records that it happens to lack.
fn records(lines: &[Line]) -> Result<Vec<Value>, Wrong> {
    let values = lines.iter().map(|line| serde_json::to_value(&line.rec));
    let mut records: Vec<Value> = values
        .collect::<Result<_, _>>()
        .map_err(|error| Wrong(error.to_string()))?;
    records[0]["tool"] = TOOL.into();
    let step = records.iter().find_map(|record| record["step"].as_str());
    let step = step.unwrap_or_default().to_owned();
    let end = records.pop();
    records.push(json!({"kind": "step-started", "step": step,
        "undo": {"policy": "forward-only", "why": "it stays"}}));
    records.push(json!({"kind": "failed", "step": step,
        "fault": {"kind": "step-failed", "message": "it failed"}}));
    records.extend(end);
    Ok(records)
}

/// Lists one change for each place and each name that chooses a variant.
fn changes(records: &[Value]) -> Vec<Change> {
    let mut found = BTreeMap::new();
    for (line, record) in records.iter().enumerate() {
        for (place, changed) in changes_of(record) {
            // Without a first record of this kind there is no run.
            if line > 0 || place != "/kind" {
                let change = Change {
                    line,
                    record: changed,
                    place: place.clone(),
                };
                found.entry(shape(record, &place)).or_insert(change);
            }
        }
    }
    found.into_values().collect()
}

/// Tries every verb on a machine whose journal has something unknown on a line.
fn is_read_and_kept(
    bench: &Bench,
    host: &FakeHost,
    line: usize,
    lines: usize,
) -> Result<(), Wrong> {
    let number = line as u64 + 1;
    let before = Snapshot::of_fake(host, &[]);
    let status = bench.status(host);
    let status = status.map_err(|fault| Wrong::fault("status", &fault))?;
    let unknown = status.unknown.as_ref();
    expect(
        unknown.is_some_and(|unknown| unknown.line == number && unknown.tool == TOOL),
        || format!("status says {unknown:?}"),
    )?;
    let options = bench.options();
    let mut shown = 0;
    let log = bench.engine(host, &options).log(&mut |_, _| shown += 1);
    log.map_err(|fault| Wrong::fault("log", &fault))?;
    expect(shown == lines, || {
        format!("log shows {shown} of {lines} lines")
    })?;
    let listed = runs(host, bench.state(), from_ref(bench.case.sequence));
    let listed = listed.map_err(|fault| Wrong::fault("runs", &fault))?;
    let problem = listed.runs.iter().find_map(|run| run.problem.as_ref());
    expect(listed.runs.len() == 1 && problem.is_none(), || {
        format!("runs says {listed:?}")
    })?;
    let verified = bench.verify(host);
    let verified = verified.map_err(|fault| Wrong::fault("verify", &fault))?;
    expect(!verified.ok, || "it is said to verify".into())?;
    // Nobody knows by what settings a run goes on whose opening is not understood.
    let begun = begun_with(host, bench.state(), bench.case.sequence, None);
    expect(begun.is_err() == (line == 0), || {
        format!("it was begun with {begun:?}")
    })?;
    for (verb, refused) in writing_verbs(bench, host, &options) {
        let Some(fault) = refused else {
            return Err(Wrong(format!("{verb} is not refused")));
        };
        let named = fault.message.contains(&format!("line {number} "))
            && fault.hints.iter().any(|hint| hint.contains(TOOL));
        expect(fault.kind == FaultKind::Refused && named, || {
            format!("{verb} says {fault:?}")
        })?;
    }
    let after = Snapshot::of_fake(host, &[]);
    before
        .compare(&after)
        .map_err(|difference| Wrong(format!("something changed: {difference}")))
}

/// Tries every verb that writes.
fn writing_verbs<'a>(
    bench: &'a Bench,
    host: &'a FakeHost,
    options: &'a Options,
) -> [(&'static str, Option<bootlace_model::fault::Fault>); 5] {
    let again = Options {
        replan: true,
        ..bench.options()
    };
    let engine = |options: &'a Options| -> Engine<'a> { bench.engine(host, options) };
    [
        ("run", engine(options).run().err()),
        ("run --replan", bench.engine(host, &again).run().err()),
        ("resume", engine(options).resume().err()),
        ("undo", bench.undo(host).err()),
        ("reset", bench.reset(host).err()),
    ]
}

#[test]
fn what_another_version_wrote_is_read_and_shown_and_never_written_past() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    let mut seen = BTreeSet::new();
    for bench in sample.benches()? {
        let host = bench.finished_machine()?;
        let (path, lines) = journal(&bench, &host)?;
        let records = records(&lines)?;
        for change in changes(&records) {
            // The same name at the same place is read alike, whatever the sequence is.
            let key = shape(&records[change.line], &change.place);
            if !seen.insert(key) {
                continue;
            }
            let mut changed: Vec<(Value, u32)> =
                records.iter().map(|record| (record.clone(), 1)).collect();
            changed[change.line].0 = change.record;
            sample.try_out(
                || {
                    format!(
                        "{}, line {}, {}",
                        bench.case.name,
                        change.line + 1,
                        change.place
                    )
                },
                || with_journal(&bench, &host, &path, &changed, change.line),
            );
        }
    }
    // A name that no journal has is a name that this test does not try.
    for place in [
        "/effect/kind",
        "/effect/undo",
        "/effect/products/*",
        "/undo/policy",
        "/outcome",
        "/fault/kind",
        "/before/nodes/*/state/is",
        "/after/*/state/is",
    ] {
        let is_tried = seen.iter().any(|shape| shape.contains(place));
        expect(is_tried, || format!("no journal has {place}: {seen:#?}"))?;
    }
    sample.end("unknown names in journals")
}

#[test]
fn a_line_of_a_later_version_is_read_and_shown_and_never_written_past() -> Result<(), Wrong> {
    let mut sample = Sample::begin();
    let bench = sample.benches()?.swap_remove(0);
    let host = bench.finished_machine()?;
    let (path, lines) = journal(&bench, &host)?;
    let records = records(&lines)?;
    let mut lines = sample.choose_below(records.len() as u64, 20);
    lines.push(0);
    for line in lines {
        let line = usize::try_from(line).unwrap_or_default();
        let mut changed: Vec<(Value, u32)> =
            records.iter().map(|record| (record.clone(), 1)).collect();
        changed[line].1 = 2;
        sample.try_out(
            || format!("version 2 on line {}", line + 1),
            || with_journal(&bench, &host, &path, &changed, line),
        );
    }
    sample.end("lines of a later version")
}

/// Puts a step into the journal of a finished machine that this version does not have.
fn with_step(bench: &Bench, policy: &str) -> Result<FakeHost, Wrong> {
    let host = bench.finished_machine()?;
    let (path, lines) = journal(bench, &host)?;
    let mut records: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::to_value(&line.rec))
        .collect::<Result<_, _>>()
        .map_err(|error| Wrong(error.to_string()))?;
    let step = format!("{}/{FUTURE}", bench.case.sequence.name);
    let end = records.len() - 1;
    let added = [
        json!({"kind": "step-started", "step": step, "undo": {"policy": policy, "why": "it is so"}}),
        json!({"kind": "verified", "step": step, "evidence": []}),
    ];
    records.splice(end..end, added);
    let records: Vec<(Value, u32)> = records.into_iter().map(|record| (record, 1)).collect();
    put(&host, &path, &records)?;
    Ok(host)
}

#[test]
fn a_step_of_another_version_is_undone_as_its_journal_says() -> Result<(), Wrong> {
    let sample = Sample::begin();
    let bench = sample.benches()?.swap_remove(0);
    with_step(&bench, "inverse").and_then(|host| bench.must_undo(&host))?;

    let host = with_step(&bench, "inverse")?;
    let mut options = bench.options();
    options.choice.from = Some(bench.case.sequence.steps[0].name().into());
    let undone = bench.engine(&host, &options).undo();
    let kind = undone.as_ref().map_err(|fault| fault.kind);
    expect(kind == Err(FaultKind::Preflight), || {
        format!("the ground of an unknown step goes: {undone:?}")
    })?;

    let host = with_step(&bench, "point-of-no-return")?;
    let again = Options {
        replan: true,
        ..bench.options()
    };
    for (verb, kind) in [
        ("undo", bench.undo(&host).map_err(|fault| fault.kind).err()),
        (
            "run --replan",
            bench
                .engine(&host, &again)
                .run()
                .map_err(|fault| fault.kind)
                .err(),
        ),
    ] {
        expect(kind == Some(FaultKind::Refused), || {
            format!("{verb} ends with {kind:?}")
        })?;
    }
    Ok(())
}

/// Puts a journal into a finished machine and tries it.
fn with_journal(
    bench: &Bench,
    host: &FakeHost,
    path: &TargetPath,
    records: &[(Value, u32)],
    line: usize,
) -> Result<(), Wrong> {
    let host = host.fork();
    put(&host, path, records)?;
    is_read_and_kept(bench, &host, line, records.len())
}

/// Writes a machine's journal.
fn put(host: &FakeHost, path: &TargetPath, records: &[(Value, u32)]) -> Result<(), Wrong> {
    let head = path.as_str().replace("journal.jsonl", "head.json");
    let written = host.set_up(|world| {
        world.remove(&head)?;
        world.write_durably(path.as_str(), &write(records))
    });
    written.map_err(|error| Wrong(error.to_string()))
}
