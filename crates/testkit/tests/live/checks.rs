//! A machine that is not ready is left alone, unless somebody insists.

use bootlace_engine::port::Machine as _;
use bootlace_model::check::{Check, Test};
use bootlace_model::effect::{Body, Effect, MakeDirectory, PutFile};
use bootlace_model::fault::FaultKind;
use bootlace_model::node::Attributes;
use bootlace_testkit::crash::Wrong;
use bootlace_testkit::fake::{Ailment, FakeHost};
use bootlace_testkit::tree::Snapshot;

use super::single::{Try, at, origin, start, unit};

fn check(name: &str, test: Test) -> Check {
    Check {
        name: name.into(),
        test,
        why: "It would fail.",
        hint: format!("look at {name}"),
    }
}

fn ail(host: &FakeHost) {
    let holder = "process 9 (nginx)".into();
    host.ail(Ailment::PortTaken { port: 6443, holder });
    host.set_up(|world| world.write("/var/lib/etcd/member/snap/db", b"theirs"))
        .unwrap();
}

/// A step on a machine where a port is taken and a folder is not empty.
fn refused() -> Try {
    let checks = vec![
        check("Port-6443", Test::PortFree(6443)),
        check("Data", Test::Empty(at("/var/lib/etcd"))),
        check("Swap", Test::NoSwap),
    ];
    let attempt = Try::new(vec![start("lasting.service", vec![])], checks);
    ail(&attempt.host);
    attempt
}

#[test]
fn a_refused_machine_is_left_without_a_trace_and_everything_in_the_way_is_named() {
    let attempt = refused();
    let before = Snapshot::of_fake(&attempt.host, &[]);
    let fault = attempt.run().unwrap_err();
    assert_eq!(
        (fault.kind, fault.kind.exit_code()),
        (FaultKind::Preflight, 4)
    );
    let told = fault.details.join("\n");
    assert!(
        told.contains("[Port-6443]") && told.contains("nginx"),
        "{fault:?}"
    );
    assert!(
        told.contains("[Data]") && !told.contains("[Swap]"),
        "{fault:?}"
    );
    assert!(
        fault.hints.iter().any(|hint| hint.contains("look at Data")),
        "{fault:?}"
    );
    assert_eq!(
        before.compare(&Snapshot::of_fake(&attempt.host, &[])),
        Ok(())
    );
}

#[test]
fn checks_are_ignored_by_name_and_what_they_found_stays() {
    let mut attempt = refused();
    let before = Snapshot::of_fake(&attempt.host, &[]);
    attempt.options.ignore = vec!["port-6443".into()];
    let fault = attempt.run().unwrap_err();
    assert!(
        fault.message.contains("[Data]") && !fault.message.contains("6443"),
        "{fault}"
    );
    assert_eq!(
        before.compare(&Snapshot::of_fake(&attempt.host, &[])),
        Ok(())
    );

    attempt.options.ignore = vec!["port-6443".into(), "Data".into()];
    attempt.run().unwrap();
    // What was found is not ours, and stays.
    attempt.undo().unwrap();
    let after = Snapshot::of_fake(&attempt.host, &[at("/var/lib/bootlace")]);
    assert_eq!(
        before.without(&[at("/var/lib/bootlace")]).compare(&after),
        Ok(())
    );
}

#[test]
fn each_check_refuses_what_it_is_for() {
    let area = "/swap".to_owned();
    let name = "memory".to_owned();
    let argv = vec!["kubelet".to_owned()];
    let folders = vec![];
    let fits = Some("v1.36.3".to_owned());
    let path = at("/var/lib/etcd");
    for (ailment, test, word) in [
        (Some(Ailment::NotLive), Test::LiveRoot, "--root"),
        (Some(Ailment::Swap { area }), Test::NoSwap, "/swap"),
        (
            Some(Ailment::LittleRoom { bytes: 1 << 20 }),
            Test::Room {
                path,
                bytes: 5 << 20,
            },
            "1 MiB",
        ),
        (
            Some(Ailment::ControllerMissing { name }),
            Test::Cgroups(&["cpu", "memory"]),
            "memory",
        ),
        (
            None,
            Test::Program {
                argv,
                folders,
                fits,
            },
            "kubelet",
        ),
        (None, Test::FolderRoot, "not a folder"),
        (None, Test::NodeName(Some("No_Name".into())), "No_Name"),
        // Each part is short enough, but the whole is the value of a label.
        (
            None,
            Test::NodeName(Some(["a"; 33].join("."))),
            "cannot be the name of a node",
        ),
    ] {
        let attempt = Try::new(
            vec![start("lasting.service", vec![])],
            vec![check("It", test.clone())],
        );
        if let Some(ailment) = ailment {
            attempt.host.ail(ailment);
        }
        let fault = attempt.run().unwrap_err();
        assert_eq!(fault.kind.exit_code(), 4, "{test:?}: {fault}");
        assert!(
            fault.message.contains("[It]") && fault.message.contains(word),
            "{fault}"
        );
    }
}

#[test]
fn a_step_that_has_begun_does_not_find_its_own_things_in_the_way() -> Result<(), Wrong> {
    let bench = super::sampler()?;
    // The sample step looks whether a port is free and a folder empty; both are its own later.
    let host = bench.machine();
    host.ail(Ailment::ObjectRefused {
        name: "config".into(),
        reason: "no".into(),
    });
    bench.run(&host).unwrap_err();
    host.heal();
    bench.must_finish(&host)?;
    bench.must_undo(&host)
}

#[test]
fn a_step_looks_again_just_before_it_begins() {
    // Nothing is in the way when the run begins; the first step brings it.
    let first = Effect::PutFile(PutFile {
        path: at("/var/lib/mine/file"),
        body: Body::text("x"),
        attributes: Attributes::mode(0o644),
        origin: origin(),
    });
    let folder = Effect::MakeDirectory(MakeDirectory {
        path: at("/var/lib/mine"),
        attributes: Attributes::mode(0o755),
        origin: origin(),
    });
    let second = vec![start("lasting.service", vec![])];
    let empty = check("Empty", Test::Empty(at("/var/lib/mine")));
    let attempt = Try::two_checked(vec![folder, first], second, vec![empty]);
    let fault = attempt.run().unwrap_err();
    assert_eq!(fault.kind.exit_code(), 4, "{fault}");
    assert!(fault.message.contains("[Empty]"), "{fault}");
    assert!(
        !attempt
            .host
            .unit(&unit("lasting.service"))
            .unwrap()
            .is_active
    );
}
