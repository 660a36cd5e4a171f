//! Real etcd and real Kubernetes as plain processes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_testkit::crash::Sample;
use rustix::process::{Pid, Signal};

use crate::world::{World, ends_with, left, pid, succeeds, supervised, until};

const SKIPPED: [&str; 8] = [
    "restore-overrides",
    "wait-masters",
    "wait-etcd",
    "wait-control-plane",
    "wait-version-operator",
    "hand-over",
    "add-ons",
    "clean-assets",
];

fn kubectl(world: &World, kubeconfig: &Path) -> Command {
    let mut command = Command::new(world.program("kubectl"));
    command.env_clear().env("HOME", world.path("home"));
    command.arg("--kubeconfig").arg(kubeconfig);
    command
}

fn kill(number: u32) {
    let number = Pid::from_raw(number.try_into().unwrap()).unwrap();
    rustix::process::kill_process(number, Signal::KILL).unwrap();
}

/// Kills a supervisor and all its processes.
fn kill_all(root: &Path) {
    let all = supervised(root);
    kill(all.pid);
    for number in all.processes.iter().filter_map(|process| process.pid) {
        kill(number);
    }
    until("nothing is left", || left(root).is_empty().then_some(()));
}

/// Tells whether the API says that it is ready.
fn is_ready(world: &World, kubeconfig: &Path) -> bool {
    let asked = kubectl(world, kubeconfig)
        .args(["get", "--raw", "/readyz"])
        .output();
    asked.is_ok_and(|output| output.stdout == b"ok")
}

#[test]
#[ignore = "slow: starts real Kubernetes"]
fn somebody_without_rights_brings_up_an_api_and_takes_it_down() {
    let mut world = World::new().with_kubernetes().of_nobody();
    let folder = world.path(".local/share/bootlace/up-process");
    let root = folder.join("root");
    world.also(root.clone());
    let mut up = world.command("up --in process --progress plain");
    world.with_programs(&mut up);
    let said = succeeds(&mut up);
    let kubeconfig = said.trim().strip_prefix("export KUBECONFIG=").unwrap();
    let kubeconfig = PathBuf::from(kubeconfig);
    let names = succeeds(kubectl(&world, &kubeconfig).args(["get", "namespaces", "-o", "name"]));
    assert!(names.contains("namespace/kube-system"), "{names}");
    skipped_steps_say_why(&world, &root);

    // What is killed comes again, and the API with it.
    let api_server = pid(&root, "kube-apiserver").unwrap();
    let owner = fs::metadata(format!("/proc/{api_server}")).unwrap().uid();
    assert_ne!(owner, 0);
    kill(api_server);
    until("another API server runs", || {
        pid(&root, "kube-apiserver").filter(|now| *now != api_server)
    });
    until("the API is ready again", || {
        is_ready(&world, &kubeconfig).then_some(())
    });

    // As after a reboot: nothing runs, and `up` starts it again.
    kill_all(&root);
    succeeds(&mut up);
    assert!(is_ready(&world, &kubeconfig));

    succeeds(&mut world.command("down --in process"));
    assert_eq!(left(&root), [""; 0]);
    assert!(!folder.exists());
}

fn skipped_steps_say_why(world: &World, root: &Path) {
    let mut status = world.command("status cluster -o json");
    let status = succeeds(status.arg("--root").arg(root));
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["state"], "succeeded");
    let steps = status["steps"].as_array().unwrap();
    let skipped = steps.iter().filter(|step| step["state"] == "skipped");
    let skipped: Vec<&str> = skipped
        .filter(|step| step["reason"].as_str().is_some_and(|why| why.len() > 20))
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, SKIPPED);
    let done = steps.iter().filter(|step| step["state"] == "done").count();
    assert_eq!(done, 15, "{status:#}");
}

#[test]
#[ignore = "slow: starts real Kubernetes"]
fn killed_in_the_middle_it_goes_on_and_is_taken_back_without_a_trace() {
    let world = World::new().with_kubernetes();
    fs::write(world.root().join("somebody-s"), "file").unwrap();
    let before = world.tree();
    let run = || {
        let mut command = world.run("");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    // Three times at some moment while the control plane begins. On a fast computer the last of these
    // runs may be complete before it is killed.
    let mut sample = Sample::begin();
    println!("seed {}; BOOTLACE_SEED repeats the moments", sample.seed);
    for longest in [1_000, 2_000, 200] {
        let mut child = run();
        until("it begins", || pid(&world.root(), "kube-apiserver"));
        std::thread::sleep(Duration::from_millis(sample.roll() % longest));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // As after a power cut: nothing of it runs any more.
    kill_all(&world.root());
    // Neither the placement nor the programs have to be said again.
    succeeds(&mut world.on_root(way_on(&world)));
    succeeds(&mut world.on_root("verify cluster"));
    // And once more, now that the run is certainly complete.
    kill_all(&world.root());
    ends_with(6, &mut world.on_root("verify cluster"));
    assert_eq!(way_on(&world), REPLAN);
    succeeds(&mut world.on_root(REPLAN));
    succeeds(&mut world.on_root("verify cluster"));
    let kubeconfig = world.root().join("etc/kubernetes/admin.conf");
    assert!(is_ready(&world, &kubeconfig));
    succeeds(&mut world.on_root("undo cluster"));
    assert_eq!(left(&world.root()), [""; 0]);
    if let Err(difference) = before.compare(&world.tree()) {
        panic!("{difference}");
    }
}

/// What puts back what a complete run has lost.
const REPLAN: &str = "resume cluster --replan";

/// Returns the way on after everything has ended: a complete run has nothing to resume.
fn way_on(world: &World) -> &'static str {
    let status = succeeds(&mut world.on_root("status cluster -o json"));
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    if status["state"] == "succeeded" {
        REPLAN
    } else {
        "resume cluster"
    }
}

#[test]
#[ignore = "slow: starts real Kubernetes"]
fn a_wrong_flag_is_named_within_seconds_and_resume_works_once_it_is_gone() {
    let world = World::new().with_kubernetes();
    succeeds(&mut world.run("--to render-machine-config"));
    let pod = world
        .root()
        .join("opt/bootlace/bootstrap-manifests/kube-apiserver-pod.yaml");
    let right = fs::read_to_string(&pod).unwrap();
    let wrong = right.replace("--allow-privileged=", "--allow-everything=");
    assert_ne!(right, wrong);
    fs::write(&pod, wrong).unwrap();
    let begun = Instant::now();
    let said = ends_with(5, &mut world.on_root("run cluster"));
    assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
    assert!(said.contains("unknown flag: --allow-everything"), "{said}");
    fs::write(&pod, right).unwrap();
    succeeds(&mut world.on_root("resume cluster"));
    assert!(is_ready(
        &world,
        &world.root().join("etc/kubernetes/admin.conf")
    ));
}
