//! `verify` sees what a user of the cluster would: objects of the release that are gone, a cluster
//! DNS that is down, Services that lead nowhere.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Node, World};

const ADMIN: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf";
/// How long the version operator may take to restore objects; `verify` promises it.
const EXIST_AGAIN: Duration = Duration::from_secs(30);
/// How long it may take until restored objects work: pods have to start.
const RESTORED: Duration = Duration::from_mins(2);

const RELEASE: &str = "the objects of the release exist and are unchanged";
const API: &str = "the API server's Service answers";
const DNS: &str = "the cluster DNS answers";

#[test]
#[ignore = "slow: a whole cluster on a machine"]
fn verify_sees_what_a_user_would() {
    let world = World::new();
    let node = world.node("m1", 12);
    node.ends_with(0, &["run", "cluster"]);
    node.ends_with(0, &["verify", "cluster"]);

    let deleted = Instant::now();
    node.sh(&format!(
        "{ADMIN} --namespace kube-system delete service kube-dns && \
         {ADMIN} --namespace kube-system delete daemonset kube-proxy && \
         {ADMIN} delete clusterrolebinding system:coredns"
    ));
    let broken = broken(&node);
    let found = of(&broken, RELEASE);
    for name in [
        "Service kube-system/kube-dns",
        "DaemonSet kube-system/kube-proxy",
        "ClusterRoleBinding system:coredns",
    ] {
        assert!(found.contains(name), "{broken:#?}");
    }
    let left = EXIST_AGAIN.saturating_sub(deleted.elapsed());
    let get = format!(
        "{ADMIN} --namespace kube-system get service/kube-dns daemonset/kube-proxy \
         clusterrolebinding/system:coredns"
    );
    node.wait("the deleted objects exist again", left, |node| {
        node.run(&["sh", "-c", &get]).code == 0
    });
    becomes_well(&node);

    let coredns = format!("{ADMIN} --namespace kube-system");
    node.sh(&format!("{coredns} scale deployment coredns --replicas=0"));
    let named = |node: &Node| self::broken(node).iter().any(|check| is_about(check, DNS));
    node.wait("DNS is said not to answer", Duration::from_secs(20), named);
    becomes_well(&node);

    node.sh("nft flush map ip kube-proxy service-ips");
    let broken = self::broken(&node);
    for place in ["this machine", "a pod"] {
        of(&broken, &format!("{API} from {place}"));
        of(&broken, &format!("{DNS} from {place}"));
    }
}

/// Verifies, and lists what does not hold.
fn broken(node: &Node) -> Vec<Value> {
    let verified = node.bootlace(&["verify", "cluster", "-o", "json"]);
    let view: Value = serde_json::from_str(&verified.stdout).unwrap();
    let checks = view["checks"].as_array().unwrap().iter();
    let broken: Vec<Value> = checks
        .filter(|check| check["ok"] == false)
        .cloned()
        .collect();
    let code = if broken.is_empty() { 0 } else { 6 };
    assert_eq!(verified.code, code, "{verified:#?}");
    broken
}

fn is_about(check: &Value, what: &str) -> bool {
    check["what"].as_str().unwrap().starts_with(what)
}

/// Returns what was found instead.
fn of(broken: &[Value], what: &str) -> String {
    let check = broken.iter().find(|check| is_about(check, what));
    let check =
        check.unwrap_or_else(|| unreachable!("{what} holds, though it cannot: {broken:#?}"));
    check["found"].as_str().unwrap().to_owned()
}

fn becomes_well(node: &Node) {
    node.wait("all is restored", RESTORED, |node| broken(node).is_empty());
}
