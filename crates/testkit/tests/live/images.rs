//! A stage that an image renders: what a plan can know of it, and what a failed try leaves.

use bootlace_model::fault::FaultKind;
use bootlace_model::view::PlannedState;
use bootlace_testkit::crash::{Bench, Wrong, cases};
use bootlace_testkit::env;
use bootlace_testkit::fake::{Errno, FakeHost, When, failed, printed};

fn bench() -> Result<Bench, Wrong> {
    let mut cases = cases().into_iter();
    let case = cases.find(|case| case.name.ends_with("an image that renders"));
    Bench::new(case.ok_or_else(|| Wrong("the case is gone".into()))?, 1)
}

#[test]
fn a_plan_says_what_is_known_only_after_the_image_has_rendered() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.machine();
    let mut options = bench.options();
    options.choice.to = Some("start-control-plane".into());
    let plan = bench.engine(&host, &options).plan();
    let plan = plan.map_err(|fault| Wrong::fault("planning", &fault))?;
    let step = |name: &str| plan.steps.iter().find(|step| step.id == name).unwrap();
    let rendered = step("render-ingress");
    assert_eq!(rendered.state, PlannedState::Todo);
    let reason = rendered.reason.as_deref().unwrap();
    assert!(reason.contains("known after the image"), "{reason}");
    let command = &rendered.effects.last().unwrap().command;
    assert!(command.contains("podman run --rm"), "{command}");
    let started = step("start-control-plane");
    assert_eq!(started.state, PlannedState::Unknown);
    let reason = started.reason.as_deref().unwrap();
    assert!(
        reason.contains("known after cluster/render-ingress"),
        "{reason}"
    );
    let untouched = bench.start.compare(&bench.tree(&host));
    untouched.map_err(|difference| Wrong(format!("after a plan {difference}")))
}

/// Lets podman fail after it has written something.
fn break_podman(host: &FakeHost) {
    host.program("podman", |command, world| {
        if command.argv.get(1).is_some_and(|word| word == "--version") {
            return Ok(printed("podman version 4.3.1"));
        }
        world.write("/opt/bootlace/.rendering-ingress/output/half", b"x")?;
        world.write("/opt/bootlace/.rendering-ingress/container-id", b"old")?;
        Ok(failed(7, "first this\n\nthen the cause\n"))
    });
}

#[test]
fn a_render_that_fails_is_asked_again_from_the_beginning() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.machine();
    break_podman(&host);
    let fault = bench.run(&host).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StepFailed);
    assert_eq!(fault.details, ["first this", "then the cause"]);
    assert!(fault.message.starts_with("render ingress with"), "{fault}");
    let undone = host.fork();
    bench.must_undo(&undone)?;
    env::mend_podman(&host);
    bench.must_finish(&host)?;
    bench.must_undo(&host)
}

#[test]
fn a_failure_while_its_folder_is_removed_is_resumed() -> Result<(), Wrong> {
    let bench = bench()?;
    let numbered = (0..).zip(&bench.operations);
    let removals = numbered.filter(|(_, operation)| {
        let what = operation.to_string();
        what.starts_with("remove ") && what.contains("/.rendering-ingress")
    });
    let mut tried = 0;
    for (operation, what) in removals {
        for when in [When::Before, When::Within] {
            let host = bench.machine();
            host.fail_at(operation, Errno::EIO, when);
            drop(bench.run(&host));
            host.clear_faults();
            let finished = bench.must_finish(&host);
            finished.map_err(|wrong| wrong.when(format!("{when:?} {operation} ({what})")))?;
            bench.must_undo(&host)?;
            tried += 1;
        }
    }
    assert!(tried > 8, "{tried}");
    Ok(())
}
