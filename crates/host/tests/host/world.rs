//! A root in a folder of its own, and a way to run a test again in another process.

use std::path::{Path, PathBuf};
use std::process::Command;

use bootlace_engine::port::{Dir, Host as _, HostError};
use bootlace_host::RealHost;
use bootlace_model::path::TargetPath;
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) host: RealHost,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::create_dir(folder.path().join("input")).unwrap();
        let host = RealHost::builder()
            .root(folder.path().join("root"))
            .mount(path("/input"), folder.path().join("input"), false)
            .proxy(None)
            .build();
        Self { folder, host }
    }

    /// Opens the root as a folder, and tells where that really is.
    pub(crate) fn root(&self) -> (Box<dyn Dir>, PathBuf) {
        (self.open("/"), self.folder.path().join("root"))
    }

    /// Opens the input folder, and tells where that really is.
    pub(crate) fn input(&self) -> (Box<dyn Dir>, PathBuf) {
        (self.open("/input"), self.folder.path().join("input"))
    }

    pub(crate) fn open(&self, at: &str) -> Box<dyn Dir> {
        self.host.open_dir(&path(at)).unwrap().unwrap()
    }

    /// The folder that holds the root.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }
}

pub(crate) fn path(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Tells the kind of an I/O error; anything else fails the test.
pub(crate) fn kind(error: &HostError) -> std::io::ErrorKind {
    match error {
        HostError::Io { error, .. } => error.kind(),
        other => panic!("not an I/O error: {other:?}"),
    }
}

/// Prepares to run one test of this binary in a process of its own.
pub(crate) fn again(test: &str) -> Command {
    // A shell that starts the tests in the background lets them ignore SIGINT, and they hand that on.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT");
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
}

pub(crate) fn assert_passes(mut command: Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
}
