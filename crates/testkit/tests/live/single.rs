//! A sequence of one step or two that do what a test wants.

use std::time::Duration;

use bootlace_engine::{Engine, Options, RunReport};
use bootlace_model::check::Check;
use bootlace_model::config::Settings;
use bootlace_model::effect::{Await, Effect, Origin, Product, StartUnit, UnitName};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, Sequence, Step, UndoPolicy};
use bootlace_model::symptom::Symptom;
use bootlace_model::view::{UndoView, VerifyView};
use bootlace_testkit::env::{self, Unseen};
use bootlace_testkit::fake::FakeHost;

/// How long a test's step may wait; whatever ends early ends long before.
pub(crate) const LONG: Duration = Duration::from_mins(10);

static ABOUT: About = About {
    title: "Do what a test wants",
    why: "Only tests run it.",
    reads: &[],
    writes: &[],
    command: "true",
    undo: UndoPolicy::Inverse,
    failures: &[],
    built: true,
};

struct Single {
    name: &'static str,
    needs: &'static [&'static str],
    effects: Vec<Effect>,
    checks: Vec<Check>,
}

impl Step for Single {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    fn checks(&self, _: &Settings) -> Vec<Check> {
        self.checks.clone()
    }

    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        Ok(Decision::Do(self.effects.clone()))
    }

    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        vec![]
    }
}

/// A step on a machine.
pub(crate) struct Try {
    pub(crate) host: FakeHost,
    pub(crate) sequence: &'static Sequence,
    pub(crate) options: Options,
}

impl Try {
    /// Prepares a machine with a container runtime, and a step.
    pub(crate) fn new(effects: Vec<Effect>, checks: Vec<Check>) -> Self {
        let (name, needs) = ("single", &[][..]);
        Self::of(vec![Single {
            name,
            needs,
            effects,
            checks,
        }])
    }

    /// Prepares the same machine, and two steps.
    pub(crate) fn two(first: Vec<Effect>, second: Vec<Effect>) -> Self {
        Self::two_checked(first, second, vec![])
    }

    /// Like [`Try::two`]; the second looks at something before it begins.
    pub(crate) fn two_checked(first: Vec<Effect>, second: Vec<Effect>, checks: Vec<Check>) -> Self {
        let step = |name, needs, effects, checks| Single {
            name,
            needs,
            effects,
            checks,
        };
        Self::of(vec![
            step("single", &[], first, vec![]),
            step("second", &["single"], second, checks),
        ])
    }

    fn of(steps: Vec<Single>) -> Self {
        let host = FakeHost::new(1);
        let prepared = host.set_up(|world| {
            world.install_unit("containerd.service", true)?;
            world.install_unit("lasting.service", false)?;
            world.make_folder("/var/lib")?;
            world.start_unit("containerd.service")
        });
        prepared.unwrap();
        let leak = |step: Single| -> &'static dyn Step { Box::leak(Box::new(step)) };
        let steps: Vec<&'static dyn Step> = steps.into_iter().map(leak).collect();
        let sequence = Box::leak(Box::new(Sequence {
            name: "single",
            about: "Does what a test wants.",
            steps: Vec::leak(steps),
            failures: &[],
            replaced_later: &[],
        }));
        Self {
            host,
            sequence,
            options: env::options(1),
        }
    }

    pub(crate) fn run(&self) -> Result<RunReport, Fault> {
        self.with(|engine| engine.run())
    }

    pub(crate) fn undo(&self) -> Result<UndoView, Fault> {
        self.with(|engine| engine.undo())
    }

    pub(crate) fn verify(&self) -> Result<VerifyView, Fault> {
        self.with(|engine| engine.verify())
    }

    fn with<T>(&self, act: impl FnOnce(&Engine<'_>) -> T) -> T {
        act(&Engine {
            host: &self.host,
            sequence: self.sequence,
            settings: &env::settings(),
            observer: &Unseen,
            options: &self.options,
        })
    }
}

pub(crate) fn at(path: &str) -> TargetPath {
    TargetPath::new(path).unwrap()
}

pub(crate) fn unit(name: &str) -> UnitName {
    UnitName::parse(name).unwrap()
}

pub(crate) fn origin() -> Origin {
    Origin::new("built-in", "test")
}

pub(crate) fn start(name: &str, products: Vec<Product>) -> Effect {
    Effect::StartUnit(StartUnit {
        unit: unit(name),
        anew: None,
        within: LONG,
        products,
        origin: origin(),
    })
}

/// Waits for something that never comes, unless a symptom shows.
pub(crate) fn wait(symptom: Symptom) -> Effect {
    let path = at("/never");
    let claim = Claim::Directory { path };
    Effect::Await(Await {
        claim,
        within: LONG,
        because: "A test waits for it.",
        symptoms: vec![symptom],
        origin: origin(),
    })
}
