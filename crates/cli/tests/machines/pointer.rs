//! Real Ignition on a real machine asks the real server, with what `assets create` made.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use bootlace_lab::IgnitionPrograms;
use bootlace_machines::{Bind, Finished, Machines};
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{CALL, Node, World, bootlace};

/// Where the machine sees real Ignition.
const IGNITION: &str = "/usr/local/bin/ignition";
/// How soon Ignition must have given up where asking again is pointless.
const AT_ONCE: Duration = Duration::from_secs(20);
/// How long a server may take to begin.
const BEGINS: Duration = Duration::from_secs(30);

/// Fetches what a pointer config names, and writes all of it below a root of its own.
const FIRST_BOOT: &str = r"
here=/var/tmp/$1
for stage in fetch files; do
    IGNITION_CONFIG_FILE=$here/pointer.ign IGNITION_SYSTEM_CONFIG_DIR=/nowhere \
        /usr/local/bin/ignition -platform file -stage $stage -root $here/root -log-to-stdout \
        -config-cache $here/config -state-file $here/state -neednet $here/neednet || exit 3
done
";

/// Assets, the pools that were rendered from them, and a machine that shall join.
pub(crate) struct Joining {
    pub(crate) assets: PathBuf,
    pub(crate) node: Node,
    folder: TempDir,
    // Dropped last: it removes the machine.
    world: World,
}

/// The server, until it is dropped.
pub(crate) struct Server {
    child: Child,
    audit: PathBuf,
}

impl Joining {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let folder = TempDir::with_prefix("bootlace-pointer-").unwrap();
        let config = folder.path().join("cluster.yaml");
        let text = format!(
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n\
             spec: {{controlPlane: {{endpoint: '{}:6443', nodeName: first}}}}\n",
            Machines::BRIDGE
        );
        fs::write(&config, text).unwrap();
        let root = folder.path().join("root");
        let call = |words: &[&str]| {
            let mut command = Command::new(bootlace());
            let command = command.args(words).arg("--root").arg(&root);
            succeeded(&command.arg("--config").arg(&config).output().unwrap());
        };
        call(&["assets", "create"]);
        call(&["run", "cluster", "--to", "render-machine-config"]);
        let mut spec = world.spec("m1", 11);
        spec.images = None;
        spec.binds.push(Bind {
            from: IgnitionPrograms::load().unwrap().ignition(),
            to: PathBuf::from(IGNITION),
            read_only: true,
        });
        let node = world.create(spec);
        node.boot();
        Self {
            assets: root.join("opt/bootlace"),
            node,
            folder,
            world,
        }
    }

    pub(crate) fn asset(&self, relative: &str) -> String {
        fs::read_to_string(self.assets.join(relative)).unwrap()
    }

    /// Begins to serve on the machine's network, and returns once it does.
    pub(crate) fn serve(&self, name: &str, tokens: &Path) -> Server {
        let audit = self.folder.path().join(format!("{name}.jsonl"));
        let kubeconfig = self.folder.path().join("kubeconfig");
        fs::write(&kubeconfig, "a first credential\n").unwrap();
        let network = self.world.machines.folder().join("network");
        let mut child = Command::new("nsenter")
            .arg(format!("--net={}", network.display()))
            .arg(bootlace())
            .args(["serve", "--listen"])
            .arg(format!("{}:22623", Machines::BRIDGE))
            .arg("--pools")
            .arg(self.assets.join("mco-bootstrap"))
            .arg("--cert")
            .arg(self.assets.join("tls/machine-config-server.crt"))
            .arg("--key")
            .arg(self.assets.join("tls/machine-config-server.key"))
            .arg("--tokens")
            .arg(tokens)
            .arg("--audit")
            .arg(&audit)
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let server = Server { child, audit };
        let began = Instant::now();
        while !lines.next().unwrap().unwrap().starts_with("serving ") {
            assert!(began.elapsed() < BEGINS);
        }
        // What it says later is read by nobody, and must not make it wait.
        std::thread::spawn(move || lines.for_each(drop));
        server
    }

    /// Gives a pointer config to the machine, and prepares its first boot.
    fn prepare(&self, name: &str, pointer: &str) -> Command {
        self.node.sh(&format!("mkdir -p /var/tmp/{name}/root"));
        self.node
            .write(&format!("/var/tmp/{name}/pointer.ign"), pointer);
        let argv = ["sh", "-c", FIRST_BOOT, "sh", name];
        self.node.machine.command(&argv).unwrap()
    }

    pub(crate) fn boots(&self, name: &str, pointer: &str) -> Finished {
        drop(self.prepare(name, pointer));
        let argv = ["sh", "-c", FIRST_BOOT, "sh", name];
        self.node.machine.run(&argv, CALL).unwrap()
    }

    /// Boots with a pointer config that can never work, which Ignition must see at once.
    fn stops(&self, name: &str, pointer: &str, server: &Server, status: u64) {
        let asked_before = server.statuses().len();
        let began = Instant::now();
        let finished = self.boots(name, pointer);
        assert_eq!(finished.code, 3, "{name}: {finished:#?}");
        assert!(began.elapsed() < AT_ONCE, "{name}: {:?}", began.elapsed());
        let statuses = server.at_least(asked_before + 1);
        assert_eq!(statuses[asked_before..], [status], "{name}");
        let left = self.node.sh(&format!("ls -A /var/tmp/{name}/root"));
        assert_eq!(left, "", "{name}");
    }

    /// Checks that a machine got all that its pool says, and keeps no token.
    fn has_booted(&self, name: &str, pool: &str) {
        let place = format!("/var/tmp/{name}");
        let merged = self.node.sh(&format!("cat {place}/config"));
        let merged: Value = serde_json::from_str(&merged).unwrap();
        let files = merged["storage"]["files"].as_array().unwrap();
        let paths: Vec<&str> = files.iter().filter_map(|it| it["path"].as_str()).collect();
        let config = self.rendered(pool);
        let own = config["spec"]["config"]["storage"]["files"]
            .as_array()
            .unwrap();
        assert!(!own.is_empty());
        let own = own.iter().map(|file| file["path"].as_str().unwrap());
        let added = [
            "/etc/machine-config-daemon/node-annotations.json",
            "/etc/kubernetes/kubeconfig",
            "/etc/mcs-machine-config-content.json",
            "/etc/ignition-machine-config-encapsulated.json",
        ];
        for path in own.chain(added) {
            assert!(paths.contains(&path), "{path} is not in {paths:?}");
            self.node.sh(&format!("test -s {place}/root{path}"));
        }
        let credential = format!("cat {place}/root/etc/kubernetes/kubeconfig");
        assert_eq!(self.node.sh(&credential), "a first credential\n");
        let token = self.asset(&format!("auth/{pool}.token"));
        let found = self
            .node
            .run(&["grep", "-rlF", &token, &format!("{place}/root")]);
        assert_eq!((found.code, found.stdout.as_str()), (1, ""));
    }

    /// Returns the config that a pool names.
    fn rendered(&self, pool: &str) -> Value {
        let pool = self.asset(&format!("mco-bootstrap/machine-pools/{pool}.yaml"));
        let pool: Value = serde_saphyr::from_str(&pool).unwrap();
        let name = pool["status"]["configuration"]["name"].as_str().unwrap();
        let config = self.asset(&format!("mco-bootstrap/machine-configs/{name}.yaml"));
        serde_saphyr::from_str(&config).unwrap()
    }
}

impl Server {
    /// Returns the statuses of all answers, once there are so many: the audit is written a moment
    /// after the answer.
    pub(crate) fn at_least(&self, count: usize) -> Vec<u64> {
        let began = Instant::now();
        while self.statuses().len() < count && began.elapsed() < BEGINS {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.statuses()
    }

    /// Returns the statuses of all answers so far.
    pub(crate) fn statuses(&self) -> Vec<u64> {
        let text = fs::read_to_string(&self.audit).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| -> Value { serde_json::from_str(line).unwrap() });
        lines.filter_map(|line| line["status"].as_u64()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the test would have seen.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
#[ignore = "slow: a machine"]
fn ignition_gets_its_config_by_a_pointer_config_and_a_token() {
    let joining = Joining::new();
    let server = joining.serve("good", &joining.assets.join("auth/tokens.yaml"));
    for pool in ["worker", "master"] {
        let finished = joining.boots(pool, &joining.asset(&format!("pointer/{pool}.ign")));
        assert_eq!(finished.code, 0, "{finished:#?}");
        joining.has_booted(pool, pool);
    }
    assert_eq!(server.at_least(2), [200, 200]);
    // What is rendered lies around longer than a token; it must not hold one.
    for role in ["master", "worker"] {
        let token = joining.asset(&format!("auth/{role}.token"));
        let folder = joining.assets.join("mco-bootstrap");
        let found = Command::new("grep")
            .arg("-rqF")
            .arg(token)
            .arg(folder)
            .status();
        assert_eq!(found.unwrap().code(), Some(1));
    }
}

#[test]
#[ignore = "slow: a machine"]
fn ignition_stops_where_asking_again_is_pointless_and_waits_where_it_is_not() {
    let joining = Joining::new();
    let pointer = joining.asset("pointer/worker.ign");
    let token = joining.asset("auth/worker.token");
    let list = joining.asset("auth/tokens.yaml");
    let tokens = joining.folder.path().join("tokens.yaml");
    // A token may be for a pool that nobody has rendered.
    let (_, for_worker) = list.rsplit_once("- ").unwrap();
    let for_nobody = for_worker.replace("worker", "wroker");
    fs::write(&tokens, format!("{list}- {for_nobody}")).unwrap();
    let server = joining.serve("bad", &tokens);
    let of_another = pointer.replace(&token, &joining.asset("auth/master.token"));
    joining.stops("other-pool", &of_another, &server, 401);
    let malformed = pointer.replace(&token, "not a token");
    joining.stops("malformed", &malformed, &server, 401);
    let elsewhere = pointer.replace("/config/worker", "/config/master");
    joining.stops("elsewhere", &elsewhere, &server, 401);
    let no_pool = pointer.replace("/config/worker", "/config/wroker");
    joining.stops("no-pool", &no_pool, &server, 404);
    // Ignition asks a server again that it does not trust, so it is told when to give up.
    let authority = joining.asset("tls/machine-config-server-ca.crt");
    let other = joining.asset("tls/ca.crt");
    let mut untrusting: Value = serde_json::from_str(&pointer).unwrap();
    let source =
        &mut untrusting["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"];
    assert_ne!(authority, other);
    *source = format!("data:,{}", percent_encoded(&other)).into();
    untrusting["ignition"]["timeouts"]["httpTotal"] = 4.into();
    let asked_before = server.statuses().len();
    let finished = joining.boots("untrusting", &untrusting.to_string());
    assert_eq!(finished.code, 3, "{finished:#?}");
    assert!(
        finished.stdout.contains("unknown authority"),
        "{finished:#?}"
    );
    assert_eq!(server.statuses().len(), asked_before);
    drop(server);
    fs::write(&tokens, list.replace("expires: 2", "expires: 1")).unwrap();
    let server = joining.serve("expired", &tokens);
    joining.stops("expired", &pointer, &server, 401);
    drop(server);
    // It is not in the list yet when the machine boots.
    fs::write(&tokens, "tokens: []\n").unwrap();
    let server = joining.serve("late", &tokens);
    let mut boot = joining.prepare("late", &pointer);
    let mut boot = boot
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    joining
        .node
        .wait("it was sent away", BEGINS, |_| server.statuses().len() > 1);
    assert!(boot.try_wait().unwrap().is_none());
    let fresh = tokens.with_extension("new");
    fs::write(&fresh, &list).unwrap();
    fs::rename(fresh, &tokens).unwrap();
    assert!(boot.wait().unwrap().success());
    joining.has_booted("late", "worker");
    let statuses = server.statuses();
    let (newest, before) = statuses.split_last().unwrap();
    assert_eq!(*newest, 200);
    assert!(before.iter().all(|status| *status == 511), "{statuses:?}");
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .fold(String::new(), |text, byte| format!("{text}%{byte:02X}"))
}
