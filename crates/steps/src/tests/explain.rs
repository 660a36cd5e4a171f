//! The book: what every step tells about itself, with the settings that hold without a config.

use std::fmt::Write as _;

use bootlace_model::config::{Profile, Settings};
use bootlace_model::fact::Facts;
use bootlace_model::step::{Step, UndoPolicy};

use super::settings;
use crate::SEQUENCES;

fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= 98 {
            *line += " ";
            *line += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n  ")
}

fn told(step: &dyn Step, settings: &Settings) -> String {
    let about = step.about();
    let mut text = format!("{}\n\n  {}\n\n", about.title, wrapped(about.why));
    let lists: [(&str, &[&str]); 5] = [
        ("needs", step.needs()),
        ("uses", step.uses()),
        ("reads", about.reads),
        ("writes", about.writes),
        ("failures", about.failures),
    ];
    for (title, list) in lists {
        writeln!(text, "{title}: {}", list.join(", ")).unwrap();
    }
    let undo = match about.undo {
        UndoPolicy::Inverse => "inverse".to_owned(),
        UndoPolicy::ForwardOnly { why } => format!("forward only: {why}"),
        UndoPolicy::PointOfNoReturn { why } => format!("point of no return: {why}"),
    };
    writeln!(text, "undo: {undo}\nbuilt: {}\n", about.built).unwrap();
    writeln!(text, "{}\n", about.command).unwrap();
    writeln!(text, "{}", expected(step, settings)).unwrap();
    for ask in step.asks(settings) {
        writeln!(text, "asks {}: {}", ask.fact, ask.probe.what()).unwrap();
    }
    for ask in step.yields(settings) {
        writeln!(text, "yields {}: {}", ask.fact, ask.probe.what()).unwrap();
    }
    text
}

fn expected(step: &dyn Step, settings: &Settings) -> String {
    let mut text = String::new();
    for expectation in step.expects(settings, &Facts::default()) {
        let seconds = expectation.within.as_secs();
        let within = (seconds > 0).then(|| format!(", within {seconds} s"));
        let until = expectation.until.map(|step| format!(", until {step}"));
        let what = expectation.claim.what();
        let (within, until) = (within.unwrap_or_default(), until.unwrap_or_default());
        writeln!(text, "* {what}{within}{until}").unwrap();
        writeln!(text, "  {}", expectation.because).unwrap();
    }
    text
}

#[test]
fn every_step_explains_itself() {
    for sequence in SEQUENCES {
        for step in sequence.steps {
            let name = format!("{}-{}", sequence.name, step.name());
            insta::assert_snapshot!(name, told(*step, &settings()));
        }
    }
}

#[test]
fn what_openshift_is_expected_to_be() {
    let mut settings = settings();
    settings.cluster.profile = Profile::Openshift;
    settings.cluster.control_plane.replicas = 3;
    let mut text = String::new();
    let steps = crate::sequence("cluster").unwrap().steps.iter();
    // The first three expect the same in both profiles.
    for step in steps.skip(3) {
        writeln!(text, "{}\n{}", step.name(), expected(*step, &settings)).unwrap();
    }
    insta::assert_snapshot!(text);
}
