//! A real machine for a test: made, booted, and gone again whatever happens.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bootlace_lab::Lab;
use bootlace_machines::{BOOTLACE, ClusterMachine, Finished, Machine, MachineSpec, Machines};
use tempfile::TempDir;

/// How long a machine may take to boot, on a computer that is busy with other tests.
const BOOTS: Duration = Duration::from_mins(2);
/// How long one call of bootlace may take.
pub(crate) const CALL: Duration = Duration::from_mins(5);

/// A cluster takes most of a small computer, so there is one world at a time.
static TURN: Mutex<()> = Mutex::new(());

/// The program under test.
pub(crate) fn bootlace() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_bootlace")),
        PathBuf::from,
    )
}

/// One or more machines with a network of their own.
pub(crate) struct World {
    pub(crate) lab: Lab,
    pub(crate) machines: Machines,
    // Dropped after the machines, which live in it.
    _folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl World {
    pub(crate) fn new() -> Self {
        // A test that failed has left nothing behind that could disturb the next one.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let lab = Lab::load().expect("`make lab` prepares what machines are made of");
        // Containers need a disk of their own, which a temporary filesystem is not.
        let folder = TempDir::with_prefix_in("bootlace-test-", "/var/tmp").unwrap();
        let machines = Machines::open(folder.path()).unwrap();
        Self {
            lab,
            machines,
            _folder: folder,
            _turn: turn,
        }
    }

    /// Returns what a machine that shall become a cluster is.
    pub(crate) fn spec(&self, name: &str, last: u8) -> MachineSpec {
        self.spec_of(name, last, &self.lab.release)
    }

    /// Returns what a machine is that shall become a cluster of a release.
    pub(crate) fn spec_of(&self, name: &str, last: u8, release: &Path) -> MachineSpec {
        self.spec_with(name, last, release, &[])
    }

    /// Returns what a machine is that shall become a cluster of a release with add-ons.
    pub(crate) fn spec_with(
        &self,
        name: &str,
        last: u8,
        release: &Path,
        add_ons: &[(&str, String)],
    ) -> MachineSpec {
        let bootlace = bootlace();
        let cluster = ClusterMachine {
            name,
            address: Ipv4Addr::new(10, 90, 0, last),
            layers: &self.lab.layers,
            images: Some(&self.lab.image_store),
            release,
            bootlace: &bootlace,
            add_ons,
        };
        cluster.spec().unwrap()
    }

    /// Returns how pods name an image of the release.
    pub(crate) fn image(&self, name: &str) -> String {
        let list = std::fs::read(self.lab.release.join("images/bundle.json")).unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
        let mut images = list["images"].as_array().unwrap().iter();
        let image = images.find(|image| image["name"] == name).unwrap();
        image["reference"].as_str().unwrap().to_owned()
    }

    /// Makes a machine that is off.
    pub(crate) fn create(&self, spec: MachineSpec) -> Node {
        let machine = self.machines.create(spec).unwrap();
        Node { machine }
    }

    /// Makes a machine and boots it.
    pub(crate) fn node(&self, name: &str, last: u8) -> Node {
        let node = self.create(self.spec(name, last));
        node.boot();
        node
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Err(error) = self.machines.clean() {
            eprintln!("cannot clean {}: {error}", self.machines.folder().display());
        }
    }
}

/// A machine.
pub(crate) struct Node {
    pub(crate) machine: Machine,
}

impl Node {
    pub(crate) fn boot(&self) {
        self.machine.boot().unwrap();
        self.machine.wait_booted(BOOTS).unwrap();
    }

    /// Runs a program to its end.
    pub(crate) fn run(&self, argv: &[&str]) -> Finished {
        self.machine.run(argv, CALL).unwrap()
    }

    /// Runs a program that must succeed, and returns what it printed.
    pub(crate) fn must(&self, argv: &[&str]) -> String {
        let finished = self.run(argv);
        assert_eq!(finished.code, 0, "{argv:?}: {finished:#?}");
        finished.stdout
    }

    /// Runs a line of shell that must succeed.
    pub(crate) fn sh(&self, line: &str) -> String {
        self.must(&["sh", "-c", line])
    }

    /// Calls bootlace.
    pub(crate) fn bootlace(&self, words: &[&str]) -> Finished {
        let argv: Vec<&str> = [BOOTLACE]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        self.run(&argv)
    }

    /// Calls bootlace, which must end with this code.
    pub(crate) fn ends_with(&self, code: i32, words: &[&str]) -> Finished {
        let finished = self.bootlace(words);
        assert_eq!(finished.code, code, "bootlace {words:?}: {finished:#?}");
        finished
    }

    /// Calls kubectl as the administrator; it must succeed.
    pub(crate) fn kubectl(&self, words: &[&str]) -> String {
        let admin = ["kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"];
        let argv: Vec<&str> = admin.into_iter().chain(words.iter().copied()).collect();
        self.must(&argv)
    }

    /// Tells whether the API answers and says that the node is ready.
    pub(crate) fn is_ready(&self) -> bool {
        let path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
        let name = self.machine.name().as_str();
        let admin = ["kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"];
        let words = ["--request-timeout=5s", "get", "node", name, "-o", path];
        self.run(&[admin.as_slice(), &words].concat()).stdout == "True"
    }

    /// Waits until the node is ready.
    pub(crate) fn becomes_ready(&self) {
        self.wait("the node is ready", BOOTS, Self::is_ready);
    }

    /// Takes a port, by a unit that is called `listener`.
    pub(crate) fn listen(&self, port: u16) {
        self.sh(&format!(
            "systemd-run --quiet --collect --unit=listener \
             systemd-socket-activate --listen={port} sleep infinity && \
             until ss -Hltn 'sport = :{port}' | grep -q .; do sleep 0.05; done"
        ));
    }

    /// Starts bootlace and returns while it works.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let argv: Vec<&str> = [BOOTLACE]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        let mut command = self.machine.command(&argv).unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a file in the machine, which must run.
    pub(crate) fn write(&self, path: &str, content: &str) {
        use std::io::Write as _;
        let line = format!("mkdir -p $(dirname {path}) && cat > {path}");
        let mut command = self.machine.command(&["sh", "-c", &line]).unwrap();
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(content.as_bytes()).unwrap();
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }

    /// Returns where a run stands.
    pub(crate) fn status(&self) -> serde_json::Value {
        let finished = self.bootlace(&["status", "cluster", "-o", "json"]);
        serde_json::from_str(&finished.stdout).unwrap_or_default()
    }

    /// Returns the state of a step, as `status` has it.
    pub(crate) fn step(&self, name: &str) -> String {
        let status = self.status();
        let steps = status["steps"].as_array().cloned().unwrap_or_default();
        let step = steps.iter().find(|step| step["id"] == name);
        step.and_then(|step| Some(step["state"].as_str()?.to_owned()))
            .unwrap_or_default()
    }

    /// Waits until `verify` finds nothing wrong.
    pub(crate) fn becomes_verified(&self, after: &str, within: Duration) {
        let began = Instant::now();
        loop {
            let verified = self.bootlace(&["verify", "cluster"]);
            if verified.code == 0 {
                return;
            }
            let said = format!("{}{}", verified.stdout, verified.stderr);
            assert!(
                began.elapsed() < within,
                "{after}: not within {within:?}: {said}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until something is so.
    pub(crate) fn wait(&self, what: &str, within: Duration, mut so: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !so(self) {
            assert!(began.elapsed() < within, "not within {within:?}: {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
