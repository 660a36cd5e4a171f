//! A plan shows what a run does, and verify does not look away, on a real disk.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::redundant_closure_for_method_calls,
    reason = "the test removes and changes files behind the product's back"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::{Paths, Settings};
use bootlace_model::event::Event;
use bootlace_model::fault::FaultKind;
use bootlace_model::path::TargetPath;
use bootlace_model::view::VerifyView;

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
    /// Makes keys, certificates and kubeconfigs.
    fn new() -> Self {
        let assets = TargetPath::new("/opt/bootlace").unwrap();
        let state = TargetPath::new("/var/lib/bootlace").unwrap();
        let mut options = Options::new("test");
        options.choice.to = Some("release-info".into());
        let settings = Settings::defaults(Paths { assets, state });
        let lab = Self {
            root: tempfile::tempdir().unwrap(),
            settings,
            options,
        };
        assert!(lab.with(|engine| engine.run().unwrap()).effects_done > 40);
        lab
    }

    fn with<T>(&self, act: impl FnOnce(&Engine<'_>) -> T) -> T {
        let host = RealHost::builder().root(self.root.path()).build();
        act(&Engine {
            host: &host,
            sequence: bootlace_steps::sequence("cluster").unwrap(),
            settings: &self.settings,
            observer: &Nobody,
            options: &self.options,
        })
    }

    /// Lists every file below the asset folder.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut open = vec![self.root.path().join("opt/bootlace")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        files
    }
}

#[test]
fn whatever_is_lost_a_plan_shows_as_many_effects_as_the_run_performs() {
    let mut lab = Lab::new();
    lab.options.replan = true;
    let files = lab.files();
    assert!(files.len() > 40, "{}", files.len());
    for file in files {
        std::fs::remove_file(&file).unwrap();
        // A certificate whose key is lost is refused, by both alike.
        let planned = lab.with(|engine| engine.plan());
        let done = lab.with(|engine| engine.run());
        match (planned, done) {
            (Ok(plan), Ok(run)) => {
                let planned: usize = plan.steps.iter().map(|step| step.effects.len()).sum();
                assert_eq!(
                    planned as u64,
                    run.effects_done,
                    "without {}",
                    file.display()
                );
                assert!(planned > 0, "without {}", file.display());
            }
            (planned, done) => {
                let (planned, done) = (planned.unwrap_err(), done.unwrap_err());
                assert_eq!(planned.message, done.message);
            }
        }
        assert!(
            lab.with(|engine| engine.verify().unwrap()).ok,
            "without {}",
            file.display()
        );
    }
}

#[test]
fn a_plan_by_other_settings_is_refused_like_the_run() {
    let mut lab = Lab::new();
    lab.settings.cluster.control_plane.endpoint.host = "api.elsewhere.example".into();
    let planned = lab.with(|engine| engine.plan()).unwrap_err();
    let run = lab.with(|engine| engine.run()).unwrap_err();
    assert_eq!(
        (planned.kind, &planned.details),
        (FaultKind::Refused, &run.details)
    );
    assert!(
        planned
            .details
            .iter()
            .any(|line| line.contains("api.elsewhere.example"))
    );
}

#[test]
fn a_step_that_failed_does_not_verify() {
    let mut lab = Lab::new();
    let key = lab.root.path().join("opt/bootlace/tls/sa.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let named = |view: &VerifyView| {
        let broken = view.checks.iter().filter(|it| !it.ok && !it.unfinished);
        let whats: Vec<String> = broken.map(|check| check.what.clone()).collect();
        whats
    };
    let before = named(&lab.with(|engine| engine.verify().unwrap()));
    assert!(
        before.iter().any(|what| what.contains("sa.key")),
        "{before:?}"
    );
    lab.options.replan = true;
    let fault = lab.with(|engine| engine.run()).unwrap_err();
    assert_eq!(fault.hints.len(), 1, "{fault:?}");
    assert!(fault.hints[0].contains("chmod 600"), "{fault:?}");
    // That it failed is said beside what is wrong, not instead of it.
    let view = lab.with(|engine| engine.verify().unwrap());
    assert!(view.checks.iter().any(|check| check.unfinished), "{view:?}");
    assert_eq!(named(&view), before);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    lab.with(|engine| engine.run()).unwrap();
    assert!(lab.with(|engine| engine.verify().unwrap()).ok);
}
