//! What holds for every step of every sequence, and what the built ones decide.

mod copy_manifests;
mod explain;
mod failures;
mod ignition;
mod image;
mod pki;
mod prepare_assets;
mod process_placement;
mod release_info;
mod render;
mod sequences;
mod stage;
mod tokens;

use bootlace_model::config::{Paths, Settings};
use bootlace_model::effect::{Body, Effect, Part};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{FileTree, TreeFile};
use bootlace_model::step::{Decision, PlanError, Step};

/// Reads a path of a test.
pub(crate) fn path(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}

/// The settings that hold without a config.
pub(crate) fn settings() -> Settings {
    Settings::defaults(Paths {
        assets: path("/opt/bootlace"),
        state: path("/var/lib/bootlace"),
    })
}

/// Finds a step of any sequence.
pub(crate) fn step(name: &str) -> &'static dyn Step {
    let mut steps = crate::SEQUENCES.iter().flat_map(|sequence| sequence.steps);
    *steps.find(|step| step.name() == name).unwrap()
}

/// A folder that is there.
pub(crate) fn tree<C: AsRef<[u8]>>(files: &[(&str, C)]) -> FileTree {
    FileTree {
        exists: true,
        files: files
            .iter()
            .map(|(relative, content)| TreeFile {
                relative: (*relative).to_owned(),
                content: content.as_ref().to_vec(),
                is_private: false,
            })
            .collect(),
        odd: vec![],
    }
}

/// Plans a step that must want something.
pub(crate) fn effects(name: &str, settings: &Settings, facts: &Facts) -> Vec<Effect> {
    match step(name).plan(settings, facts).unwrap() {
        Decision::Do(effects) | Decision::DoPart { effects, .. } => effects,
        Decision::Skip { reason } => panic!("{name} is skipped: {reason}"),
        Decision::DoFirst { rest, .. } => panic!("{name} begins with a part: {rest}"),
    }
}

/// Plans a step that must refuse.
pub(crate) fn fault(name: &str, settings: &Settings, facts: &Facts) -> Fault {
    match step(name).plan(settings, facts) {
        Err(PlanError::Fault(fault)) => *fault,
        other => panic!("{name} does not refuse: {other:?}"),
    }
}

/// Writes a fault as a person would read it.
pub(crate) fn told(fault: &Fault) -> String {
    let mut lines = vec![format!("{:?}: {}", fault.kind, fault.message)];
    lines.extend(fault.place.iter().map(|place| format!("  at {place}")));
    lines.extend(fault.because.iter().map(|why| format!("  because {why}")));
    lines.extend(fault.details.iter().map(|detail| format!("  - {detail}")));
    lines.extend(fault.hints.iter().map(|hint| format!("  > {hint}")));
    lines.join("\n") + "\n"
}

/// Returns the text of a file that is known beforehand.
pub(crate) fn text_of(effect: &Effect) -> String {
    let Effect::PutFile(put) = effect else {
        panic!("{effect:?} puts no file")
    };
    match &put.body {
        Body::Literal(content) => String::from_utf8(content.read().unwrap().to_vec()).unwrap(),
        Body::Compose(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                other => format!("<{other:?}>"),
            })
            .collect(),
    }
}
