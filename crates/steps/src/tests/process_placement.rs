use bootlace_model::config::{Placement, Settings};
use bootlace_model::effect::{AlreadyRan, Effect};
use bootlace_model::fact::Facts;
use bootlace_model::probe::Answer;
use bootlace_model::step::Decision;

use super::{effects, settings, step, tree};

fn as_processes() -> Settings {
    let programs = vec!["/opt/programs".to_owned(), "/opt/etcd".to_owned()];
    Settings {
        placement: Placement::Process { programs },
        ..settings()
    }
}

fn planned() -> Vec<Effect> {
    let mut facts = Facts::default();
    facts.set("manifests.all", Answer::Tree(tree::<&str>(&[])));
    let now = Answer::Json("2026-01-01T00:00:00Z".into());
    facts.set("start-control-plane.now", now);
    effects("start-control-plane", &as_processes(), &facts)
}

#[test]
fn plain_processes_get_the_pods_and_nothing_of_a_kubelet() {
    let targets: Vec<String> = planned().iter().map(Effect::target).collect();
    let of = |name: &str| targets.iter().filter(|it| it.contains(name)).count();
    assert_eq!(of("-pod.yaml"), 4, "{targets:#?}");
    assert_eq!(of("kubelet.") + of("/var/lib/kubelet"), 0, "{targets:#?}");
    assert_eq!(of("version-operator"), 0, "{targets:#?}");
    assert_eq!(of("/etc/kubernetes/pki/ca.key"), 1);
}

#[test]
fn the_supervisor_begins_with_the_first_pods_and_outlives_a_crash() {
    let effects = planned();
    let position = |wanted: &dyn Fn(&Effect) -> bool| effects.iter().position(wanted).unwrap();
    let named = |name: &'static str| position(&move |it: &Effect| it.target().ends_with(name));
    let supervisor = position(&|it| matches!(it, Effect::RunCommand(_)));
    let ready = position(&|it| matches!(it, Effect::Await(_)));
    assert!(named("/kube-apiserver-pod.yaml") < supervisor && supervisor < ready);
    assert!(ready < named("/kube-scheduler-pod.yaml"));
    let Effect::RunCommand(run) = &effects[supervisor] else {
        panic!()
    };
    let line = run.argv.join(" ");
    assert_eq!(
        line,
        "bootlace supervise --root . --programs /opt/programs --programs /opt/etcd"
    );
    assert!(matches!(run.already, AlreadyRan::While(_)));
    let units = |it: &Effect| matches!(it, Effect::StartUnit(_) | Effect::SetUnit(_));
    assert!(!effects.iter().any(units));
}

#[test]
fn what_needs_a_node_is_skipped_with_a_reason() {
    let settings = as_processes();
    let skipped = [
        "restore-overrides",
        "wait-masters",
        "wait-etcd",
        "wait-control-plane",
        "wait-version-operator",
        "hand-over",
        "add-ons",
        "clean-assets",
    ];
    for name in skipped {
        let decision = step(name).plan(&settings, &Facts::default()).unwrap();
        let Decision::Skip { reason } = decision else {
            panic!("{name} is not skipped")
        };
        assert!(reason.len() > 20, "{name}: {reason}");
    }
    let decision = step("verify-api").plan(&settings, &Facts::default());
    assert!(matches!(decision, Ok(Decision::Do(_))));
}

#[test]
fn neither_root_nor_a_runtime_nor_pinned_images_are_asked_for() {
    let checks = step("start-control-plane").checks(&as_processes());
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    for there in [
        "Folder-Root",
        "Port-6443",
        "Port-2381",
        "Program-etcd",
        "Clock",
    ] {
        assert!(names.contains(&there), "{there}: {names:?}");
    }
    for absent in [
        "IsPrivilegedUser",
        "Live-Root",
        "CRI",
        "Release-Pinned",
        "Port-10250",
    ] {
        assert!(!names.contains(&absent), "{absent}: {names:?}");
    }
}
