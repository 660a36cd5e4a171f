//! A root in a folder, with its state beside it.

use std::path::{Path, PathBuf};

use bootlace_engine::port::FetchRequest;
use bootlace_engine::{Engine, Options, RunReport};
use bootlace_host::{RealHost, StopHandle};
use bootlace_model::config::{IgnitionSettings, Paths, Settings};
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{Answer, Probe};
use bootlace_model::view::{PlanView, UndoView, VerifyView};
use bootlace_steps::ignition::resolve::{Request, Text, resolve};
use bootlace_testkit::env::Unseen;
use bootlace_testkit::tree::Snapshot;
use tempfile::TempDir;

/// A root and a state folder that go when the test ends.
pub(crate) struct Root {
    folder: TempDir,
    host: RealHost,
}

impl Root {
    /// Makes an empty root.
    pub(crate) fn new() -> Self {
        let folder = folder();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let host = host(folder.path());
        host.ensure().unwrap();
        Self { folder, host }
    }

    /// Returns the folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// Returns the folder that holds the root, and the state beside it.
    pub(crate) fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Returns where a path lies.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    /// Takes everything that is there.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of_folder(&self.root(), &[]).unwrap()
    }

    /// Reads a config, with what it refers to.
    pub(crate) fn settings(&self, config: &[u8]) -> Result<Settings, Fault> {
        use bootlace_engine::port::Host as _;
        let mut fetch = |request: &Request| {
            let content = self.host.fetch(&FetchRequest {
                url: &request.url,
                authorities: request.authorities.as_deref(),
                trusts_system: true,
                headers: &request.headers,
                limit: request.limit,
                within: request.within,
            });
            content.map_err(Fault::from)
        };
        let text = Text {
            name: "config.ign".into(),
            bytes: config.to_vec(),
            again: None,
        };
        let resolved = resolve(text, &mut fetch)?;
        let mut settings = Settings::defaults(Paths {
            assets: path("/opt/bootlace"),
            state: path("/state"),
        });
        settings.ignition =
            Some(IgnitionSettings::new(resolved.provision, resolved.inputs).unwrap());
        Ok(settings)
    }

    /// Goes on with a host that nobody has asked to stop.
    pub(crate) fn renewed(self) -> Self {
        let host = host(self.folder.path());
        Self { host, ..self }
    }

    fn with<T>(&self, settings: &Settings, act: impl FnOnce(&Engine<'_>) -> T) -> T {
        let mut options = Options::new("test");
        options.anew = true;
        act(&Engine {
            host: &self.host,
            sequence: bootlace_steps::sequence("ignition").unwrap(),
            settings,
            observer: &Unseen,
            options: &options,
        })
    }

    /// Applies a config, as the command does.
    pub(crate) fn apply(&self, config: impl AsRef<[u8]>) -> Result<RunReport, Fault> {
        self.apply_with(&self.settings(config.as_ref())?)
    }

    /// Applies a config that was read.
    pub(crate) fn apply_with(&self, settings: &Settings) -> Result<RunReport, Fault> {
        self.with(settings, |engine| {
            engine.plan()?;
            engine.run_or_take_back()
        })
    }

    /// Applies a config, or goes on with it, and leaves a run that fails as it is.
    pub(crate) fn run(&self, config: impl AsRef<[u8]>) -> Result<RunReport, Fault> {
        let settings = self.settings(config.as_ref())?;
        self.with(&settings, |engine| engine.run())
    }

    /// Works on the state folder, as far as others can see.
    pub(crate) fn hold_lock(&self) -> Box<dyn bootlace_engine::port::Lock> {
        use bootlace_engine::port::Host as _;
        let dir = self.host.open_dir(&path("/state")).unwrap().unwrap();
        self.host.lock(dir.as_ref(), "lock").unwrap()
    }

    /// Plans a config.
    pub(crate) fn plan(&self, config: impl AsRef<[u8]>) -> Result<PlanView, Fault> {
        self.plan_with(&self.settings(config.as_ref())?)
    }

    /// Plans a config that was read.
    pub(crate) fn plan_with(&self, settings: &Settings) -> Result<PlanView, Fault> {
        self.with(settings, |engine| engine.plan())
    }

    /// Verifies the newest run.
    pub(crate) fn verify(&self, config: impl AsRef<[u8]>) -> Result<VerifyView, Fault> {
        let settings = self.settings(config.as_ref())?;
        self.with(&settings, |engine| engine.verify())
    }

    /// Takes the newest run back; the config is not needed for it.
    pub(crate) fn undo(&self) -> Result<UndoView, Fault> {
        let settings = Settings::defaults(Paths {
            assets: path("/opt/bootlace"),
            state: path("/state"),
        });
        self.with(&settings, |engine| engine.undo())
    }

    /// Returns what asks the host to stop.
    pub(crate) fn stop_handle(&self) -> StopHandle {
        self.host.stop_handle()
    }

    /// Reads all that was journalled.
    pub(crate) fn journals(&self) -> String {
        let mut text = String::new();
        let mut open = vec![self.around().join("state")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|end| end == "jsonl") {
                    text += &std::fs::read_to_string(path).unwrap();
                }
            }
        }
        text
    }

    /// Asks a question about the root.
    pub(crate) fn answer(&self, probe: &Probe) -> Answer {
        bootlace_engine::answer(&self.host, probe).unwrap()
    }

    /// Reads a file of the root.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    /// Writes a file of the root beforehand.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let place = self.at(path);
        make_parents(&place);
        std::fs::write(&place, content).unwrap();
        place
    }
}

/// Makes a host whose root and state lie in a folder.
fn host(folder: &Path) -> RealHost {
    RealHost::builder()
        .root(folder.join("root"))
        .mount(path("/state"), folder.join("state"), true)
        .proxy(None)
        .build()
}

/// Makes a folder in memory where there is one: hundreds of syncs on a disk take their time.
fn folder() -> TempDir {
    let in_memory = Path::new("/dev/shm");
    tempfile::tempdir_in(in_memory).unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Makes the folders on the way to a place.
pub(crate) fn make_parents(place: &Path) {
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
}

/// Reads a path of a test.
pub(crate) fn path(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}
