//! What started things leave behind: found, and removed without touching more.
//!
//! Each test runs again in a process with namespaces of its own, where it can do no harm.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, Machine as _};
use bootlace_host::RealHost;
use bootlace_model::effect::{Product, UnitName};
use bootlace_test_notes::skip;

use crate::world::{World, assert_passes, is_root, path};

const PLENTY: Duration = Duration::from_secs(20);
/// Tells a test that it runs in namespaces of its own.
const ALONE: &str = "BOOTLACE_TEST_ALONE";

/// Runs a test again in namespaces of its own; false for the process that is there already.
fn leave(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--"]);
    command.arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1");
    assert_passes(command);
    true
}

fn run(words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let status = Command::new(words[0]).args(&words[1..]).status().unwrap();
    assert!(status.success(), "{words:?}");
}

#[test]
fn mounts_below_a_folder_go_and_others_stay() {
    if !is_root() {
        skip!("only root makes namespaces");
    }
    if leave("products::mounts_below_a_folder_go_and_others_stay") {
        return;
    }
    let world = World::new();
    let (_, root) = world.root();
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    for folder in ["kubelet", "kubelet-2"] {
        std::fs::create_dir(at(folder)).unwrap();
        run(&format!("mount -t tmpfs own {}", at(folder)));
    }
    std::os::unix::fs::symlink("/kubelet", at("link")).unwrap();
    let product = Product::Mounts(path("/link"));
    assert!(!world.host.has_product(&product).unwrap());
    for folder in ["kubelet/pods", "kubelet/pods/a b"] {
        std::fs::create_dir(at(folder)).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "pod", &at(folder)]);
        assert!(mount.status().unwrap().success());
    }
    std::fs::create_dir(at("kubelet/pods/a b/c")).unwrap();
    // Two on top of each other, one of them in use.
    for _ in 0..2 {
        run(&format!("mount -t tmpfs pod {}", at("kubelet/pods")));
    }
    std::fs::write(at("kubelet/pods/open"), "x").unwrap();
    let open = std::fs::File::open(at("kubelet/pods/open")).unwrap();
    assert!(world.host.has_product(&product).unwrap());
    world.host.remove_product(&product, PLENTY).unwrap();
    assert!(!world.host.has_product(&product).unwrap());
    drop(open);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let ours: Vec<&str> = mounts
        .lines()
        .filter(|line| line.contains(&at("")))
        .collect();
    assert_eq!(ours.len(), 2, "{ours:?}");
}

#[test]
fn interfaces_go_by_their_names() {
    if !is_root() {
        skip!("only root makes namespaces");
    }
    if leave("products::interfaces_go_by_their_names") {
        return;
    }
    let host = RealHost::builder().build();
    let interface = Product::Interface("cni0".into());
    assert!(!host.has_product(&interface).unwrap());
    for name in ["cni0", "cni01"] {
        run(&format!("ip link add {name} type bridge"));
    }
    assert!(host.has_product(&interface).unwrap());
    host.remove_product(&interface, PLENTY).unwrap();
    assert!(!host.has_product(&interface).unwrap());
    host.remove_product(&interface, PLENTY).unwrap();
    assert!(
        host.has_product(&Product::Interface("cni01".into()))
            .unwrap()
    );
    // What cannot be removed is told.
    let error = host
        .remove_product(&Product::Interface("lo".into()), PLENTY)
        .unwrap_err();
    assert!(
        error.to_string().contains("network interface lo"),
        "{error}"
    );
}

#[test]
fn routes_go_by_their_protocol() {
    if !is_root() {
        skip!("only root makes namespaces");
    }
    if leave("products::routes_go_by_their_protocol") {
        return;
    }
    let host = RealHost::builder().build();
    let routes = Product::Routes(98);
    assert!(!host.has_product(&routes).unwrap());
    run("ip link add cni0 type bridge");
    run("ip link set cni0 up");
    run("ip address add 10.7.0.1/24 dev cni0");
    run("ip route add 10.8.0.0/16 via 10.7.0.2 proto 98");
    run("ip route add 10.9.0.0/16 via 10.7.0.2");
    run("ip -6 route add fd00:9::/64 dev cni0 proto 98");
    assert!(host.has_product(&routes).unwrap());
    host.remove_product(&routes, PLENTY).unwrap();
    assert!(!host.has_product(&routes).unwrap());
    let left = Command::new("ip").args(["route", "show"]).output().unwrap();
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(left.contains("10.9.0.0/16"), "{left}");
    assert!(!left.contains("10.8.0.0/16"), "{left}");
}

#[test]
fn packet_tables_go_by_their_names() {
    if !is_root() {
        skip!("only root makes namespaces");
    }
    if Command::new("nft").arg("--version").output().is_err() {
        skip!("nft is not installed");
    }
    if leave("products::packet_tables_go_by_their_names") {
        return;
    }
    let host = RealHost::builder().build();
    let table = Product::PacketTable("ip kube-proxy".into());
    assert!(!host.has_product(&table).unwrap());
    for family in ["ip", "ip6"] {
        run(&format!("nft add table {family} kube-proxy"));
    }
    assert!(host.has_product(&table).unwrap());
    host.remove_product(&table, PLENTY).unwrap();
    assert!(!host.has_product(&table).unwrap());
    assert!(
        host.has_product(&Product::PacketTable("ip6 kube-proxy".into()))
            .unwrap()
    );
}

#[test]
fn of_a_shared_packet_table_only_the_chains_of_kubernetes_go() {
    if !is_root() {
        skip!("only root makes namespaces");
    }
    if leave("products::of_a_shared_packet_table_only_the_chains_of_kubernetes_go") {
        return;
    }
    let host = RealHost::builder().build();
    let table = Product::PacketTable("ip nat".into());
    let user = "nft add rule ip nat POSTROUTING ip saddr 10.9.0.0/24 masquerade";
    let begin = |is_shared: bool| {
        run("nft add table ip nat");
        run("nft add chain ip nat POSTROUTING { type nat hook postrouting priority 100 ; }");
        for chain in ["KUBE-POSTROUTING", "KUBE-MARK", "CNI-0f"] {
            run(&format!("nft add chain ip nat {chain}"));
            run(&format!(
                "nft add rule ip nat POSTROUTING counter jump {chain}"
            ));
        }
        run("nft add rule ip nat KUBE-MARK goto CNI-0f");
        if is_shared {
            run(user);
            run("nft add chain ip nat MINE");
        }
    };
    // Somebody else's table, in which Kubernetes then wrote.
    begin(true);
    assert!(host.has_product(&table).unwrap());
    host.remove_product(&table, PLENTY).unwrap();
    assert!(!host.has_product(&table).unwrap());
    let left = Command::new("nft")
        .args(["list", "ruleset"])
        .output()
        .unwrap();
    let left = String::from_utf8(left.stdout).unwrap();
    assert!(
        left.contains("10.9.0.0/24") && left.contains("chain MINE"),
        "{left}"
    );
    assert!(!left.contains("KUBE-") && !left.contains("CNI-"), "{left}");
    run("nft delete table ip nat");
    // One that nobody else uses goes as a whole.
    begin(false);
    host.remove_product(&table, PLENTY).unwrap();
    let left = Command::new("nft")
        .args(["list", "ruleset"])
        .output()
        .unwrap();
    assert!(left.stdout.is_empty(), "{left:?}");
}

/// A process in a control group, and the groups themselves; both go at the end.
struct Group {
    folder: PathBuf,
    sleeper: Option<Child>,
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(mut sleeper) = self.sleeper.take() {
            drop(sleeper.kill());
            drop(sleeper.wait());
        }
        for folder in ["pods/a", "pods", ""] {
            drop(std::fs::remove_dir(self.folder.join(folder)));
        }
    }
}

#[test]
fn control_groups_go_when_nobody_is_in_them() {
    let hierarchies = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(PathBuf::from);
    let tasks = |folder: &PathBuf| folder.join("cgroup.procs").exists();
    if !is_root() {
        skip!("only root makes control groups");
    }
    let Some(hierarchy) = hierarchies.into_iter().find(tasks) else {
        skip!("no control groups are mounted");
    };
    let name = format!("bootlace-test-{}", std::process::id());
    let mut group = Group {
        folder: hierarchy.join(&name),
        sleeper: None,
    };
    for part in ["", "pods", "pods/a"] {
        std::fs::create_dir(group.folder.join(part)).unwrap();
    }
    let sleeper = Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let id = sleeper.id().to_string();
    group.sleeper = Some(sleeper);
    std::fs::write(group.folder.join("pods/a/cgroup.procs"), id).unwrap();

    let host = RealHost::builder().build();
    let product = Product::Cgroup(name);
    assert!(host.has_product(&product).unwrap());
    let error = host
        .remove_product(&product, Duration::from_millis(200))
        .unwrap_err();
    assert!(matches!(error, HostError::TimedOut { .. }), "{error:?}");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let removal = scope.spawn(|| host.remove_product(&product, PLENTY));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!removal.is_finished());
        let mut sleeper = group.sleeper.take().unwrap();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        removal.join().unwrap().unwrap();
    });
    assert!(begun.elapsed() < PLENTY);
    assert!(!group.folder.exists());
}

#[test]
fn a_root_in_a_folder_is_no_machine_that_runs() {
    let world = World::new();
    let host = &world.host;
    assert!(!host.is_live());
    assert!(RealHost::builder().build().is_live());
    let unit = UnitName::parse("kubelet.service").unwrap();
    let errors = [
        host.unit(&unit).unwrap_err(),
        host.start_unit(&unit, false, PLENTY).unwrap_err(),
        host.unit_log(&unit, 5).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(
            text.contains("kubelet.service") && text.contains("is a folder"),
            "{text}"
        );
    }
    assert_eq!(host.containers().unwrap(), None);
    assert_eq!(host.images().unwrap(), None);
    for product in [
        Product::Pods,
        Product::Interface("lo".into()),
        Product::PacketTable("ip filter".into()),
        Product::Routes(2),
        Product::Cgroup("system.slice".into()),
    ] {
        assert!(!host.has_product(&product).unwrap(), "{product:?}");
        host.remove_product(&product, PLENTY).unwrap();
    }
}

#[test]
fn room_is_that_of_the_nearest_folder_that_is_there() {
    let world = World::new();
    let (_, root) = world.root();
    std::fs::write(root.join("file"), "x").unwrap();
    let expected = rustix::fs::statvfs(&root).unwrap();
    let expected = expected.f_bavail * expected.f_frsize;
    for place in ["/", "/not/yet/there", "/file", "/file/below"] {
        let found = world.host.free_bytes(&path(place)).unwrap();
        // Others write meanwhile.
        assert!(
            found.abs_diff(expected) < expected / 4 + (1 << 30),
            "{place}"
        );
    }
    let missing = RealHost::builder().root(root.join("missing/root")).build();
    assert!(missing.free_bytes(&path("/var")).unwrap() > 0);
    assert!(!root.join("missing").exists());
}
