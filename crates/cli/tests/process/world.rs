//! A folder with a root, a config with ports of its own, and processes that go with it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use bootlace_model::path::TargetPath;
use bootlace_model::supervised::{STATE, Supervised};
use bootlace_testkit::tree::Snapshot;
use tempfile::TempDir;

/// A user without any rights.
const NOBODY: u32 = 65534;
/// Everything that happens in a test, on a computer that is busy with others.
const LONGEST: Duration = Duration::from_mins(2);

/// The program under test.
pub(crate) fn bootlace() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_bootlace")),
        PathBuf::from,
    )
}

/// A folder in which a control plane lives.
pub(crate) struct World {
    folder: TempDir,
    /// Where processes may live that have to go with the folder.
    roots: Vec<PathBuf>,
    programs: Vec<PathBuf>,
    binary: PathBuf,
    user: Option<u32>,
}

impl World {
    /// Makes one with an empty root and a config.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix_in("bootlace-test-", "/var/tmp").unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let world = Self {
            roots: vec![root],
            programs: vec![],
            binary: bootlace(),
            user: None,
            folder,
        };
        fs::write(world.config(), config(free_ports())).unwrap();
        world
    }

    /// Lets scripts stand for the programs of the control plane.
    pub(crate) fn with_scripts(mut self, scripts: &[(&str, &str)]) -> Self {
        let folder = self.path("programs");
        fs::create_dir(&folder).unwrap();
        for name in PROGRAMS {
            let given = scripts.iter().find(|(program, _)| *program == name);
            let script = given.map_or("exec sleep 600", |(_, script)| script);
            let version = "[ \"$1\" = --version ] && echo Kubernetes v1.36.3 && exit";
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        self.programs = vec![folder];
        self
    }

    /// Takes the real programs.
    pub(crate) fn with_kubernetes(mut self) -> Self {
        let built = bootlace_lab::ProgramFolders::load();
        let built = built.expect("`make lab` builds Kubernetes");
        self.programs = vec![built.kubernetes, built.etcd];
        self
    }

    /// Lets somebody without rights do everything; they see nothing outside of the folder that is not
    /// everybody's.
    pub(crate) fn of_nobody(mut self) -> Self {
        let folder = self.path("bin");
        fs::create_dir(&folder).unwrap();
        for program in PROGRAMS.iter().chain(&["kubectl"]) {
            let found = self.programs.iter().map(|folder| folder.join(program));
            let found = found.into_iter().find(|path| path.exists()).unwrap();
            share(&found, &folder.join(program));
        }
        self.binary = folder.join("bootlace");
        share(&bootlace(), &self.binary);
        self.programs = vec![folder];
        if rustix::process::geteuid().is_root() {
            let user = Some(NOBODY);
            std::os::unix::fs::chown(self.folder.path(), user, user).unwrap();
            std::os::unix::fs::chown(self.root(), user, user).unwrap();
            self.user = user;
        }
        self
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.roots[0].clone()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path("cluster.yaml")
    }

    /// Notes another root whose processes have to go with the folder.
    pub(crate) fn also(&mut self, root: PathBuf) {
        self.roots.push(root);
    }

    /// Prepares a call of the program, as whoever it is called by here.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Prepares a call about the root of this world.
    pub(crate) fn on_root(&self, words: &str) -> Command {
        let mut command = self.command(words);
        command.arg("--root").arg(self.root());
        command.arg("--state").arg(self.path("state"));
        command.arg("--config").arg(self.config());
        command
    }

    /// Prepares a run whose control plane are plain processes.
    pub(crate) fn run(&self, words: &str) -> Command {
        let mut command = self.on_root("run cluster --progress plain --placement process");
        command.args(words.split_whitespace());
        self.with_programs(&mut command);
        command
    }

    /// Adds the folders of the programs.
    pub(crate) fn with_programs(&self, command: &mut Command) {
        for folder in &self.programs {
            command.arg("--programs").arg(folder);
        }
    }

    /// Returns a program of the control plane's folders.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let found = self.programs.iter().map(|folder| folder.join(name));
        found.into_iter().find(|path| path.exists()).unwrap()
    }

    /// Takes the root as it is.
    pub(crate) fn tree(&self) -> Snapshot {
        let state = TargetPath::new("/var/lib/bootlace").unwrap();
        Snapshot::of_folder(&self.root(), &[state]).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for root in &self.roots {
            if root.exists() {
                let mut command = Command::new(bootlace());
                command.args(["supervise", "--stop", "--root"]).arg(root);
                match command.output() {
                    Ok(output) if output.status.success() => {}
                    failed => eprintln!("processes of {} may be left: {failed:?}", root.display()),
                }
            }
        }
    }
}

/// The programs of the control plane.
const PROGRAMS: [&str; 4] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
];

/// Makes a program available to everybody, without a copy where that is possible.
fn share(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).unwrap();
    }
}

/// Finds ports that nobody listens on.
pub(crate) fn free_ports() -> [u16; 6] {
    let listeners = [(); 6].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn config([api, clients, peers, metrics, manager, scheduler]: [u16; 6]) -> String {
    format!(
        "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\n\
         spec:\n  controlPlane:\n    endpoint: \"127.0.0.1:{api}\"\n    nodeName: node-1\n\
         \x20   ports: {{etcdClients: {clients}, etcdPeers: {peers}, etcdMetrics: {metrics}, \
         controllerManager: {manager}, scheduler: {scheduler}}}\n"
    )
}

/// Calls a program that must succeed, and returns what it printed.
pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Calls a program that must end with a code, and returns what it complained about.
pub(crate) fn ends_with(code: i32, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{said}");
    said
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// Reads what the supervisor of a root wrote down.
pub(crate) fn supervised(root: &Path) -> Supervised {
    let text = fs::read(root.join(STATE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Returns the number of a supervised process that runs.
pub(crate) fn pid(root: &Path, name: &str) -> Option<u32> {
    let found = supervised(root).processes.into_iter();
    found
        .filter(|process| process.name == name)
        .find_map(|it| it.pid)
}

/// Lists the processes that carry the mark of a root.
pub(crate) fn left(root: &Path) -> Vec<String> {
    let mark = format!("BOOTLACE_SUPERVISED={}", root.display());
    let marked = |entry: &fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == mark.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().filter(marked);
    let name = |entry: fs::DirEntry| {
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        format!("{} {name}", entry.path().display())
    };
    entries.map(name).collect()
}

/// Waits until something is found.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LONGEST, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
