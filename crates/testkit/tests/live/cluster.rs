//! What can be wrong with a machine when the real sequence starts its control plane.

use std::time::Duration;

use bootlace_engine::Options;
use bootlace_engine::port::Host;
use bootlace_model::fault::Fault;
use bootlace_testkit::crash::{Bench, Wrong, cases};
use bootlace_testkit::fake::{Ailment, FakeHost, archive};

/// How long it may take at most until a visible cause ends a wait.
const SOON: Duration = Duration::from_secs(10);

/// Makes something wrong with a machine.
type Trouble<'a> = Box<dyn Fn(&FakeHost) + 'a>;

fn bench() -> Result<Bench, Wrong> {
    let mut cases = cases().into_iter();
    let case = cases.find(|case| case.name == "cluster with everything");
    Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)
}

/// Runs as far as nothing is started.
fn render(bench: &Bench) -> Result<FakeHost, Wrong> {
    let host = bench.machine();
    let mut options = bench.options();
    options.choice.to = Some("render-machine-config".into());
    let rendered = bench.engine(&host, &options).run();
    rendered.map_err(|fault| Wrong::fault("rendering", &fault))?;
    Ok(host)
}

fn fails(bench: &Bench, host: &FakeHost, options: &Options) -> Fault {
    let fault = bench.engine(host, options).run().unwrap_err();
    let step = fault.step.as_ref().map(|step| step.step().to_owned());
    let step = step.unwrap_or_else(|| "none".into());
    // What is looked at before a run begins belongs to no step yet.
    assert!(
        step == "start-control-plane" || fault.kind.exit_code() == 4,
        "{step}: {fault}"
    );
    fault
}

#[test]
fn a_control_plane_that_cannot_start_says_why_soon_and_starts_once_it_can() -> Result<(), Wrong> {
    let bench = bench()?;
    let rendered = render(&bench)?;
    let ends = |pod: &str, line: &str| Ailment::ContainerExits {
        pod: pod.into(),
        code: 1,
        line: line.into(),
    };
    let (unit, line) = ("kubelet.service".into(), "unknown flag: --old".into());
    let (port, holder) = (6443, "process 9 (nginx)".into());
    for (ailment, cause) in [
        (ends("etcd", "write wal: no space left on device"), "F-28"),
        (ends("kube-apiserver", "unknown flag: --new"), "F-18"),
        (ends("kube-apiserver", "panic: oh dear"), "oh dear"),
        (Ailment::PortTaken { port, holder }, "F-30"),
        (Ailment::UnitLoops { unit, line }, "unknown flag: --old"),
        (
            Ailment::ApiUntrusted {
                reason: "it is signed by somebody else".into(),
            },
            "somebody else",
        ),
    ] {
        let host = rendered.fork();
        host.ail(ailment);
        // Without the look beforehand it is the wait that has to find it.
        let mut options = bench.options();
        options.ignore.push("Port-6443".into());
        let begun = host.now();
        let fault = fails(&bench, &host, &options);
        let took = host.now().duration_since(begun).unsigned_abs();
        assert!(took < SOON, "{cause}: {took:?}");
        assert_eq!(fault.kind.exit_code(), 5, "{cause}: {fault}");
        assert!(fault.message.contains(cause), "{cause} is not in {fault:?}");
        let undone = host.fork();
        host.heal();
        bench
            .must_finish(&host)
            .map_err(|wrong| wrong.when(cause))?;
        bench
            .must_undo(&undone)
            .map_err(|wrong| wrong.when(cause))?;
    }
    Ok(())
}

#[test]
fn a_machine_that_is_not_ready_is_refused_before_anything_starts() -> Result<(), Wrong> {
    let bench = bench()?;
    let rendered = render(&bench)?;
    let before = bench.tree(&rendered);
    let (port, holder) = (10250, "process 9 (kubelet)".into());
    let ail = |ailment: Ailment| move |host: &FakeHost| host.ail(ailment.clone());
    let data = |host: &FakeHost| {
        host.set_up(|world| world.write("/var/lib/etcd/member/wal", b"theirs"))
            .unwrap();
    };
    let late = |host: &FakeHost| host.sleep(Duration::from_hours(24 * 365 * 30)).unwrap();
    let troubles: [(&str, Trouble<'_>); 5] = [
        (
            "Port-10250",
            Box::new(ail(Ailment::PortTaken { port, holder })),
        ),
        (
            "Swap",
            Box::new(ail(Ailment::Swap {
                area: "/swap".into(),
            })),
        ),
        ("Live-Root", Box::new(ail(Ailment::NotLive))),
        ("DirAvailable--var-lib-etcd", Box::new(data)),
        ("Clock", Box::new(late)),
    ];
    for (name, trouble) in troubles {
        let host = rendered.fork();
        trouble(&host);
        let fault = fails(&bench, &host, &bench.options());
        assert_eq!(fault.kind.exit_code(), 4, "{name}: {fault}");
        assert!(
            fault.message.contains(&format!("[{name}]")),
            "{name}: {fault}"
        );
        let wal = [super::single::at("/var/lib/etcd")];
        let compared = before.compare(&bench.tree(&host).without(&wal));
        compared.map_err(|difference| Wrong(format!("{name}: {difference}")))?;
    }
    Ok(())
}

#[test]
fn an_archive_that_is_not_the_one_that_was_listed_is_refused() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = render(&bench)?;
    host.set_up(|world| world.write("/inputs/images.tar", &archive(&["evil:1"])))
        .unwrap();
    let fault = fails(&bench, &host, &bench.options());
    assert_eq!(fault.kind.exit_code(), 9, "{fault}");
    assert!(fault.message.contains("/inputs/images.tar"), "{fault}");
    let right = bench.start.content("/inputs/images.tar").unwrap();
    host.set_up(|world| world.write("/inputs/images.tar", right))
        .unwrap();
    let undone = host.fork();
    bench.must_finish(&host)?;
    bench.must_undo(&undone)
}
