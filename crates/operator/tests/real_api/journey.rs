//! A release on its way into a cluster.

use std::path::Path;
use std::time::{Duration, Instant};

use bootlace_model::fault::FaultKind;
use bootlace_operator::node_network;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::{Cluster, wait_for};
use crate::operators::{Background, Process, options, prepare, version};

const SOON: Duration = Duration::from_secs(20);

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn config_map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {{value: \"{value}\"}}\n"
    )
}

const DEPLOYMENT: &str = r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.example/web}]}
";

/// A namespace and what is in it, a kind and an object of it: all in one level.
const FIRST_LEVEL: &str = r"
apiVersion: example.com/v1
kind: Shop
metadata: {name: corner, namespace: shop}
spec: {open: true}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Shop, plural: shops, singular: shop, listKind: ShopList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

fn value(cluster: &Cluster, name: &str) -> Value {
    cluster.get(&["configmap", "--namespace=shop", name])["data"]["value"].clone()
}

fn status(cluster: &Cluster) -> Value {
    cluster.get(&["clusterversion", "version"])["status"].clone()
}

fn condition(status: &Value, name: &str) -> Value {
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let mut found = conditions
        .into_iter()
        .filter(|condition| condition["type"] == name);
    found.next().unwrap_or_default()
}

/// Does what the deployment's controller and the kubelet would do.
fn make_ready(cluster: &Cluster) {
    let generation =
        cluster.get(&["deployment", "--namespace=shop", "web"])["metadata"]["generation"].clone();
    let status = json!({"status": {"observedGeneration": generation, "replicas": 1,
        "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"}]}});
    let patch = format!("--patch={status}");
    cluster.kubectl(&[
        "patch",
        "deployment",
        "--namespace=shop",
        "web",
        "--subresource=status",
        "--type=merge",
        &patch,
    ]);
}

#[test]
#[ignore = "slow: starts a real etcd and a real API server"]
fn a_release_is_applied_by_levels_and_kept_as_it_is() {
    let cluster = Cluster::start();
    let mine = r"[{group: '', kind: ConfigMap, namespace: shop, name: mine, unmanaged: true}]";
    let release = prepare(&cluster, mine);
    write(&release, "0000_10_shop_first.yaml", FIRST_LEVEL);
    write(&release, "0000_20_shop_web.yaml", DEPLOYMENT);
    write(
        &release,
        "0000_30_shop_last.yaml",
        &config_map("last", "pods in POD_CIDR"),
    );
    write(
        &release,
        "0000_30_shop_mine.yaml",
        &config_map("mine", "theirs"),
    );

    let operator = Background::start(options(&cluster));
    let waiting = wait_for(SOON, "the operator waits for the deployment", || {
        let status = status(&cluster);
        (condition(&status, "Progressing")["reason"] == "Waiting").then_some(status)
    });
    assert_eq!(
        condition(&waiting, "Available")["status"],
        "False",
        "{waiting}"
    );
    assert_eq!(
        waiting["manifests"],
        json!({"total": 5, "applied": 4, "level": 20})
    );
    assert_eq!(waiting["history"][0]["state"], "Partial");
    assert_eq!(
        cluster.get(&["shop", "--namespace=shop", "corner"])["spec"]["open"],
        true
    );
    assert_eq!(
        value(&cluster, "last"),
        Value::Null,
        "level 30 waits for level 20"
    );

    what_keeps_a_pod_from_starting_is_told(&cluster);
    make_ready(&cluster);
    let done = wait_for(SOON, "the release is complete", || {
        let status = status(&cluster);
        (condition(&status, "Available")["status"] == "True").then_some(status)
    });
    assert_eq!(condition(&done, "Progressing")["status"], "False", "{done}");
    assert_eq!(condition(&done, "Failing")["status"], "False", "{done}");
    assert_eq!(done["history"][0]["state"], "Completed");
    assert_eq!(done["desired"]["version"], "v1.36.3");
    assert_eq!(value(&cluster, "last"), "pods in 10.244.0.0/16");
    assert_eq!(
        value(&cluster, "mine"),
        Value::Null,
        "an override was not respected"
    );

    drift_is_put_right(&cluster);
    what_is_not_overridden_any_more_is_applied(&cluster);
    a_broken_manifest_is_named_and_the_others_go_on(&cluster, &release);
    operator.stop().unwrap();
}

/// Without a kubelet the test says what a kubelet would say of a missing image.
fn what_keeps_a_pod_from_starting_is_told(cluster: &Cluster) {
    cluster.apply(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, labels: {app: web}}\nspec: \
         {containers: [{name: web, image: registry.example/web}]}\n",
    );
    let waiting =
        json!({"reason": "ErrImageNeverPull", "message": "registry.example/web is not there"});
    let status = json!({"containerStatuses": [{"name": "web", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": {"waiting": waiting}}]});
    let patch = format!("--patch={}", json!({"status": status}));
    let words = [
        "patch",
        "pod",
        "--namespace=shop",
        "web-1",
        "--subresource=status",
    ];
    let words: Vec<&str> = words.into_iter().chain([patch.as_str()]).collect();
    cluster.kubectl(&words);
    let failing = wait_for(
        Duration::from_secs(10),
        "the missing image is named",
        || {
            let failing = condition(&crate::journey::status(cluster), "Failing");
            (failing["status"] == "True").then_some(failing)
        },
    );
    let message = failing["message"].as_str().unwrap();
    assert!(
        message.contains("Deployment shop/web: not ready: "),
        "{message}"
    );
    assert!(
        message.contains("pod web-1, container web: ErrImageNeverPull: "),
        "{message}"
    );
}

fn drift_is_put_right(cluster: &Cluster) {
    let written = status(cluster);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(
        status(cluster),
        written,
        "a look that finds nothing is not told"
    );
    let patch = r#"--patch={"data": {"value": "drifted", "more": "theirs"}}"#;
    cluster.kubectl(&[
        "patch",
        "configmap",
        "--namespace=shop",
        "last",
        "--type=merge",
        patch,
    ]);
    cluster.kubectl(&["delete", "shop", "--namespace=shop", "corner"]);
    wait_for(SOON, "drift is put right", || {
        let is_shop_back = cluster.get(&["shop", "--namespace=shop", "corner"]) != Value::Null;
        (is_shop_back && value(cluster, "last") == "pods in 10.244.0.0/16").then_some(())
    });
    let config_map = cluster.get(&["configmap", "--namespace=shop", "last"]);
    assert_eq!(
        config_map["data"]["more"], "theirs",
        "what others add is theirs"
    );
    wait_for(SOON, "the repair is told", || {
        let message = condition(&status(cluster), "Progressing")["message"].clone();
        message.as_str()?.contains("put right last").then_some(())
    });
}

fn what_is_not_overridden_any_more_is_applied(cluster: &Cluster) {
    let begin = Instant::now();
    cluster.apply(&version("[]"));
    wait_for(SOON, "the object is taken over", || {
        (value(cluster, "mine") == "theirs").then_some(())
    });
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
}

fn a_broken_manifest_is_named_and_the_others_go_on(cluster: &Cluster, release: &Path) {
    let text = format!(
        "{}---\napiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: shop}}\nspec: {{ports: [{{port: 99999}}]}}\n",
        config_map("beside", "here")
    );
    write(release, "0000_30_shop_broken.yaml", &text);
    let failing = wait_for(SOON, "the broken manifest is named", || {
        let failing = condition(&status(cluster), "Failing");
        (failing["status"] == "True").then_some(failing)
    });
    assert_eq!(failing["reason"], "ManifestBroken");
    let message = failing["message"].as_str().unwrap();
    let expected = "0000_30_shop_broken.yaml, document 2, Service shop/web: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("99999"), "{message}");
    assert_eq!(
        value(cluster, "beside"),
        "here",
        "the others of the level go on"
    );
    std::fs::remove_file(release.join("0000_30_shop_broken.yaml")).unwrap();
    wait_for(SOON, "all is well again", || {
        (condition(&status(cluster), "Failing")["status"] == "False").then_some(())
    });
}

#[test]
#[ignore = "slow: starts a real etcd and a real API server"]
fn once_ends_with_what_came_of_it() {
    let cluster = Cluster::start();
    let once = |change: &dyn Fn(&mut bootlace_operator::Options)| {
        let mut options = options(&cluster);
        options.once = true;
        change(&mut options);
        Background::start(options).end()
    };
    let release = prepare(&cluster, "[]");
    write(&release, "0000_10_shop_first.yaml", FIRST_LEVEL);
    write(&release, "0000_30_shop_last.yaml", &config_map("last", "1"));
    once(&|_| {}).unwrap();
    assert_eq!(value(&cluster, "last"), "1");

    write(&release, "0000_20_shop_web.yaml", DEPLOYMENT);
    let fault = once(&|options| options.timeout = Duration::from_secs(4)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadline, "{fault:?}");
    assert!(
        fault.details[0].contains("Deployment shop/web: not ready: "),
        "{fault:?}"
    );

    write(&release, "0000_20_shop_web.yaml", "kind: [");
    let fault = once(&|_| {}).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadInput, "{fault:?}");
    assert!(
        fault.details[0].starts_with("0000_20_shop_web.yaml, document 1: "),
        "{fault:?}"
    );

    cluster.kubectl(&["delete", "clusterversion", "version"]);
    let fault = once(&|_| {}).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Preflight, "{fault:?}");
}

fn holder(cluster: &Cluster) -> String {
    let lease = cluster.get(&["lease", "--namespace=bootlace-system", "version-operator"]);
    lease["spec"]["holderIdentity"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Waits until somebody else holds the lease, and returns who and after which time.
fn handed_over(cluster: &Cluster, before: &str) -> (String, Duration) {
    let begin = Instant::now();
    let now = wait_for(SOON, "the lease changes hands", || {
        let now = holder(cluster);
        (!now.is_empty() && now != before).then_some(now)
    });
    (now, begin.elapsed())
}

#[test]
#[ignore = "slow: starts a real etcd and a real API server"]
fn one_operator_works_and_the_next_takes_over_within_seconds() {
    let mut cluster = Cluster::start();
    let release = prepare(&cluster, "[]");
    write(&release, "0000_10_shop_first.yaml", FIRST_LEVEL);

    let mut first = Process::start(&cluster, "first");
    let (first_name, _) = handed_over(&cluster, "");
    let second = Background::start(options(&cluster));
    wait_for(SOON, "the second one waits", || {
        second
            .has_said(&format!("waiting: {first_name}"))
            .then_some(())
    });
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(
        holder(&cluster),
        first_name,
        "a lease that is renewed is kept"
    );
    assert!(!second.has_said("working"));

    // A stop hands over at once.
    first.signal(Signal::TERM);
    let (second_name, gap) = handed_over(&cluster, &first_name);
    assert!(gap < Duration::from_secs(3), "{gap:?}");
    assert!(first.wait(), "a stop is an ordinary end");

    // An API server that goes away and comes back finds one of them at work.
    cluster.stop_api_server();
    wait_for(SOON, "the second one stops working", || {
        second.has_said("not working").then_some(())
    });
    cluster.start_api_server();
    cluster.wait_until_ready();
    wait_for(SOON, "somebody works", || {
        (holder(&cluster) == second_name).then_some(())
    });
    second.stop().unwrap();
    assert_eq!(holder(&cluster), "", "who stops gives the lease up");

    // A holder that is killed is replaced when its lease ran out.
    let third = Process::start(&cluster, "third");
    let (third_name, _) = handed_over(&cluster, "");
    let fourth = Background::start(options(&cluster));
    wait_for(SOON, "the fourth one waits", || {
        fourth.has_said("waiting: ").then_some(())
    });
    third.signal(Signal::KILL);
    let (_, gap) = handed_over(&cluster, &third_name);
    assert!(gap < Duration::from_secs(8), "{gap:?}");
    fourth.stop().unwrap();
}

#[test]
#[ignore = "slow: starts a real etcd and a real API server"]
fn a_node_gets_its_config_as_soon_as_it_has_its_part_of_the_network() {
    let cluster = Cluster::start();
    let folder = cluster.path("net.d");
    let network = Background::start(node_network::Options {
        access: options(&cluster).access,
        node: "one".into(),
        folder: folder.clone(),
        addresses: vec![],
        pods: vec!["10.244.0.0/16".parse().unwrap()],
        services: vec![],
    });
    cluster.apply("apiVersion: v1\nkind: Node\nmetadata: {name: one}\n");
    wait_for(SOON, "the node is seen", || {
        network.has_said("no part of the pod network").then_some(())
    });
    let config = folder.join("10-bootlace.conflist");
    assert!(!config.exists());
    let begin = Instant::now();
    let patch = r#"--patch={"spec": {"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"]}}"#;
    cluster.kubectl(&["patch", "node", "one", "--type=merge", patch]);
    let text = wait_for(SOON, "the config is written", || {
        std::fs::read_to_string(&config).ok()
    });
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    let config: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        config["plugins"][0]["ipam"]["ranges"][0][0]["subnet"],
        "10.244.7.0/24"
    );

    // A node that registers with all addresses, or with those of another, gets no route to them.
    for (name, claim) in [("all", "0.0.0.0/0"), ("same", "10.244.7.128/25")] {
        cluster.apply(&format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n\
             spec: {{podCIDR: {claim}, podCIDRs: [{claim}]}}\n"
        ));
        wait_for(SOON, "the claim is refused", || {
            let told = format!("no route to {claim} of the node {name}");
            network.has_said(&told).then_some(())
        });
    }
    network.stop().unwrap();
}
