//! What a user of a cluster would notice, and `verify` must.

use bootlace_engine::port::Host as _;
use bootlace_model::expect::{Vantage, mark};
use bootlace_model::view::{CheckView, VerifyView};
use bootlace_testkit::crash::{Bench, Wrong, one_way_cases};
use bootlace_testkit::fake::{Ailment, FakeHost};
use serde_json::{Map, Value, json};

/// Where the fake keeps what the API holds.
const STORE: &str = "/var/lib/etcd/member/snap/db";
const DNS: &str = "v1 Service kube-system kube-dns";

fn bench() -> Result<Bench, Wrong> {
    let mut cases = one_way_cases().into_iter();
    let case = cases.find(|case| case.name.starts_with("cluster with everything"));
    Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)
}

/// Changes the objects of the API behind its back.
fn change(host: &FakeHost, act: impl FnOnce(&mut Map<String, Value>)) {
    host.set_up(|world| {
        let text = world.read(STORE)?.unwrap();
        let mut objects: Map<String, Value> = serde_json::from_slice(&text).unwrap();
        act(&mut objects);
        world.write_durably(STORE, &serde_json::to_vec(&objects).unwrap())
    })
    .unwrap();
}

/// Adds the cluster's DNS to the API, and to what the operator says that it maintains.
fn installed(host: &FakeHost) {
    change(host, |objects| {
        let dns = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "kube-system", "name": "kube-dns"},
            "spec": {"clusterIP": "10.96.0.10"}});
        let listed = json!([{"apiVersion": "v1", "kind": "Service", "namespace": "kube-system",
            "name": "kube-dns", "mark": mark(&dns)}]);
        objects.insert(DNS.into(), dns);
        let mut objects = objects.iter_mut();
        let version = objects.find(|(key, _)| key.contains("ClusterVersion"));
        version.unwrap().1["status"]["objects"] = listed;
    });
}

fn broken(view: &VerifyView) -> Vec<&CheckView> {
    view.checks.iter().filter(|check| !check.ok).collect()
}

#[test]
fn objects_of_the_release_that_are_gone_or_changed_are_named() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.finished_machine()?;
    installed(&host);
    let verify = || bench.verify(&host).unwrap();
    assert!(verify().ok, "{:#?}", verify());

    change(&host, |objects| {
        objects[DNS]["spec"]["clusterIP"] = json!("10.96.0.11");
    });
    let view = verify();
    let [changed] = broken(&view)[..] else {
        panic!("{view:#?}");
    };
    assert_eq!(changed.found, "changed: Service kube-system/kube-dns");

    change(&host, |objects| drop(objects.remove(DNS)));
    let view = verify();
    let [gone] = broken(&view)[..] else {
        panic!("{view:#?}");
    };
    assert_eq!(gone.found, "gone: Service kube-system/kube-dns");
    assert!(gone.because.contains("within 30 s"), "{}", gone.because);
    Ok(())
}

#[test]
fn a_list_that_cannot_be_read_is_not_taken_for_an_empty_one() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.finished_machine()?;
    change(&host, |objects| {
        let mut objects = objects.iter_mut();
        let version = objects.find(|(key, _)| key.contains("ClusterVersion"));
        version.unwrap().1["status"]["objects"] = json!({"still": "nothing"});
    });
    assert!(bench.verify(&host).is_err());
    Ok(())
}

#[test]
fn services_that_do_not_answer_are_named_with_where_they_were_asked_from() -> Result<(), Wrong> {
    let bench = bench()?;
    let places = [(Vantage::Machine, "this machine"), (Vantage::Pod, "a pod")];
    for (from, place) in places {
        let host = bench.finished_machine()?;
        installed(&host);
        host.ail(Ailment::ServicesDead { from });
        let view = bench.verify(&host).unwrap();
        let broken = broken(&view);
        let whats: Vec<&str> = broken.iter().map(|check| check.what.as_str()).collect();
        let wanted = [
            format!("the API server's Service answers from {place}"),
            format!("the cluster DNS answers from {place}"),
        ];
        assert_eq!(whats, wanted, "{view:#?}");
        assert!(broken[1].found.contains("10.96.0.10"), "{:?}", broken[1]);
    }
    Ok(())
}

#[test]
fn conditions_that_have_just_changed_get_time_to_be_corrected() -> Result<(), Wrong> {
    let bench = bench()?;
    let second = |seconds: i64| jiff::SignedDuration::from_secs(seconds);
    // The age of the mark, when it is corrected, and what comes of it after how many seconds.
    for (age, corrected, ok, least, most) in [
        (1, 9, true, 9, 10),
        (1, 60, false, 11, 13),
        (3600, 60, false, 3, 5),
        // The clock of whoever wrote it is ahead.
        (-3600, 60, false, 12, 21),
    ] {
        let host = bench.finished_machine()?;
        let now = host.now();
        host.ail(Ailment::PodsMarked {
            since: now - second(age),
            until: now + second(corrected),
        });
        let began = host.steady();
        let view = bench.verify(&host).unwrap();
        let took = host.steady().saturating_sub(began).as_secs();
        assert_eq!(view.ok, ok, "marked {age} s ago: {view:#?}");
        assert!(
            (least..=most).contains(&took),
            "marked {age} s ago: {took} s"
        );
    }
    Ok(())
}
