//! What is crashed: the sample sequence and everything of the shipped ones that can run.

use bootlace_engine::port::HostResult;
use bootlace_model::config::Settings;
use bootlace_model::step::{About, Choice, Sequence, UndoPolicy};

use crate::fake::FakeHost;
use crate::{env, provision, sampler};

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
    /// Whether it does nothing on a machine that it has left without its journal.
    pub vanishes: bool,
    /// What the user wants.
    pub settings: Settings,
    /// Prepares the machine.
    pub prepare: Prepare,
}

/// Lists all cases that can be taken back: the sample sequence, and what ships.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![Case {
        name: "sampler".into(),
        sequence: &sampler::SEQUENCE,
        choice: Choice::default(),
        ignore: vec![],
        vanishes: true,
        settings: env::settings(),
        prepare: sampler::world,
    }];
    cases.extend(with_an_image());
    cases.extend(with_an_ignition_config());
    cases.extend(shipped(|about| {
        about.built && !matches!(about.undo, UndoPolicy::PointOfNoReturn { .. })
    }));
    cases
}

/// The renders of the sequence `cluster`, one of them by an image.
fn with_an_image() -> Option<Case> {
    Some(Case {
        name: "cluster with an image that renders".into(),
        sequence: bootlace_steps::sequence("cluster")?,
        choice: Choice {
            to: Some("render-machine-config".into()),
            ..Choice::default()
        },
        ignore: vec![],
        vanishes: true,
        settings: env::image_settings(),
        prepare: env::image_world,
    })
}

/// The sequence `ignition` with a config that uses all that it can do.
fn with_an_ignition_config() -> Option<Case> {
    Some(Case {
        name: "ignition".into(),
        sequence: bootlace_steps::sequence("ignition")?,
        choice: Choice::default(),
        ignore: vec![],
        // A config says other things about files that are there than about those that are not.
        vanishes: false,
        settings: provision::settings(),
        prepare: provision::world,
    })
}

/// Lists the shipped sequences that have a point of no return, to their very ends.
pub fn one_way_cases() -> Vec<Case> {
    let is_no_return = |undo: &UndoPolicy| matches!(undo, UndoPolicy::PointOfNoReturn { .. });
    let mut cases = shipped(|about| about.built);
    cases.retain(|case| {
        let mut steps = case.sequence.steps.iter();
        steps.any(|step| is_no_return(&step.about().undo))
    });
    for case in &mut cases {
        case.name += ", to its end";
    }
    cases
}

/// Lists each shipped sequence with the least and the fullest config, as far as its steps allow.
fn shipped(allows: fn(&About) -> bool) -> Vec<Case> {
    let mut cases = Vec::new();
    // An Ignition config is no part of a cluster's, so that sequence has a case of its own.
    let sequences = bootlace_steps::SEQUENCES.iter();
    for sequence in sequences.filter(|sequence| sequence.name != "ignition") {
        let steps = sequence.steps.iter();
        let Some(last) = steps.take_while(|step| allows(step.about())).last() else {
            continue;
        };
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
            vanishes: true,
            settings,
            prepare,
        }));
    }
    cases
}
