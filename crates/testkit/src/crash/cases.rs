//! What is crashed: the sample sequence and everything of the shipped ones that can run.

use bootlace_engine::port::HostResult;
use bootlace_model::config::Settings;
use bootlace_model::step::{Choice, Sequence};

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
        settings: env::settings(),
        prepare: sampler::world,
    }];
    for sequence in bootlace_steps::SEQUENCES {
        let built = sequence.steps.iter().take_while(|step| step.about().built);
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
            settings,
            prepare,
        }));
    }
    cases
}
