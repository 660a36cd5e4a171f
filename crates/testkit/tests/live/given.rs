//! Objects that somebody deletes from a cluster that stands.

use bootlace_model::view::{CheckView, VerifyView};
use bootlace_testkit::crash::{Bench, Wrong, one_way_cases};
use bootlace_testkit::fake::FakeHost;
use serde_json::Value;

/// Where the fake keeps what the API holds.
const STORE: &str = "/var/lib/etcd/member/snap/db";

fn bench() -> Result<Bench, Wrong> {
    let mut cases = one_way_cases().into_iter();
    let case = cases.find(|case| case.name.starts_with("cluster with everything"));
    Bench::new(case.ok_or_else(|| Wrong("the sequence is gone".into()))?, 1)
}

/// Deletes the objects whose key contains some text, and tells how many these were.
fn delete(host: &FakeHost, part: &str) -> usize {
    host.set_up(|world| {
        let text = world.read(STORE)?.unwrap();
        let mut objects: serde_json::Map<String, Value> = serde_json::from_slice(&text).unwrap();
        let all = objects.len();
        objects.retain(|key, _| !key.contains(part));
        world.write_durably(STORE, &serde_json::to_vec(&objects).unwrap())?;
        Ok(all - objects.len())
    })
    .unwrap()
}

fn missed<'v>(view: &'v VerifyView, step: &str) -> Vec<&'v CheckView> {
    let checks = view.checks.iter();
    let missed = checks.filter(|check| !check.ok && check.step == step);
    missed.collect()
}

#[test]
fn an_object_that_is_gone_is_named_with_the_way_back() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.finished_machine()?;
    let verify = || bench.engine(&host, &bench.options()).verify().unwrap();
    let sound = verify();
    assert!(sound.ok, "{sound:#?}");
    let asked = sound.checks.iter();
    let asked = asked.filter(|check| check.what.starts_with("the API has "));
    assert!(asked.count() > 20, "{sound:#?}");

    assert_eq!(
        delete(&host, "Deployment bootlace-system version-operator"),
        1
    );
    let view = verify();
    let missed = missed(&view, "restore-overrides");
    let gone = missed.iter().find(|check| check.found == "it is gone");
    let gone = gone.ok_or_else(|| Wrong(format!("{view:#?}")))?;
    assert_eq!(
        gone.what,
        "the API has Deployment bootlace-system/version-operator"
    );
    let file = format!(
        "{}/cvo-bootstrap/manifests/version-operator.yaml",
        bench.assets()
    );
    let command = format!(
        "`kubectl --kubeconfig /etc/kubernetes/admin.conf apply --server-side \
         --field-manager=bootlace -f {file}` puts it back."
    );
    assert!(gone.because.ends_with(&command), "{}", gone.because);

    // Whoever removed the asset folder is not told to apply a file of it.
    host.set_up(|world| world.remove(&file)).unwrap();
    let view = verify();
    let said = view.checks.iter().find(|check| check.what == gone.what);
    let said = &said.ok_or_else(|| Wrong(format!("{view:#?}")))?.because;
    assert!(said.ends_with("which is not there any more."), "{said}");
    Ok(())
}

#[test]
fn a_token_that_ended_is_not_missed() -> Result<(), Wrong> {
    let bench = bench()?;
    let host = bench.finished_machine()?;
    assert!(delete(&host, "Secret kube-system bootstrap-token-") > 0);
    let view = bench.engine(&host, &bench.options()).verify().unwrap();
    assert!(view.ok, "{view:#?}");
    Ok(())
}
