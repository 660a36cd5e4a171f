//! Pools of a real API server, which comes late, changes, goes away and comes back.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{World, until};

/// The API server that the operator is tested with.
#[path = "../../../operator/tests/real_api/cluster.rs"]
#[expect(
    dead_code,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "shared with other tests, which need more of it"
)]
mod api;

use api::Cluster;

const GROUP: &str = "machineconfiguration.openshift.io/v1";

fn config(name: &str, mark: &str) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "MachineConfig", "metadata": {"name": name},
        "spec": {"config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/etc/mark", "contents": {"source": format!("data:,{mark}")}}]},
        }},
    })
}

fn pool(name: &str, desired: &Value) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "MachineConfigPool", "metadata": {"name": name}, "spec": desired,
    })
}

fn set_status(cluster: &Cluster, pool: &str, status: &Value) {
    let patch = json!({ "status": status }).to_string();
    cluster.kubectl(&[
        "patch",
        "machineconfigpool",
        pool,
        "--subresource=status",
        "--type=merge",
        "-p",
        &patch,
    ]);
}

/// A kubeconfig of an account that has no other rights than those that are shipped.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn restricted(cluster: &Cluster) -> PathBuf {
    let rights = include_str!("../../../../dist/machine-config-server/rights.yaml");
    cluster.apply(rights);
    let token = cluster.kubectl(&["create", "token", "bootlace-serve", "-n", "kube-system"]);
    let text = std::fs::read_to_string(cluster.kubeconfig()).unwrap();
    let path = cluster.path("restricted");
    std::fs::write(&path, text.replace("sesame", token.trim())).unwrap();
    path
}

fn source(world: &World, path: &str, file: &str) -> Option<String> {
    let accept = "Accept: application/vnd.coreos.ignition+json;version=3.4.0";
    let answer = world.client.get(path, &[accept]);
    if answer.status != 200 {
        return None;
    }
    let body = answer.json();
    let files = body["storage"]["files"].as_array()?;
    let file = files.iter().find(|entry| entry["path"] == file)?;
    Some(file["contents"]["source"].as_str()?.to_owned())
}

fn mark(world: &World) -> Option<String> {
    source(world, "/config/worker", "/etc/mark")
}

#[test]
#[ignore = "slow: starts an API server"]
fn pools_of_a_cluster_are_served_as_they_change() {
    let mut cluster = Cluster::start();
    let world = World::of_cluster(restricted(&cluster));
    // Nothing is known yet: that is no reason to send a machine away for good.
    assert_eq!(world.client.get("/config/worker", &[]).status, 503);
    until("the missing kind is named", || {
        let ready = world.client.get("/readyz", &[]);
        let text = String::from_utf8(ready.body).unwrap();
        ready.status == 503 && text.contains("machineconfigpools cannot be watched")
    });
    cluster.apply(include_str!(
        "../../../../dist/machine-config-server/kinds.yaml"
    ));
    cluster.apply(&config("r-1", "one").to_string());
    cluster.apply(&pool("worker", &json!({})).to_string());
    set_status(
        &cluster,
        "worker",
        &json!({"configuration": {"name": "r-1"}}),
    );
    until("the pool is served", || {
        mark(&world).as_deref() == Some("data:,one")
    });
    assert_eq!(world.client.get("/config/nowhere", &[]).status, 404);
    until("all is well", || {
        let ready = world.client.get("/readyz", &[]);
        ready.status == 200 && ready.json()["problems"] == json!([])
    });

    let controller = json!({
        "apiVersion": GROUP, "kind": "ControllerConfig",
        "metadata": {"name": "machine-config-controller"},
        "spec": {"kubeAPIServerServingCAData": "Y2E="},
    });
    cluster.apply(&controller.to_string());
    until("the authority is added", || {
        let path = "/etc/kubernetes/kubelet-ca.crt";
        source(&world, "/config/worker", path).as_deref() == Some("data:,ca")
    });

    // New machines follow once a machine has got there, and not before.
    cluster.apply(&config("r-2", "two").to_string());
    cluster.apply(&pool("worker", &json!({"configuration": {"name": "r-2"}})).to_string());
    set_status(
        &cluster,
        "worker",
        &json!({"updatedMachineCount": 0, "machineCount": 3}),
    );
    assert_eq!(mark(&world).as_deref(), Some("data:,one"));
    set_status(&cluster, "worker", &json!({"updatedMachineCount": 1}));
    until("the next config is served", || {
        mark(&world).as_deref() == Some("data:,two")
    });

    let image = format!("registry.example/os@sha256:{}", "0".repeat(64));
    let desired = json!({"configuration": {"name": "r-2"}, "desiredImage": image});
    cluster.apply(&pool("worker", &desired).to_string());
    until("the layered image is served", || {
        let record = source(&world, "/layered/worker", "/etc/bootlace/layered.json");
        record.is_some_and(|record| record.contains("registry.example%2Fos%40sha256"))
    });

    // The API goes away: what was known is served, and that is said.
    cluster.stop_api_server();
    until("it is said that the API is away", || {
        let ready = world.client.get("/readyz", &[]);
        let text = String::from_utf8(ready.body).unwrap();
        ready.status == 200 && text.contains("the API server has not answered since")
    });
    assert_eq!(mark(&world).as_deref(), Some("data:,two"));
    let accept = "Accept: application/vnd.coreos.ignition+json;version=3.1.0";
    let never_asked_before = world.client.get("/config/worker", &[accept]);
    assert_eq!(never_asked_before.status, 200);
    assert_eq!(world.client.get("/config/nowhere", &[]).status, 404);

    cluster.start_api_server();
    cluster.wait_until_ready();
    cluster.apply(&config("r-2", "three").to_string());
    until("changes are served again", || {
        mark(&world).as_deref() == Some("data:,three")
    });
    until("all is well again", || {
        world.client.get("/readyz", &[]).json()["problems"] == json!([])
    });
    cluster.kubectl(&["delete", "machineconfig", "r-2"]);
    until("a config that is gone is named", || {
        let answer = world.client.get("/config/worker", &[]);
        let text = String::from_utf8(answer.body).unwrap();
        answer.status == 503 && text.contains("machineconfig/r-2")
    });
    cluster.kubectl(&["delete", "machineconfigpool", "worker"]);
    until("a pool that is gone is unknown", || {
        world.client.get("/config/worker", &[]).status == 404
    });
}
