//! A renderer that fails, hangs, writes nothing or nonsense, or loses who started it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::{Stalling, World};

const RUN: &str = "run cluster --to render-ingress";
/// How long it may take to name a cause once it is visible.
const NAMED: Duration = Duration::from_secs(10);
/// How long a render may take here; a hang is visible after that.
const WITHIN: Duration = Duration::from_secs(4);

#[test]
#[ignore = "slow: builds, pushes and pulls an image, and lets it hang"]
fn each_fault_is_named_and_resume_goes_on_once_it_is_gone() {
    let world = World::new();
    world.configure("4s", &world.entry("ingress"));
    let faults = [
        (
            "exit",
            5,
            "the renderer gives up: there is no such feature gate",
        ),
        ("hang", 8, "did not end within 4 s"),
        (
            "nothing",
            5,
            "ingress/manifests/ingress-class.yaml is missing",
        ),
        ("nonsense", 5, "manifests/ingress-config.yaml:"),
    ];
    for (fault, code, cause) in faults {
        world.fault(fault, Some(fault));
        let begun = Instant::now();
        let (ended, said) = world.call(RUN, fault);
        assert_eq!(ended, Some(code), "{fault}: {said}");
        assert!(said.contains(cause), "{fault}: {said}");
        assert!(begun.elapsed() < WITHIN + NAMED, "{:?}", begun.elapsed());
        assert_eq!(world.containers(), "", "{fault}");
        let output = world.path(fault).join("opt/bootlace/ingress");
        assert!(!output.exists(), "{fault}: nothing of it is taken");

        world.fault(fault, None);
        world.must("resume cluster", fault);
        assert!(output.join("manifests/ingress-class.yaml").is_file());
        let left = world.path(fault).join("opt/bootlace/.rendering-ingress");
        assert!(!left.exists(), "{fault}");
        world.must("undo cluster", fault);
        assert!(!output.exists(), "{fault}");
    }
}

#[test]
#[ignore = "slow: builds, pushes and pulls an image, and lets it hang"]
fn a_container_does_not_outlive_a_program_that_is_killed() {
    let world = World::new();
    world.configure("120s", &world.entry("ingress"));
    for verb in ["resume", "undo"] {
        world.fault(verb, Some("hang"));
        let mut command = world.command(RUN, verb);
        let mut child = command.arg("-q").stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while world.containers().is_empty() {
            assert!(begun.elapsed() < Duration::from_mins(1), "it never begins");
            std::thread::sleep(Duration::from_millis(100));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Nobody was left to end it.
        assert_ne!(world.containers(), "");
        world.fault(verb, None);
        world.must(&format!("{verb} cluster"), verb);
        assert_eq!(world.containers(), "", "{verb}");
    }
}

#[test]
#[ignore = "slow: builds and pushes an image, and asks a registry that is gone"]
fn an_image_that_cannot_be_pulled_is_named() {
    let world = World::new();
    let (name, _) = world.image.split_once('@').unwrap();
    let other = bootlace_model::ids::Digest::of(b"another");
    world.configure("60s", &format!("ingress: {{image: \"{name}@{other}\"}}"));
    let begun = Instant::now();
    let (code, said) = world.call(RUN, "root");
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("manifest unknown"), "{said}");
    assert!(begun.elapsed() < NAMED, "{:?}", begun.elapsed());
}

#[test]
#[ignore = "slow: builds and pushes an image, and pulls it through a registry that stalls"]
fn a_registry_that_stalls_is_given_up_and_resume_goes_on_once_it_answers() {
    let world = World::new();
    // Nothing is answered at all, or the middle of a layer is where it ends.
    for (root, bytes) in [("silent", 0), ("half", 1 << 20)] {
        let registry = Stalling::before(&world, bytes);
        let image = registry.image(&world);
        world.configure("6s", &format!("ingress: {{image: \"{image}\"}}"));
        let begun = Instant::now();
        let (code, said) = world.call(RUN, root);
        assert_eq!(code, Some(8), "{root}: {said}");
        assert!(said.contains("did not end within"), "{root}: {said}");
        assert!(
            begun.elapsed() < Duration::from_secs(6) + NAMED,
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(world.containers(), "", "{root}");
        let output = world.path(root).join("opt/bootlace/ingress");
        assert!(!output.exists(), "{root}: nothing of it is taken");
        registry.mend();
        world.must("resume cluster", root);
        assert!(output.join("manifests/ingress-class.yaml").is_file());
        world.must("undo cluster", root);
        world.podman(&["rmi", "-a", "-f"]);
    }
}
