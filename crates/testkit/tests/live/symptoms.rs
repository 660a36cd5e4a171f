//! A wait ends as soon as its cause is visible, and says which it is.

use std::time::Duration;

use bootlace_engine::port::{Host, Signer};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use bootlace_model::symptom::Symptom;
use bootlace_testkit::crash::Wrong;
use bootlace_testkit::fake::{Ailment, FakeHost, archive};

use super::single::{Try, at, start, unit, wait};

/// How long it may take at most until a visible cause ends a wait.
const SOON: Duration = Duration::from_secs(10);

/// Expects that a run fails soon, with these words in its message, and with exit code 5.
fn fails_soon(host: &FakeHost, run: impl FnOnce() -> Option<Fault>, causes: &[&str]) {
    let begun = host.now();
    let fault = run().unwrap();
    let took = host.now().duration_since(begun).unsigned_abs();
    assert!(took < SOON, "{fault} took {took:?}");
    assert_eq!(fault.kind.exit_code(), 5, "{fault}");
    for cause in causes {
        assert!(fault.message.contains(cause), "{cause} is not in {fault:?}");
    }
    assert!(
        !fault.hints.is_empty() && fault.because.is_some(),
        "{fault:?}"
    );
}

#[test]
fn each_sign_of_the_sample_step_ends_it_with_its_cause_and_going_on_works() -> Result<(), Wrong> {
    let bench = super::sampler()?;
    let unit = "kubelet.service".to_owned();
    let line = "open /var/lib/kubelet/config.yaml: no such file".to_owned();
    let pod = "kube-apiserver".to_owned();
    let ends = |line: &str| Ailment::ContainerExits {
        pod: pod.clone(),
        code: 1,
        line: line.into(),
    };
    for (ailment, causes) in [
        (
            Ailment::UnitLoops { unit, line },
            ["again and again", "no such file"],
        ),
        (
            ends("bind: address already in use"),
            ["S-01", "somebody else listens there"],
        ),
        (ends("panic: oh dear"), ["more than once", "panic: oh dear"]),
        (
            Ailment::ContainerStuck {
                pod: pod.clone(),
                line: "x509: certificate signed by unknown authority".into(),
            },
            ["S-02", "runs, and cannot do its work"],
        ),
        (
            Ailment::ApiUntrusted {
                reason: "it is somebody else's".into(),
            },
            ["127.0.0.1:6443 cannot be trusted", "somebody else's"],
        ),
    ] {
        let host = bench.machine();
        host.ail(ailment.clone());
        fails_soon(&host, || bench.run(&host).err(), &causes);
        // What is still wrong is named again, and not taken for what is known already.
        fails_soon(&host, || bench.run(&host).err(), &causes);
        let undone = host.fork();
        host.heal();
        let told = |wrong: Wrong| wrong.when(causes[0]);
        // A wait of the sample is shorter than the back-off that the failures have led to.
        bench.must_finish(&host).map_err(told)?;
        // It is taken back while the machine still ails, too.
        bench.must_undo(&undone).map_err(told)?;
    }
    Ok(())
}

#[test]
fn an_api_that_takes_calls_and_says_nothing_hides_no_cause() -> Result<(), Wrong> {
    let bench = super::sampler()?;
    let host = bench.machine();
    host.ail(Ailment::ApiSilent);
    host.ail(Ailment::ContainerStuck {
        pod: "kube-apiserver".into(),
        line: "x509: certificate signed by unknown authority".into(),
    });
    fails_soon(&host, || bench.run(&host).err(), &["S-02"]);
    fails_soon(&host, || bench.run(&host).err(), &["S-02"]);
    host.heal();
    bench.must_finish(&host)
}

#[test]
fn without_a_cause_the_deadline_ends_a_wait_and_says_what_was_found() -> Result<(), Wrong> {
    let bench = super::sampler()?;
    let host = bench.machine();
    host.ail(Ailment::ApiNeverReady);
    let fault = bench.run(&host).unwrap_err();
    assert_eq!(
        (fault.kind, fault.kind.exit_code()),
        (FaultKind::Deadline, 8)
    );
    assert!(fault.message.contains("poststarthook"), "{fault}");
    host.heal();
    bench.must_finish(&host)
}

#[test]
fn a_missing_image_is_named_by_the_archive_and_by_the_wait() -> Result<(), Wrong> {
    let images = vec!["there:1".to_owned(), "gone:1".to_owned()];
    let missing = Symptom::ImagesMissing {
        images,
        fetcher: None,
    };
    let mut attempt = Try::new(vec![wait(missing)], vec![]);
    attempt
        .host
        .set_up(|world| world.load_images(&["there:1"]))
        .unwrap();
    fails_soon(&attempt.host, || attempt.run().err(), &["gone:1"]);
    attempt = Try::new(vec![import()], vec![]);
    let put = |images: &[&str]| {
        let written = attempt
            .host
            .set_up(|world| world.write("/images.tar", &archive(images)));
        written.unwrap();
    };
    put(&["there:1"]);
    fails_soon(
        &attempt.host,
        || attempt.run().err(),
        &["gone:1 is not in /images.tar"],
    );
    put(&["there:1", "gone:1"]);
    attempt
        .run()
        .map_err(|fault| Wrong::fault("with the image", &fault))?;
    Ok(())
}

#[test]
fn an_image_is_waited_for_until_whoever_fetches_it_says_that_it_cannot() {
    let missing = Symptom::ImagesMissing {
        images: vec!["gone:1".into()],
        fetcher: Some(unit("kubelet.service")),
    };
    let attempt = Try::new(vec![wait(missing)], vec![]);
    let fault = attempt.run().unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadline, "{fault}");
    let pod = r#"{"metadata": {"name": "app"}, "spec": {"containers": [{"name": "app", "image": "gone:1"}]}}"#;
    let started = attempt.host.set_up(|world| {
        world.write("/etc/kubernetes/manifests/app.yaml", pod.as_bytes())?;
        world.install_unit("kubelet.service", false)?;
        world.start_unit("kubelet.service")
    });
    started.unwrap();
    let says = ["gone:1", "cannot be fetched"];
    fails_soon(&attempt.host, || attempt.run().err(), &says);
}

fn import() -> bootlace_model::effect::Effect {
    bootlace_model::effect::Effect::ImportImages(bootlace_model::effect::ImportImages {
        archive: at("/images.tar"),
        digest: None,
        images: vec!["there:1".into(), "gone:1".into()],
        within: SOON,
        origin: super::single::origin(),
    })
}

#[test]
fn a_unit_that_fails_for_good_ends_its_start_with_its_last_words() {
    let attempt = Try::new(vec![start("lasting.service", vec![])], vec![]);
    let line = "out of luck".to_owned();
    let unit = "lasting.service".to_owned();
    attempt.host.ail(Ailment::UnitFails { unit, line });
    let fault = attempt.run().unwrap_err();
    assert_eq!(fault.kind.exit_code(), 5, "{fault}");
    assert!(
        fault.details.iter().any(|line| line == "out of luck"),
        "{fault:?}"
    );
}

#[test]
fn a_unit_that_loops_ends_a_wait() {
    let symptom = Symptom::UnitFails(unit("lasting.service"));
    let attempt = Try::new(
        vec![start("lasting.service", vec![]), wait(symptom)],
        vec![],
    );
    let line = "out of luck".to_owned();
    let unit = "lasting.service".to_owned();
    attempt.host.ail(Ailment::UnitLoops { unit, line });
    fails_soon(&attempt.host, || attempt.run().err(), &["out of luck"]);
}

#[test]
fn a_certificate_that_is_not_valid_now_ends_a_wait() {
    let path = at("/tls/server.crt");
    let attempt = Try::new(vec![wait(Symptom::CertificateOutOfDate { path })], vec![]);
    let host = &attempt.host;
    let request = CertificateRequest {
        subject: Subject::user("server"),
        dns_names: vec![],
        addresses: vec![],
        usages: vec![Usage::Server],
        valid_for: Duration::from_hours(1),
        back_dated: Duration::ZERO,
    };
    let key = host.make_key(KeyAlgorithm::EcdsaP256).unwrap();
    let made = host.issue(&request, &key, Signer::Itself).unwrap();
    host.set_up(|world| world.write("/tls/server.crt", made.as_bytes()))
        .unwrap();
    host.sleep(Duration::from_hours(2)).unwrap();
    fails_soon(host, || attempt.run().err(), &["/tls/server.crt"]);
}

#[test]
fn objects_that_are_refused_are_named_and_applied_once_they_are_right() -> Result<(), Wrong> {
    let bench = super::sampler()?;
    let host = bench.machine();
    let (name, reason) = ("config".to_owned(), "data: Invalid value".to_owned());
    host.ail(Ailment::ObjectRefused { name, reason });
    let fault = bench.run(&host).unwrap_err();
    assert_eq!(fault.kind.exit_code(), 5, "{fault}");
    assert!(fault.message.contains("1 of 5 objects"), "{fault}");
    let told = fault
        .details
        .iter()
        .any(|line| line.contains("ConfigMap sampler/config") && line.contains("Invalid value"));
    assert!(told, "{fault:?}");
    host.heal();
    bench.must_finish(&host)
}
