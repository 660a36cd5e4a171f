//! What a pool serves, told to people: everything but secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{BROWSER, data_url, serving, tokens};
use crate::world::{World, machine_config, token};

const WORKER: &str = "Authorization: Bearer worker-token";
const ALL: &str = "Authorization: Bearer all-token";
const BROKEN: &str = "Authorization: Bearer broken-token";

/// No text with this may be shown.
const SECRET: &str = "topsecret";

/// A config with a secret in every place that can hold one.
fn full_of_secrets() -> Value {
    let file = |path: &str, mode: u32, text: &str| json!({"path": path, "mode": mode, "contents": {"source": data_url(text)}});
    let encoded = STANDARD.encode("-----BEGIN PRIVATE KEY-----\ntopsecret\n");
    let config = json!({
        "ignition": {
            "version": "3.2.0",
            "config": {"merge": [
                {"source": "https://me:topsecret@a.example/b?topsecret#topsecret",
                 "httpHeaders": [{"name": "Authorization", "value": "topsecret"}]},
                {"source": "data:,topsecret"}]},
            "proxy": {"httpProxy": "http://me:topsecret@p.example:1", "httpsProxy": "https://topsecret@p.example"},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,topsecret"}]}},
        },
        "passwd": {"users": [{"name": "core", "passwordHash": "$6$topsecret", "sshAuthorizedKeys": ["ssh-ed25519 topsecret"]}]},
        "storage": {
            "files": [
                file("/etc/private", 0o600, SECRET),
                file("/var/lib/kubelet/config.json", 0o644, SECRET),
                file("/etc/kubernetes/bootstrap-kubeconfig", 0o644, SECRET),
                file("/etc/pki/a.key", 0o644, SECRET),
                file("/etc/shadow", 0o644, SECRET),
                file("/etc/ssh/ssh_host_rsa_key", 0o644, SECRET),
                file("/etc/bootlace/token", 0o644, SECRET),
                file("/etc/one", 0o644, "-----BEGIN PRIVATE KEY-----\ntopsecret"),
                file("/etc/two", 0o644, "{\"auths\": \"topsecret\"}"),
                file("/etc/three", 0o644, "Authorization: Bearer topsecret"),
                file("/etc/four", 0o644, "client-key-data: topsecret"),
                file("/etc/five", 0o644, "user:\n  token: topsecret"),
                file("/etc/six", 0o644, "A=b\nMY_PASSWORD=topsecret\nC=d"),
                file("/etc/seven", 0o644, "proxy=http://me:topsecret@p.example"),
                file("/etc/eight", 0o644, "core:$6$topsecret"),
                {"path": "/etc/nine", "contents": {"source": format!("data:;base64,{encoded}")}},
                {"path": "/etc/ten", "contents": {"source": "https://me:topsecret@a.example/b?topsecret",
                    "httpHeaders": [{"name": "X-Token", "value": "topsecret"}]}},
                {"path": "/etc/eleven", "append": [{"source": data_url("PASSWORD=topsecret")}]},
                file("/etc/shown", 0o644, "hello"),
            ],
        },
        "systemd": {"units": [
            {"name": "a.service", "enabled": true,
             "contents": "[Service]\nEnvironment=\"A_TOKEN=topsecret\"\nEnvironment=B_PASSWORD=topsecret C_SECRET=topsecret\nExecStart=/x --key topsecret\n",
             "dropins": [{"name": "b.conf", "contents": "[Service]\nEnvironment=API_KEY=topsecret\n"}]},
            {"name": "b.service", "contents": "[Service]\nExecStart=/usr/bin/curl -H 'Authorization: Bearer topsecret'\n"},
        ]},
    });
    json!({
        "metadata": {"name": "rendered-1", "annotations": {"last-applied": SECRET}},
        "spec": {"config": config, "kernelArguments": ["quiet", "rd.luks.key=topsecret", "a.password=topsecret"]},
    })
}

#[test]
fn no_secret_is_shown() {
    let world = World::with_tokens(&tokens());
    serving(&world, &full_of_secrets());
    world.write("kubeconfig", "token: topsecret\n");
    let mut explained = 0;
    for view in ["config", "layered"] {
        for version in [
            "2.2.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0",
        ] {
            let path = format!("/explain/worker?view={view}&version={version}");
            let answer = world.client.get(&path, &[WORKER]);
            assert_eq!(answer.status, 200);
            let text = String::from_utf8(answer.body.clone()).unwrap();
            let at = text
                .find(SECRET)
                .map(|at| &text[at.saturating_sub(200)..at + 20]);
            assert_eq!(at, None, "{path}");
            assert!(!text.contains("base64,") && !text.contains("$6$"), "{path}");
            explained += usize::from(answer.json().get("problem").is_none());
        }
    }
    assert!(explained > 4, "{explained}");
    let page = world.client.get("/", &[BROWSER, WORKER]);
    assert!(!String::from_utf8(page.body).unwrap().contains(SECRET));
    let told = world
        .client
        .get("/explain/worker?version=3.4.0", &[WORKER])
        .json();
    let files = told["files"].as_array().unwrap();
    let file = |path: &str| {
        let file = files.iter().find(|file| file["path"] == path);
        file.unwrap_or_else(|| panic!("{path} is missing"))
    };
    let content = |path: &str| file(path)["content"].clone();
    assert!(file("/etc/shown")["sha256"].is_string());
    assert_eq!(
        file("/etc/six")["sha256"],
        Value::Null,
        "by it the password could be guessed"
    );
    assert_eq!(content("/etc/shown")["text"], "hello");
    assert_eq!(
        content("/etc/six")["text"],
        "A=b\nMY_PASSWORD=(hidden)\nC=d"
    );
    for path in [
        "/etc/private",
        "/etc/one",
        "/etc/two",
        "/etc/nine",
        "/etc/kubernetes/kubeconfig",
    ] {
        let content = content(path);
        assert_eq!(content["kind"], "hidden", "{path}");
        assert!(!content["why"].as_str().unwrap().is_empty(), "{path}");
    }
    // The same config, to a machine, holds them all.
    let machine = "Accept: application/vnd.coreos.ignition+json;version=3.4.0";
    let config = world.client.get("/config/worker", &[WORKER, machine]);
    assert!(String::from_utf8(config.body).unwrap().contains(SECRET));
}

#[test]
fn who_may_see_a_pool_sees_what_it_serves() {
    let of_broken = token(
        "broken-token",
        "pool: broken, expires: 2999-01-01T00:00:00Z",
    );
    let world = World::with_tokens(&(tokens() + &of_broken));
    serving(
        &world,
        &json!({"spec": {"config": {"ignition": {"version": "3.2.0"}}}}),
    );
    let rows = [
        ("/explain/worker", WORKER, 200),
        ("/explain/worker", ALL, 200),
        ("/explain/luks", WORKER, 401),
        ("/explain/luks", ALL, 200),
        ("/explain/nowhere", WORKER, 404),
        ("/explain/nowhere", ALL, 404),
        ("/explain/worker", "A: b", 401),
        ("/explain/nowhere", "A: b", 401),
        ("/explain/worker", "Authorization: Bearer late-token", 401),
        ("/explain/worker", "Authorization: Bearer nobody", 511),
        ("/explain/worker?view=x", WORKER, 404),
        ("/explain/worker?version=3.6.0", WORKER, 400),
        ("/explain/", WORKER, 404),
        ("/explain/..%2fworker", WORKER, 404),
        ("/explain/broken", ALL, 200),
        ("/explain/broken", BROKEN, 200),
    ];
    for (path, token, status) in rows {
        let answer = world.client.get(path, &[token]);
        assert_eq!(answer.status, status, "{path} {token}: {answer:?}");
        if path.starts_with("/explain/w") {
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        }
    }
    let told = world
        .client
        .get("/explain/worker?version=3.4.0", &[WORKER])
        .json();
    let served = world.client.get(
        "/config/worker",
        &[
            WORKER,
            "Accept: application/vnd.coreos.ignition+json;version=3.4.0",
        ],
    );
    assert_eq!(told["etag"], served.header("etag").unwrap());
    assert_eq!(told["bytes"], served.body.len());
    assert_eq!(told["config"], "rendered-1");
    assert_eq!(told["versions"].as_array().unwrap().len(), 7);
    let layered = world
        .client
        .get("/explain/worker?view=layered&only=summary", &[WORKER])
        .json();
    assert_eq!(layered["image"]["from"], "spec.desiredImage of the pool");
    assert!(layered.get("files").is_none());
    let broken = world.client.get("/explain/broken", &[BROKEN]).json();
    assert!(
        broken["problem"]["detail"]
            .as_str()
            .unwrap()
            .contains("broken.yaml"),
        "{broken}"
    );
    let luks = world
        .client
        .get("/explain/luks?version=2.2.0", &[ALL])
        .json();
    assert_eq!(luks["problem"]["status"], 500);
}

#[test]
fn what_changes_is_explained_anew() {
    let world = World::open();
    let shown = || {
        let told = world.client.get("/explain/worker", &[]).json();
        told["files"][0]["content"]["text"].clone()
    };
    assert_eq!(shown(), "one");
    world.replace(
        "pools/machine-configs/rendered-1.yaml",
        &machine_config("rendered-1", "two"),
    );
    assert_eq!(shown(), "two");
}
