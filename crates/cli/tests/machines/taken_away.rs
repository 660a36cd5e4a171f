//! What the waits look at is taken away: each of them says so, and is content again once it is back.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::faults::{containers_said, fails, was_named_soon};
use crate::world::{Node, World};

/// How long a cluster may take to notice what was done to it.
const NOTICES: Duration = Duration::from_mins(2);

const ADMIN: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf";

/// An add-on that runs.
const ADD_ON: &str = r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: default}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 0
      containers:
        - name: app
          image: IMAGE
          command: [sleep, infinity]
          # Without it a container counts as ready before it could fail.
          readinessProbe: {exec: {command: [test, -d, /]}, initialDelaySeconds: 1, periodSeconds: 1}
";

/// Something that a wait looks at.
struct Case {
    step: &'static str,
    /// Takes it away.
    away: &'static str,
    /// What does not hold any more.
    what: &'static str,
    /// Puts it back.
    back: &'static str,
}

const CASES: [Case; 5] = [
    Case {
        step: "add-ons",
        away: "ADMIN cordon m1 && ADMIN delete pods --selector app=app --wait=false",
        what: "every deployment is available",
        back: "ADMIN uncordon m1",
    },
    Case {
        step: "wait-version-operator",
        away: "ADMIN --namespace bootlace-system scale deployment version-operator --replicas=0",
        what: "the version operator runs as an ordinary pod",
        back: "ADMIN --namespace bootlace-system scale deployment version-operator --replicas=1",
    },
    Case {
        step: "wait-control-plane",
        away: "mv /etc/kubernetes/manifests/kube-scheduler-pod.yaml /root",
        what: "kube-scheduler is ready on every machine",
        back: "mv /root/kube-scheduler-pod.yaml /etc/kubernetes/manifests",
    },
    Case {
        step: "wait-masters",
        away: "ADMIN delete node m1 --wait=false",
        what: "1 of the control plane's machines have joined",
        // A kubelet tells the API of its node only when it starts, and may not say what the node is for.
        // The node gets another part of the pod network, so pods with old addresses are cut off.
        back: "systemctl restart kubelet && \
               until ADMIN label node m1 node-role.kubernetes.io/control-plane=; do sleep 0.2; done && \
               ADMIN delete pods --all-namespaces --field-selector spec.hostNetwork=false --wait=false",
    },
    Case {
        step: "wait-etcd",
        away: "mv /etc/kubernetes/manifests/etcd-pod.yaml /root",
        what: "etcd can write",
        back: "mv /root/etcd-pod.yaml /etc/kubernetes/manifests",
    },
];

#[test]
#[ignore = "slow: a whole cluster on a machine"]
fn each_wait_fails_without_what_it_waits_for() {
    let world = World::new();
    let add_on = ADD_ON.replace("IMAGE", &world.image("busybox"));
    let broken = add_on.replace(
        "[sleep, infinity]",
        r#"[sh, -c, "echo no such luck; exit 3"]"#,
    );
    // Nothing has this label, so that no node can ever take it.
    let homeless = add_on.replace(
        "      containers:",
        "      nodeSelector: {moon: full}\n      containers:",
    );
    let add_ons = [("10-app.yaml", homeless)];
    let node = world.create(world.spec_with("m1", 11, &world.lab.release, &add_ons));
    node.boot();

    let says = [
        "add-ons",
        "the pod default/app-",
        "is Unschedulable",
        "affinity/selector",
    ];
    fails(&node, 5, &["run", "cluster"], &says);
    node.write("/etc/bootlace/add-ons/10-app.yaml", &broken);
    let says = ["add-ons", "the container app of app-", "no such luck"];
    fails(&node, 5, &["resume", "cluster"], &says);
    was_named_soon(&node, &containers_said("no such luck"));
    assert_eq!(node.step("add-ons"), "failed");
    node.write("/etc/bootlace/add-ons/10-app.yaml", &add_on);
    node.ends_with(0, &["resume", "cluster"]);

    for case in CASES {
        let Case { step, what, .. } = case;
        node.ends_with(0, &["verify", "cluster"]);
        let began = Instant::now();
        node.sh(&case.away.replace("ADMIN", ADMIN));
        let named = format!("{step} says that it is not so: {what}");
        node.wait(&named, NOTICES, |node| says_not(node, step, what));
        let noticed = began.elapsed();
        let mended = Instant::now();
        node.sh(&case.back.replace("ADMIN", ADMIN));
        node.becomes_verified(what, NOTICES);
        let back = mended.elapsed();
        eprintln!("{step}: noticed after {noticed:.1?}, well again after {back:.1?}");
    }
    deleted_objects_are_named_and_put_back(&node);
}

/// Deletes what steps gave to the API; `verify` names it and says what puts it back.
fn deleted_objects_are_named_and_put_back(node: &Node) {
    node.sh(&format!(
        "{ADMIN} --namespace bootlace-system delete deployment version-operator && \
         {ADMIN} --namespace default delete deployment app && {ADMIN} delete ingressclass --all"
    ));
    let verified = node.ends_with(6, &["verify", "cluster", "-o", "json"]);
    let view: Value = serde_json::from_str(&verified.stdout).unwrap();
    let checks = view["checks"].as_array().unwrap();
    let gone: Vec<&Value> = checks
        .iter()
        .filter(|check| check["found"] == "it is gone")
        .collect();
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let mut named: Vec<String> = gone.iter().map(|check| text(check, "what")).collect();
    named.sort();
    assert_eq!(named.len(), 3, "{named:#?}");
    assert_eq!(
        named[0],
        "the API has Deployment bootlace-system/version-operator"
    );
    assert_eq!(named[1], "the API has Deployment default/app");
    assert!(
        named[2].starts_with("the API has IngressClass "),
        "{named:#?}"
    );
    for check in gone {
        let because = text(check, "because");
        let command = because.split('`').nth(1).unwrap();
        node.sh(command);
    }
    node.becomes_verified("objects were put back", NOTICES);
    // What is the release's own comes back by itself.
    let dns = format!("{ADMIN} --namespace kube-system");
    node.sh(&format!("{dns} delete deployment coredns --wait=true"));
    node.wait("the release is whole again", NOTICES, |node| {
        let is_there = format!("{dns} rollout status deployment coredns --timeout=1s");
        node.run(&["sh", "-c", &is_there]).code == 0
    });
}

/// Tells whether `verify` says that something of a step is not so, and ends with the code for that.
fn says_not(node: &Node, step: &str, what: &str) -> bool {
    let verified = node.bootlace(&["verify", "cluster", "--only", step, "-o", "json"]);
    let view: Value = serde_json::from_str(&verified.stdout).unwrap_or_default();
    let checks = view["checks"].as_array().cloned().unwrap_or_default();
    let missed = |check: &Value| {
        let said = check["what"].as_str().unwrap_or_default();
        check["step"] == step && check["ok"] == false && said.contains(what)
    };
    let is_missed = checks.iter().any(missed);
    if is_missed {
        assert_eq!(verified.code, 6, "{verified:#?}");
    }
    is_missed
}
