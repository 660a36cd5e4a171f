//! Parts of the cluster are restarted, one after the other, and services work after each.

use std::time::{Duration, Instant};

use bootlace_testkit::crash::Sample;

use crate::world::{Node, World};

/// How long a part may take to come back and do its work.
const BACK: Duration = Duration::from_mins(4);

/// A web app with its service, and two pods that ask it: one on the pod network, one on the node's.
const APP: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: IMAGE
          command: [sh, -c, "echo served > /tmp/page; exec httpd -f -p 8080 -h /tmp"]
          readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  clusterIP: 10.96.7.7
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Pod
metadata: {name: ask, namespace: default}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: ask, image: IMAGE, command: [sleep, infinity]}]
---
apiVersion: v1
kind: Pod
metadata: {name: ask-from-node, namespace: default}
spec:
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  terminationGracePeriodSeconds: 0
  containers: [{name: ask, image: IMAGE, command: [sleep, infinity]}]
"#;

/// How many static pods are restarted without a soak: the API server takes a minute to come back.
const STATIC: u64 = 1;

/// A part of the cluster.
#[derive(Clone, Copy)]
enum Part {
    /// Pods of a workload: its namespace and its name.
    Workload(&'static str, &'static str),
    /// A static pod.
    Static(&'static str),
}

const WORKLOADS: [Part; 4] = [
    Part::Workload("kube-system", "daemonset/kube-proxy"),
    Part::Workload("kube-system", "deployment/coredns"),
    Part::Workload("kube-system", "daemonset/node-network"),
    Part::Workload("bootlace-system", "deployment/version-operator"),
];

const STATIC_PODS: [&str; 4] = [
    "kube-scheduler",
    "kube-controller-manager",
    "kube-apiserver",
    "etcd",
];

/// Chooses what is restarted: all workloads, and some static pods; all of them in a soak.
fn choose(sample: &mut Sample) -> Vec<Part> {
    let chosen = sample.choose_below(STATIC_PODS.len() as u64, STATIC);
    let chosen = (0..).zip(STATIC_PODS).filter(|(at, _)| chosen.contains(at));
    let chosen = chosen.map(|(_, name)| Part::Static(name));
    WORKLOADS.into_iter().chain(chosen).collect()
}

#[test]
#[ignore = "slow: a whole cluster on a machine"]
fn services_survive_a_restart_of_every_part_of_the_cluster() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the choice", sample.seed);
    let parts = choose(&mut sample);
    let image = world.image("busybox");
    let add_ons = [("10-app.yaml", APP.replace("IMAGE", &image))];
    let node = world.create(world.spec_with("m1", 11, &world.lab.release, &add_ons));
    node.boot();
    node.ends_with(0, &["run", "cluster"]);
    for pod in ["ask", "ask-from-node"] {
        let pod = format!("pod/{pod}");
        node.kubectl(&["wait", "--for=condition=Ready", &pod, "--timeout=120s"]);
    }
    works(&node, &image, 0);
    for (number, part) in parts.iter().enumerate() {
        let began = Instant::now();
        let name = match part {
            Part::Workload(namespace, name) => restart_workload(&node, namespace, name),
            Part::Static(name) => restart_static(&node, name),
        };
        let back = began.elapsed();
        works(&node, &image, number + 1);
        let all = began.elapsed();
        eprintln!("{name}: back after {back:.1?}, services work after {all:.1?}");
    }
    bootlace_test_notes::tried("restarts of parts", parts.len() as u64, sample.seed);
    node.becomes_verified("restarts", BACK);
    let said = node.ends_with(0, &["verify", "cluster"]).stdout;
    let last = said.trim_end().lines().last().unwrap_or_default();
    assert!(
        last.starts_with("Note: NetworkPolicy is not enforced"),
        "{said}"
    );
}

/// Asks a service that was there before, and a new one.
///
/// The new one shows that what was restarted has done its work again. After that the old one must work, too.
fn works(node: &Node, image: &str, number: usize) {
    let new = format!("new-{number}");
    let command = "echo served > /tmp/page; exec httpd -f -p 8080 -h /tmp";
    let run = ["run", &new, "--image", image, "--port=8080", "--command"];
    node.kubectl(&[run.as_slice(), &["--", "sh", "-c", command]].concat());
    node.kubectl(&["expose", "pod", &new, "--port=80", "--target-port=8080"]);
    let address = node.kubectl(&["get", "service", &new, "-o", "jsonpath={.spec.clusterIP}"]);
    let name = format!("{new}.default.svc.cluster.local");
    for host in [&address, &name] {
        node.wait(&format!("{host} answers from a pod"), BACK, |node| {
            asked(node, "ask", host)
        });
    }
    for host in ["10.96.7.7", "web.default.svc.cluster.local", "web"] {
        for pod in ["ask", "ask-from-node"] {
            assert!(asked(node, pod, host), "{pod} asks {host}, after {new}");
        }
    }
    let url = "http://10.96.7.7/page";
    assert_eq!(node.must(&["curl", "-fsS", "-m", "5", url]), "served\n");
    node.kubectl(&[
        "delete",
        "--wait=false",
        &format!("pod/{new}"),
        &format!("service/{new}"),
    ]);
}

/// Tells whether a service answers a pod.
fn asked(node: &Node, pod: &str, host: &str) -> bool {
    let admin = ["kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"];
    let url = format!("http://{host}/page");
    let ask = ["exec", pod, "--", "wget", "-T", "5", "-q", "-O", "-", &url];
    node.run(&[admin.as_slice(), &ask].concat()).stdout == "served\n"
}

/// Deletes the pods of a workload and waits until others are ready.
fn restart_workload(node: &Node, namespace: &str, name: &'static str) -> &'static str {
    let selector = node.kubectl(&[
        "--namespace",
        namespace,
        "get",
        name,
        "-o",
        "go-template={{range $k, $v := .spec.selector.matchLabels}}{{$k}}={{$v}}{{end}}",
    ]);
    let before = pods(node, namespace, &selector);
    assert_eq!(before.len(), 1, "{name}: {before:?}");
    node.kubectl(&[
        "--namespace",
        namespace,
        "delete",
        "pod",
        "--selector",
        &selector,
    ]);
    node.kubectl(&[
        "--namespace",
        namespace,
        "rollout",
        "status",
        name,
        "--timeout=120s",
    ]);
    let after = pods(node, namespace, &selector);
    assert!(after.len() == 1 && after != before, "{name}: {after:?}");
    name
}

/// Lists the ids of pods.
fn pods(node: &Node, namespace: &str, selector: &str) -> Vec<String> {
    let path = "jsonpath={.items[*].metadata.uid}";
    let words = [
        "--namespace",
        namespace,
        "get",
        "pods",
        "--selector",
        selector,
        "-o",
        path,
    ];
    let ids = node.kubectl(&words);
    ids.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Takes the manifest of a static pod away until its process is gone, and puts it back.
fn restart_static(node: &Node, name: &'static str) -> &'static str {
    let file = format!("/etc/kubernetes/manifests/{name}-pod.yaml");
    node.sh(&format!("mv {file} /root/away.yaml"));
    node.wait(&format!("{name} is gone"), BACK, |node| {
        node.run(&["pidof", name]).code != 0
    });
    // What the packet filter does needs no control plane.
    let url = "http://10.96.7.7/page";
    assert_eq!(node.must(&["curl", "-fsS", "-m", "5", url]), "served\n");
    node.sh(&format!("mv /root/away.yaml {file}"));
    node.wait(&format!("{name} runs"), BACK, |node| {
        node.run(&["pidof", name]).code == 0 && node.is_ready()
    });
    name
}
