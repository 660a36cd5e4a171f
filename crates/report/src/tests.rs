//! Whole outputs as snapshots, at eighty columns.

use bootlace_model::view::{RunStateView, UnknownView};
use insta::assert_snapshot;

use crate::log::LogText;
use crate::samples;
use crate::style::Style;

fn colored() -> Style {
    Style {
        color: true,
        ..Style::plain()
    }
}

fn ascii() -> Style {
    Style {
        unicode: false,
        ..Style::plain()
    }
}

/// Writes escape characters so that a snapshot can be read and reviewed.
fn visible(text: &str) -> String {
    text.replace('\x1b', "␛")
}

#[test]
fn explain() {
    let (view, outline) = (samples::explained(), samples::outline());
    assert_snapshot!(crate::explain::text(
        &view,
        &outline,
        &Style::plain(),
        false
    ));
    let mut one = view;
    one.steps.drain(..5);
    one.steps.truncate(1);
    assert_snapshot!(
        "explain_one",
        crate::explain::text(&one, &outline, &ascii(), true)
    );
    let colored = crate::explain::step_text(&one.steps[0], &outline, &colored());
    assert_snapshot!("explain_colored", visible(&colored));
}

#[test]
fn plan() {
    let (view, outline) = (samples::planned(), samples::outline());
    let text = |style: Style, verbose| crate::plan::text(&view, &outline, &style, verbose);
    assert_snapshot!(text(Style::plain(), false));
    assert_snapshot!("plan_verbose", text(ascii(), true));
    assert_snapshot!("plan_colored", visible(&text(colored(), false)));
    let mut step = view.steps[1].clone();
    let folder = step.effects[0].clone();
    step.effects.extend(std::iter::repeat_n(folder, 5));
    let paused = |verbose| crate::plan::step_text(&step, &outline, &ascii(), verbose);
    assert_snapshot!("plan_paused", paused(false));
    assert_eq!(paused(true).matches("install -d").count(), 6);
    step.reason = Some("it would be refused: [Swap] swap is in use".into());
    let refused = crate::plan::step_text(&step, &outline, &ascii(), false);
    assert!(refused.contains("10 to do; it would be refused: [Swap] "));
}

#[test]
fn status() {
    let view = samples::status();
    assert_snapshot!(crate::status::text(&view, &Style::plain(), false));
    let verbose = crate::status::text(&samples::succeeded(), &ascii(), true);
    assert_snapshot!("status_verbose", verbose);
    let colored = crate::status::text(&view, &colored(), false);
    assert_snapshot!("status_colored", visible(&colored));
}

#[test]
fn a_step_that_leaves_something_undone_is_done_and_says_what() {
    let mut view = samples::succeeded();
    view.steps[2].id = "clean-assets".into();
    view.steps[2].reason = Some("the asset folder stays, without its secrets".into());
    assert_snapshot!(crate::status::text(&view, &Style::plain(), false));
}

#[test]
fn a_run_of_another_version_says_what_is_not_known_and_who_continues_it() {
    let mut view = samples::succeeded();
    view.state = RunStateView::Unknown;
    view.unknown = Some(UnknownView {
        line: 57,
        what: "intent: unknown variant `stage-os`".into(),
        tool: "0.9.0".into(),
    });
    assert_snapshot!(crate::status::text(&view, &Style::plain(), false));
}

#[test]
fn times() {
    assert_snapshot!(crate::status::times(&samples::succeeded(), &Style::plain()));
}

#[test]
fn runs() {
    assert_snapshot!(crate::runs::text(&samples::runs(), &Style::plain()));
    let none = bootlace_model::view::RunsView { runs: vec![] };
    assert_snapshot!("runs_none", crate::runs::text(&none, &Style::plain()));
}

#[test]
fn verify_of_an_interrupted_run() {
    let view = samples::verified_interrupted();
    assert_snapshot!(crate::verify::text(&view, &Style::plain(), false));
}

#[test]
fn verify() {
    let view = samples::verified();
    assert_snapshot!(crate::verify::text(&view, &Style::plain(), false));
    let mut good = view;
    good.checks.remove(0);
    good.ok = true;
    let verbose = crate::verify::text(&good, &Style::plain(), true);
    assert_snapshot!("verify_good", verbose);
    good.checks.clear();
    let nothing = crate::verify::text(&good, &Style::plain(), false);
    assert_snapshot!("verify_nothing", nothing);
}

#[test]
fn benchmark() {
    let view = samples::judged();
    assert_snapshot!(crate::benchmark::text(&view, &Style::plain(), false));
    let verbose = crate::benchmark::text(&view, &Style::plain(), true);
    assert_snapshot!("benchmark_verbose", verbose);
}

#[test]
fn undo() {
    let view = samples::undone();
    assert_snapshot!(crate::undo::text(&view, &Style::plain()));
    let clean = bootlace_model::view::UndoView {
        undone: 0,
        refused: vec![],
        ..view
    };
    assert_snapshot!("undo_nothing", crate::undo::text(&clean, &Style::plain()));
}

#[test]
fn a_key_rotation() {
    let mut view = bootlace_model::view::KeyRotationView {
        file: "/etc/kubernetes/configs/encryption.yaml".into(),
        dry_run: true,
        resumed: false,
        key: "key2".into(),
        removed: vec!["key1".into()],
        resources: vec!["secrets".into()],
        rewritten: 1,
    };
    let text = |view: &_| crate::pki::rotation_text(view, &Style::plain());
    let planned = text(&view);
    view.resumed = true;
    let resumed = text(&view);
    view.dry_run = false;
    view.rewritten = 27;
    assert_snapshot!(format!("{planned}\n{resumed}\n{}", text(&view)));
}

#[test]
fn pki() {
    let view = samples::certificates();
    assert_snapshot!(crate::pki::check_text(&view, &Style::plain()));
    let purposes = ["signs everything", "lets the administrator in", ""].map(ToOwned::to_owned);
    let list = crate::pki::list_text(&view, &purposes, &Style::plain());
    assert_snapshot!("pki_list", list);
}

#[test]
fn fault() {
    let fault = samples::fault();
    assert_snapshot!(crate::fault::text(&fault, &Style::plain()));
    let colored = visible(&crate::fault::text(&fault, &colored()));
    assert_snapshot!("fault_colored", colored);
    let mut many = fault;
    many.details = (0..30).map(|n| format!("detail {n}")).collect();
    let many = crate::fault::text(&many, &ascii());
    assert!(many.contains("detail 19\n") && !many.contains("detail 20"));
    assert!(many.contains("  *  and 10 more\n"), "{many}");
}

fn told(style: &Style, verbose: bool) -> String {
    let mut log = LogText::new(style, verbose);
    let mut text = String::new();
    for line in samples::journal() {
        text.push_str(&log.push(&line));
    }
    text.push_str(&log.finish());
    text
}

#[test]
fn log() {
    assert_snapshot!(told(&Style::plain(), false));
    assert_snapshot!("log_verbose", told(&Style::plain(), true));
    assert_snapshot!("log_colored", visible(&told(&colored(), false)));
}

#[test]
fn a_long_journal_is_short_to_read() {
    use bootlace_model::record::Record;
    let journal = samples::journal();
    let [opened, intent, done] = [0, 3, 9].map(|n| journal[n].clone());
    let style = Style::plain();
    let mut log = LogText::new(&style, false);
    assert!(log.push(&opened).contains(samples::RUN));
    for n in 0..5000 {
        let mut intent = intent.clone();
        if let Record::Intent { n: number, .. } = &mut intent.rec {
            *number = n;
        }
        assert_eq!(log.push(&intent), "");
        let mut done = done.clone();
        if let Record::Done { n: number, .. } = &mut done.rec {
            *number = n;
        }
        assert_eq!(log.push(&done), "");
    }
    let rest = log.finish();
    assert_eq!(rest.lines().count(), 1, "{rest}");
    assert!(
        rest.contains("prepare-assets: 5000 effects performed"),
        "{rest}"
    );
}

#[test]
fn what_was_begun_and_taken_back_is_answered() {
    use bootlace_model::record::Record;
    let journal = samples::journal();
    let style = Style::plain();
    let mut log = LogText::new(&style, false);
    let mut undone = journal[4].clone();
    undone.rec = Record::UndoDone {
        n: 0,
        forced: false,
    };
    for line in [&journal[0], &journal[3], &undone] {
        drop(log.push(line));
    }
    let rest = log.finish();
    assert!(rest.contains("1 effect taken back"), "{rest}");
    assert!(!rest.contains("not answered"), "{rest}");
}

#[test]
fn notations() {
    let view = samples::undone();
    assert_snapshot!("output_json", crate::output::json(&view).unwrap());
    assert_snapshot!("output_yaml", crate::output::yaml(&view).unwrap());
    let status = samples::status();
    let yaml = crate::output::yaml(&status).unwrap();
    let read: bootlace_model::view::StatusView = serde_saphyr::from_str(&yaml).unwrap();
    assert_eq!(read, status, "what is written can be read back");
}

#[test]
fn nothing_is_wider_than_eighty_columns_but_what_must_stay_in_one_piece() {
    let outline = samples::outline();
    let style = Style::plain();
    let texts = [
        crate::explain::text(&samples::explained(), &outline, &style, false),
        crate::plan::text(&samples::planned(), &outline, &style, false),
        crate::status::text(&samples::status(), &style, true),
        crate::verify::text(&samples::verified(), &style, true),
        crate::undo::text(&samples::undone(), &style),
        crate::runs::text(&samples::runs(), &style),
        crate::pki::check_text(&samples::certificates(), &style),
        crate::fault::text(&samples::fault(), &style),
        told(&style, true),
    ];
    for line in texts.iter().flat_map(|text| text.lines()) {
        let in_one_piece = line.contains("openssl") || !line.trim().contains("  ");
        let words = line.split_whitespace().count();
        assert!(
            line.chars().count() <= 80 || in_one_piece && words <= 4,
            "{line}"
        );
        assert_eq!(line, line.trim_end(), "no blanks at the end");
    }
}
