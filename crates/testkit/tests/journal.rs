//! A journal that someone or something damaged is found out, and the place is named.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::redundant_closure_for_method_calls,
    reason = "the test damages files behind the product's back and fails where it cannot"
)]

use std::path::PathBuf;

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::{Paths, Settings};
use bootlace_model::event::Event;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::record::Record;

struct Nobody;

impl Observer for Nobody {
    fn on(&self, _: &Event) {}
}

struct Lab {
    root: tempfile::TempDir,
    settings: Settings,
    options: Options,
}

impl Lab {
    /// Runs what is quick to run, so that there is a journal.
    fn new() -> Self {
        let lab = Self::empty();
        lab.with(|engine| engine.run()).unwrap();
        lab
    }

    fn empty() -> Self {
        let assets = TargetPath::new("/opt/bootlace").unwrap();
        let state = TargetPath::new("/var/lib/bootlace").unwrap();
        let mut options = Options::new("test");
        options.choice.from = Some("copy-manifests".into());
        options.choice.to = Some("release-info".into());
        let settings = Settings::defaults(Paths { assets, state });
        Self {
            root: tempfile::tempdir().unwrap(),
            settings,
            options,
        }
    }

    fn with<T>(&self, act: impl FnOnce(&Engine<'_>) -> T) -> T {
        let host = RealHost::builder().root(self.root.path()).build();
        let sequence = bootlace_steps::sequence("cluster").unwrap();
        act(&Engine {
            host: &host,
            sequence,
            settings: &self.settings,
            observer: &Nobody,
            options: &self.options,
        })
    }

    fn journal(&self) -> PathBuf {
        let runs = self.root.path().join("var/lib/bootlace/runs");
        let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap();
        run.path().join("journal.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.journal()).unwrap();
        text.lines().map(ToOwned::to_owned).collect()
    }

    fn write(&self, lines: &[String]) {
        let text = lines
            .iter()
            .flat_map(|line| [line, "\n"])
            .collect::<String>();
        std::fs::write(self.journal(), text).unwrap();
    }

    /// Reads the journal; returns how many lines were handed out and what was wrong.
    fn read(&self) -> (usize, Result<(), Fault>) {
        let mut lines = 0;
        let result = self.with(|engine| engine.log(&mut |_, _| lines += 1));
        (lines, result)
    }

    fn must_find_damage(&self, what: &str, line: usize) {
        let (lines, result) = self.read();
        let fault = result.expect_err(what);
        assert_eq!(fault.kind, FaultKind::Refused, "{what}: {fault}");
        let named = format!("line {line}:");
        assert!(
            fault.message.contains(&named),
            "{what}: {named} is not in {fault}"
        );
        assert!(lines < line, "{what}: {lines} lines were handed out");
        for (verb, fault) in [
            ("run", self.with(|engine| engine.run()).map(|_| ())),
            ("resume", self.with(|engine| engine.resume()).map(|_| ())),
            ("undo", self.with(|engine| engine.undo()).map(|_| ())),
            ("verify", self.with(|engine| engine.verify()).map(|_| ())),
        ] {
            assert_eq!(
                fault.expect_err(verb).kind,
                FaultKind::Refused,
                "{what}, {verb}"
            );
        }
    }
}

#[test]
fn every_changed_lost_doubled_or_swapped_line_is_found_and_named() {
    let lab = Lab::new();
    let lines = lab.lines();
    assert!(lines.len() > 10, "{}", lines.len());
    assert!(lab.read().1.is_ok());
    for at in 0..lines.len() {
        let mut changed = lines.clone();
        changed[at] = changed[at].replacen("\"at\":\"2", "\"at\":\"3", 1);
        lab.write(&changed);
        lab.must_find_damage("changed", at + 1);

        let mut lost = lines.clone();
        lost.remove(at);
        lab.write(&lost);
        lab.must_find_damage("lost", at + 1);

        let mut doubled = lines.clone();
        doubled.insert(at, lines[at].clone());
        lab.write(&doubled);
        lab.must_find_damage("doubled", at + 2);

        if at + 1 < lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            lab.write(&swapped);
            lab.must_find_damage("swapped", at + 1);

            let mut torn = lines.clone();
            torn[at].truncate(lines[at].len() / 2);
            lab.write(&torn);
            lab.must_find_damage("torn in the middle", at + 1);
        }
    }
    lab.write(&lines);
    assert!(lab.read().1.is_ok());
}

#[test]
fn a_torn_end_is_cut_noted_and_goes_on() {
    for cut_before_end in [1, 2, 40, 90] {
        let lab = Lab::new();
        let whole = std::fs::read(lab.journal()).unwrap();
        let last = whole[..whole.len() - 1]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap()
            + 1;
        let cut = whole.len() - cut_before_end;
        std::fs::write(lab.journal(), &whole[..cut]).unwrap();
        // The head was noted when the run was closed, which a crash here would have prevented.
        std::fs::remove_file(lab.journal().with_file_name("head.json")).unwrap();
        assert!(lab.read().1.is_ok(), "a reader does not mind");
        let report = lab.with(|engine| engine.undo()).unwrap();
        assert_eq!(report.refused, vec![]);
        let mut notes = Vec::new();
        lab.with(|engine| {
            engine.log(&mut |_, line| {
                if let Record::TailCut { bytes } = line.rec {
                    notes.push(bytes);
                }
            })
        })
        .unwrap();
        assert_eq!(notes, [(cut - last) as u64]);
    }
}

#[test]
fn a_record_of_a_newer_version_is_kept_and_read_over() {
    let lab = Lab::new();
    let lines = lab.lines();
    let last: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let (seq, prev) = (lines.len(), last["hash"].as_str().unwrap());
    let content = format!(
        r#"{{"v":1,"seq":{seq},"prev":"{prev}","at":"2030-01-01T00:00:00Z","rec":{{"kind":"moon-landed","crew":3}}"#
    );
    let hash = Digest::of(content.as_bytes());
    let newer = format!("{content},\"hash\":\"{hash}\"}}");
    let mut more = lines;
    more.push(newer.clone());
    lab.write(&more);
    let mut raw = Vec::new();
    let result = lab.with(|engine| {
        engine.log(&mut |text, line| {
            if matches!(line.rec, Record::Foreign(_)) {
                raw.push(text.to_owned());
            }
        })
    });
    assert_eq!((result, raw), (Ok(()), vec![newer]));
    lab.with(|engine| engine.verify()).unwrap();
}

#[test]
fn a_journal_that_is_gone_is_missed_and_what_is_beside_it_is_kept() {
    for emptied in [true, false] {
        let lab = Lab::new();
        let blob = lab.journal().with_file_name("blobs").join("before");
        std::fs::write(&blob, "what was there").unwrap();
        if emptied {
            std::fs::write(lab.journal(), "").unwrap();
        } else {
            std::fs::remove_file(lab.journal()).unwrap();
        }
        lab.must_find_damage("gone", 1);
        std::fs::remove_file(lab.journal().with_file_name("head.json")).unwrap();
        lab.must_find_damage("gone with its head", 1);
        assert!(blob.exists(), "only it knows what was there before the run");
    }
}

#[test]
fn the_journal_of_another_run_is_not_believed() {
    let (lab, other) = (Lab::new(), Lab::new());
    lab.write(&other.lines());
    for head_is_there in [true, false] {
        let (_, result) = lab.read();
        let fault = result.expect_err("every line fits the one before it");
        assert_eq!(fault.kind, FaultKind::Refused, "{fault}");
        assert!(fault.message.contains("another run"), "{fault}");
        let undone = lab.with(|engine| engine.undo());
        assert_eq!(undone.expect_err("undo").kind, FaultKind::Refused);
        if head_is_there {
            std::fs::remove_file(lab.journal().with_file_name("head.json")).unwrap();
        }
    }
}

#[test]
fn a_journal_that_was_written_anew_does_not_fit_its_head() {
    let lab = Lab::new();
    let mut prev = Digest::of(b"");
    let mut anew = Vec::new();
    for line in lab.lines() {
        let mut line: serde_json::Value = serde_json::from_str(&line).unwrap();
        line["at"] = "2030-01-01T00:00:00Z".into();
        line["prev"] = prev.to_string().into();
        line.as_object_mut().unwrap().remove("hash");
        let text = line.to_string();
        let content = text.strip_suffix('}').unwrap();
        prev = Digest::of(content.as_bytes());
        anew.push(format!("{content},\"hash\":\"{prev}\"}}"));
    }
    lab.write(&anew);
    let (_, result) = lab.read();
    let fault = result.expect_err("every hash fits, but not to the head");
    assert!(fault.message.contains("head.json"), "{fault}");
}

#[test]
fn a_lost_before_image_keeps_one_file_and_not_the_whole_undo() {
    let lab = Lab::empty();
    let theirs = lab.root.path().join("opt/bootlace/records/release.json");
    std::fs::create_dir_all(theirs.parent().unwrap()).unwrap();
    std::fs::write(&theirs, "theirs").unwrap();
    lab.with(|engine| engine.run()).unwrap();
    let blobs = lab.journal().with_file_name("blobs");
    for blob in std::fs::read_dir(blobs).unwrap() {
        std::fs::remove_file(blob.unwrap().path()).unwrap();
    }
    let view = lab.with(|engine| engine.undo()).unwrap();
    let left: Vec<&str> = view.refused.iter().map(|left| &*left.target).collect();
    assert_eq!(left, ["/opt/bootlace/records/release.json"]);
    assert!(view.undone > 0, "the rest is taken back");
    std::fs::write(&theirs, "theirs").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&theirs, mode).unwrap();
    let view = lab.with(|engine| engine.undo()).unwrap();
    assert_eq!(view.refused, vec![], "it was put back by hand");
    assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs");
}

#[test]
fn a_run_that_was_taken_back_is_not_begun_anew_by_its_name() {
    let mut lab = Lab::new();
    let first = lab.with(|engine| engine.undo()).unwrap().run;
    let second = lab.with(|engine| engine.run()).unwrap().run;
    lab.options.run = bootlace_model::ids::RunId::parse(&first);
    let fault = lab.with(|engine| engine.run()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Preflight, "{fault}");
    lab.options.run = None;
    let newest = lab.with(|engine| engine.status()).unwrap().run;
    assert_eq!(newest, second.to_string(), "no run was begun beside it");
}

#[test]
fn what_was_to_be_planned_again_is_not_done_before_its_turn_came() {
    let mut lab = Lab::new();
    lab.settings.cluster.name = "other".into();
    let whole = lab.options.choice.clone();
    lab.options.choice = bootlace_model::step::Choice {
        only: Some("release-info".into()),
        ..Default::default()
    };
    lab.options.replan = true;
    let part = lab.with(|engine| engine.run()).unwrap();
    assert_eq!(part.steps_done, 1);
    lab.options.choice = whole;
    lab.options.replan = false;
    let rest = lab.with(|engine| engine.run()).unwrap();
    assert_eq!(rest.steps_done, 1, "copy-manifests stood for the old name");
    let again = lab.with(|engine| engine.run()).unwrap();
    assert_eq!(again.steps_done, 0);
}
