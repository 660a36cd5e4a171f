//! What is crashed: the sample sequence and everything of the shipped ones that can run.

use bootlace_engine::port::HostResult;
use bootlace_model::config::Settings;
use bootlace_model::step::{About, Choice, Sequence, UndoPolicy};

use crate::fake::FakeHost;
use crate::{env, sampler};

/// Prepares a machine.
pub type Prepare = fn(&FakeHost) -> HostResult<()>;

/// A sequence, what the user wants, and the machine that it begins on.
#[derive(Debug, Clone)]
pub struct Case {
    /// Names it in messages.
    pub name: String,
    /// The steps.
    pub sequence: &'static Sequence,
    /// Those that are built.
    pub choice: Choice,
    /// Preflight checks that do not count.
    pub ignore: Vec<String>,
    /// What the user wants.
    pub settings: Settings,
    /// Prepares the machine.
    pub prepare: Prepare,
}

/// Lists all cases: the sample sequence, and each shipped one with the least and the fullest config.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![Case {
        name: "sampler".into(),
        sequence: &sampler::SEQUENCE,
        choice: Choice::default(),
        ignore: vec![],
        settings: env::settings(),
        prepare: sampler::world,
    }];
    for sequence in bootlace_steps::SEQUENCES {
        // What cannot be taken back has tests of its own.
        let steps = sequence.steps.iter();
        let built = steps.take_while(|step| {
            let About { built, undo, .. } = step.about();
            *built && !matches!(undo, UndoPolicy::PointOfNoReturn { .. })
        });
        let Some(last) = built.last() else { continue };
        let configs: [(&str, Settings, Prepare); 2] = [
            ("defaults", env::settings(), env::plain_world),
            ("everything", env::full_settings(), env::full_world),
        ];
        cases.extend(configs.map(|(config, settings, prepare)| Case {
            name: format!("{} with {config}", sequence.name),
            sequence,
            choice: Choice {
                to: Some(last.name().into()),
                ..Choice::default()
            },
            // The built-in names of images pin nothing.
            ignore: vec!["Release-Pinned".into()],
            settings,
            prepare,
        }));
    }
    cases
}
