//! A cluster as its users have it: `up`, kubectl from outside, a second machine, and all of it gone again.

use std::ffi::OsStr;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_machines::{BOOTLACE, MachineName, MachineSpec, Machines, SeedFile};
use tempfile::TempDir;

use crate::world::{Node, World, bootlace};

/// How long a pod may take to start, or a machine to join, on a busy computer.
const SOON: Duration = Duration::from_mins(2);

/// Asks the pod `web` for its name, by the name of its service.
const ASKS: &str = "timeout 5 wget -q -O - http://web.default.svc.cluster.local/hostname";

/// What `bootlace up` makes, in a state folder of its own.
pub(crate) struct Local {
    // Dropped first: a cluster takes the machine's turn with it.
    state: TempDir,
    world: World,
}

impl Local {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let state = TempDir::with_prefix_in("bootlace-test-", "/var/tmp").unwrap();
        let local = Self { state, world };
        // `up` gives this computer a route, so a network of its own stands for that of this computer.
        std::fs::write(local.network(), "").unwrap();
        let mut make = Command::new("unshare");
        make.arg(format!("--net={}", local.network().display()));
        succeeds(make.args(["ip", "link", "set", "lo", "up"]));
        local
    }

    fn network(&self) -> PathBuf {
        self.state.path().join("network")
    }

    /// Begins a command in the network that stands for that of this computer.
    fn here(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.network().display()));
        command.arg("--").arg(program);
        command
    }

    /// Calls bootlace on this computer; it must succeed. Returns what it printed.
    fn bootlace(&self, words: &[&str]) -> String {
        succeeds(&mut self.call(words))
    }

    /// Prepares a call of bootlace on this computer.
    pub(crate) fn call(&self, words: &[&str]) -> Command {
        let lab = self.state.path().join("lab.json");
        std::fs::write(&lab, serde_json::to_vec(&self.world.lab).unwrap()).unwrap();
        let mut command = self.here(bootlace());
        command.args(words).env("BOOTLACE_LAB", lab);
        command.env("BOOTLACE_STATE", self.state.path());
        command
    }

    /// Returns a path in the state folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// Returns the cluster's machine, once there is one.
    pub(crate) fn machine(&self) -> Option<Node> {
        let machines = Machines::open(&self.folder()).ok()?;
        let name = MachineName::new("m1").unwrap();
        let machine = machines.machine(&name).ok()?;
        Some(Node { machine })
    }

    fn folder(&self) -> PathBuf {
        self.state.path().join("up")
    }

    /// Calls kubectl on this computer; it must succeed.
    fn kubectl(&self, line: &str) -> String {
        succeeds(&mut self.command(line))
    }

    fn command(&self, line: &str) -> Command {
        let program = self.world.lab.programs.kubernetes.join("kubectl");
        let mut command = self.here(program);
        command.args(line.split(' '));
        command.env("KUBECONFIG", self.folder().join("kubeconfig"));
        command
    }

    /// Calls kubectl until it prints something that fits.
    fn until(&self, line: &str, fits: impl Fn(&str) -> bool) {
        let began = Instant::now();
        loop {
            let output = self.command(line).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.success() && fits(&said) {
                return;
            }
            assert!(began.elapsed() < SOON, "kubectl {line}: {output:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // A test that failed leaves no machine behind.
        if self.folder().exists()
            && let Err(error) = Machines::open(&self.folder()).and_then(|it| it.clean())
        {
            eprintln!("cannot clean {}: {error}", self.folder().display());
        }
        if !Command::new("umount")
            .arg(self.network())
            .status()
            .is_ok_and(|status| status.success())
        {
            eprintln!("cannot unmount {}", self.network().display());
        }
    }
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{said}{complained}",
        output.status
    );
    said
}

#[test]
#[ignore = "slow: a cluster of two machines"]
fn a_cluster_comes_up_is_used_grows_and_goes() {
    let local = Local::new();
    let said = local.bootlace(&["up"]);
    let kubeconfig = local.folder().join("kubeconfig");
    assert_eq!(
        said,
        format!("export KUBECONFIG={}\n", kubeconfig.display())
    );
    let machines = Machines::open(&local.folder()).unwrap();
    let first = Node {
        machine: machines.machine(&MachineName::new("m1").unwrap()).unwrap(),
    };
    a_shell_leads_into_the_machine(&local);
    pods_run_and_are_reached(&local);
    node_ports_are_reached(&local);
    a_second_machine_joins(&local, &machines, &first);
    certificates_are_known_to_kubeadm(&first);
    the_machine_is_hardened(&local, &first);
    first.ends_with(0, &["verify", "cluster"]);
    assert_eq!(local.bootlace(&["up"]), said, "it is found up");
    local.bootlace(&["down"]);
    assert!(!local.folder().exists());
    assert_eq!(succeeds(local.here("ip").args(["route", "show"])), "");
    assert!(!first.machine.is_running().unwrap());
}

/// One command, a script, and exit codes, inside the machine.
fn a_shell_leads_into_the_machine(local: &Local) {
    let ends = |words: &[&str], script: &str| {
        let mut command = local.call(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    let name = ["shell", "m1", "--", "hostname"];
    assert_eq!(ends(&name, ""), (Some(0), "m1\n".into()));
    assert_eq!(
        ends(&["shell"], "hostname; exit 7"),
        (Some(7), "m1\n".into())
    );
    let status = ["shell", "--", "bootlace", "status", "cluster"];
    assert!(ends(&status, "").1.contains("succeeded"));
    assert_eq!(ends(&["shell", "m9"], ""), (Some(2), String::new()));
}

/// kubectl run, logs, exec, services and DNS, from this computer.
fn pods_run_and_are_reached(local: &Local) {
    let busybox = local.world.image("busybox");
    let web = "httpd -f -v -p 8080 -h /etc";
    local.kubectl(&format!("run web --image={busybox} --port=8080 -- {web}"));
    local.kubectl("expose pod web --port=80 --target-port=8080");
    local.kubectl("wait --for=condition=Ready pod/web --timeout=120s");
    local.kubectl(&format!("run ask --image={busybox} -- sleep 3600"));
    local.kubectl("wait --for=condition=Ready pod/ask --timeout=120s");
    local.until(&format!("exec ask -- {ASKS}"), |said| said.trim() == "web");
    assert_eq!(local.kubectl("exec web -- hostname"), "web\n");
    assert!(local.kubectl("logs web").contains("response:200"));
    let page = "exec -n sample deploy/client -- wget -q -O - http://web.sample.svc/";
    assert!(local.kubectl(page).contains("It is alive"));
}

/// A node and its ports are reached from this computer, by a route that names nothing else.
fn node_ports_are_reached(local: &Local) {
    let routes = succeeds(local.here("ip").args(["route", "show"]));
    assert!(routes.starts_with("10.90.0.0/24 dev bl-"), "{routes}");
    assert_eq!(routes.lines().count(), 1, "{routes}");
    local.kubectl("expose pod web --name=web-port --type=NodePort --port=80 --target-port=8080");
    let port = local.kubectl("get service web-port -o jsonpath={.spec.ports[0].nodePort}");
    let url = format!("http://10.90.0.11:{port}/hostname");
    let began = Instant::now();
    loop {
        let mut ask = local.here("curl");
        let answer = ask.args(["-fsS", "-m", "5", &url]).output().unwrap();
        if answer.stdout == b"web\n" {
            return;
        }
        assert!(began.elapsed() < SOON, "{answer:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// `kubeadm join` with a token of this cluster; pods of both machines reach each other.
fn a_second_machine_joins(local: &Local, machines: &Machines, first: &Node) {
    let second = Node {
        machine: machines.create(joiner(local)).unwrap(),
    };
    second.boot();
    let join = first.must(&["kubeadm", "token", "create", "--print-join-command"]);
    second.sh(&format!("{} --ignore-preflight-errors=all", join.trim()));
    local.until("get nodes --no-headers", |said| {
        said.matches(" Ready ").count() == 2
    });
    let node = r#"{"spec":{"nodeName":"m2"}}"#;
    let image = local.world.image("busybox");
    local.kubectl(&format!(
        "run far --image={image} --overrides={node} --command -- sleep 3600"
    ));
    local.kubectl("wait --for=condition=Ready pod/far --timeout=120s");
    local.until(&format!("exec far -- {ASKS}"), |said| said.trim() == "web");
    assert_eq!(local.kubectl("exec far -- hostname"), "far\n");
}

fn certificates_are_known_to_kubeadm(node: &Node) {
    let said = node.must(&["kubeadm", "certs", "check-expiration"]);
    for name in ["admin.conf", "apiserver-etcd-client", "etcd-ca"] {
        assert!(said.contains(&format!("\n{name} ")), "{name}: {said}");
    }
    // Left out on purpose: an administrator that RBAC cannot restrict, and an etcd client with full
    // access that only health checks would use.
    let trouble = |line: &&str| line.contains('!') || line.contains("invalid");
    let troubles: Vec<&str> = said.lines().filter(trouble).map(str::trim).collect();
    let missing = [
        "!MISSING! etcd-healthcheck-client",
        "!MISSING! super-admin.conf",
    ];
    assert_eq!(troubles, missing);
}

/// The CIS benchmark's checks, and what two of the settings are for: Secrets cannot be read from etcd's
/// data, and each read through the API is in the audit log.
fn the_machine_is_hardened(local: &Local, node: &Node) {
    node.ends_with(0, &["verify", "cluster", "--benchmark", "cis"]);
    let word = "hunter2-lies-in-no-file";
    local.kubectl(&format!(
        "create secret generic mine --from-literal=word={word}"
    ));
    local.kubectl("get secret mine -o name");
    let data = "/var/lib/etcd/member";
    let found = node.sh(&format!(
        "grep -rlF {word} {data} /var/log/kubernetes || true"
    ));
    assert_eq!(found, "", "the Secret's content is in plain text");
    // What is not a Secret is there in plain text, so the search does find what is there.
    local.kubectl(&format!("create configmap mine --from-literal=word={word}"));
    assert_ne!(node.sh(&format!("grep -rlF {word} {data}")), "");
    let log = "/var/log/kubernetes/audit/audit.log";
    let noted = node.sh(&format!(
        "grep '\"verb\":\"get\"' {log} | grep '\"name\":\"mine\"'"
    ));
    assert!(
        noted.contains("\"username\":\"kubernetes-admin\""),
        "{noted}"
    );
    // A weakened setting is named, with what to do.
    let weak = "/etc/kubernetes/kubelet.conf.d/90-weak.conf";
    let text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nreadOnlyPort: 10255";
    node.sh(&format!("printf '{text}\n' > {weak}"));
    let said = node.ends_with(6, &["verify", "cluster", "--benchmark", "cis"]);
    assert!(said.stdout.contains("4.2.4"), "{said:#?}");
    node.sh(&format!("rm {weak}"));
}

/// A machine as somebody has it who joins it with kubeadm.
fn joiner(local: &Local) -> MachineSpec {
    let lab = &local.world.lab;
    let mut spec = local.world.spec("m2", 12);
    spec.address = Ipv4Addr::new(10, 90, 0, 12);
    spec.binds.retain(|bind| bind.to.as_os_str() != BOOTLACE);
    let mut seed = |path: &str, content: String| {
        spec.files.push(SeedFile {
            path: path.into(),
            mode: 0o644,
            content: content.into_bytes(),
        });
    };
    let unit = std::fs::read_to_string(&lab.kubeadm_unit).unwrap();
    seed("/etc/systemd/system/kubelet.service", unit);
    let arguments =
        "KUBELET_EXTRA_ARGS=--node-ip=10.90.0.12 --config-dir=/etc/kubernetes/kubelet.conf.d\n";
    seed("/etc/default/kubelet", arguments.into());
    spec
}
