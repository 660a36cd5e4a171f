//! What a step started runs on: it is started again if it is gone, and a skipped gate closes nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::redundant_closure_for_method_calls,
    reason = "the test takes away what the product started, behind its back"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::Settings;
use bootlace_model::effect::{AlreadyRan, Await, CommandUndo, Effect, Origin, Product, RunCommand};
use bootlace_model::event::Event;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::fault::FaultKind;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, Sequence, Step, UndoPolicy};

struct Nobody;

impl Observer for Nobody {
    fn on(&self, _: &Event) {}
}

fn at(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}

fn there(path: &str) -> Claim {
    Claim::File {
        path: at(path),
        digest: None,
        mode: None,
    }
}

const fn about(undo: UndoPolicy) -> About {
    About {
        title: "Test",
        why: "A test needs it.",
        reads: &[],
        writes: &[],
        command: "true",
        undo,
        failures: &[],
        built: true,
    }
}

/// Starts something that runs on, and waits for something else.
struct Starts;

impl Step for Starts {
    fn name(&self) -> &'static str {
        "starts"
    }

    fn about(&self) -> &'static About {
        const ABOUT: &About = &about(UndoPolicy::Inverse);
        ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let words = ["/bin/sh", "-c", "echo started > running"];
        let start = RunCommand {
            name: "start".into(),
            argv: words.map(ToOwned::to_owned).to_vec(),
            env: BTreeMap::new(),
            directory: None,
            within: Duration::from_secs(10),
            already: AlreadyRan::While(Box::new(there("/running"))),
            undo: CommandUndo::Products,
            products: vec![Product::Path(at("/running"))],
            empties: vec![],
            edits: vec![],
            hidden: vec![],
            input: None,
            origin: Origin::new("built-in", "test"),
        };
        let wait = Await {
            claim: there("/ready"),
            within: Duration::from_secs(1),
            because: "The test says when.",
            symptoms: vec![],
            origin: Origin::new("built-in", "test"),
        };
        Ok(Decision::Do(vec![
            Effect::RunCommand(start),
            Effect::Await(wait),
        ]))
    }

    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        vec![Expectation::now(there("/running"), "It was started.")]
    }
}

/// A gate from which there is no return, if one goes through it.
struct Gate;

impl Step for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn about(&self) -> &'static About {
        const ABOUT: &About = &about(UndoPolicy::PointOfNoReturn {
            why: "It is a gate.",
        });
        ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &["starts"]
    }

    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let reason = "nobody goes through".into();
        Ok(Decision::Skip { reason })
    }

    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        vec![]
    }
}

static SEQUENCE: Sequence = Sequence {
    name: "test",
    about: "A test.",
    steps: &[&Starts, &Gate],
    failures: &[],
    replaced_later: &[],
};

fn with<T>(root: &std::path::Path, act: impl FnOnce(&Engine<'_>) -> T) -> T {
    let host = RealHost::builder().root(root).build();
    act(&Engine {
        host: &host,
        sequence: &SEQUENCE,
        settings: &bootlace_testkit::env::settings(),
        observer: &Nobody,
        options: &Options::new("test"),
    })
}

#[test]
fn what_runs_on_is_started_again_and_a_skipped_gate_leaves_the_way_back_open() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let running = root.join("running");
    let fault = with(root, |engine| engine.run()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadline, "{fault}");
    assert!(running.exists());
    // It ran to its end, says the journal; what it started is gone all the same.
    std::fs::remove_file(&running).unwrap();
    std::fs::write(root.join("ready"), "").unwrap();
    with(root, |engine| engine.resume()).unwrap();
    assert!(running.exists());
    let view = with(root, |engine| engine.undo()).unwrap();
    assert_eq!(view.refused, []);
    assert!(!running.exists());
}
