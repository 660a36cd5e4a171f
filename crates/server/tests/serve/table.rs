//! Methods, paths, versions and statuses, row by row.

use crate::client::ask;
use crate::world::World;

const IGNITION: &str = "Accept: application/vnd.coreos.ignition+json;version=";

#[test]
fn every_request_has_its_status() {
    let world = World::open();
    let rows = [
        ("GET", "/config/worker", 200),
        ("HEAD", "/config/worker", 200),
        ("GET", "/config/worker?x=1", 200),
        ("POST", "/config/worker", 405),
        ("PUT", "/config/worker", 405),
        ("DELETE", "/config/worker", 405),
        ("OPTIONS", "/config/worker", 405),
        ("BREW", "/config/worker", 405),
        // A typo stops a machine at once; it does not hang for ever.
        ("GET", "/config/wroker", 404),
        ("HEAD", "/config/wroker", 404),
        ("GET", "/config/", 404),
        ("GET", "/config", 404),
        ("GET", "/config/a/worker", 404),
        ("GET", "/config/worker/", 404),
        ("GET", "/config/../config/worker", 404),
        ("GET", "/config/..%2f..%2fkubeconfig", 404),
        ("GET", "/config/%77orker", 404),
        ("GET", "/config/.worker", 404),
        ("GET", "/config/worker.yaml", 404),
        ("GET", "/config/worker%00", 404),
        ("GET", "/config/broken", 503),
        // 2.2 knows no LUKS.
        ("GET", "/config/luks", 500),
        ("GET", "/healthz", 200),
        ("HEAD", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("GET", "/readyz", 200),
        ("GET", "/status", 200),
        ("GET", "/metrics", 200),
        ("GET", "/", 404),
        ("GET", "/other", 404),
        ("HEAD", "/other", 404),
        ("POST", "/other", 405),
    ];
    for (method, path, status) in rows {
        let answer = world.client.ask(method, path, &[]);
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        if status == 200 || method == "HEAD" {
            assert_eq!(answer.body.is_empty(), method == "HEAD", "{method} {path}");
            assert!(answer.header("content-length").is_some_and(|n| n != "0"));
            continue;
        }
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        let problem = answer.json();
        assert_eq!(problem["status"], status);
        for part in ["type", "title", "detail", "hint"] {
            assert!(
                problem[part].as_str().is_some_and(|text| !text.is_empty()),
                "{problem}"
            );
        }
        if status == 405 {
            assert_eq!(answer.header("allow"), Some("GET, HEAD"));
        }
    }
}

#[test]
fn versions_are_served_as_they_are_asked_for() {
    let world = World::open();
    let rows = [
        ("", "2.2.0"),
        ("2.0.0", ""),
        ("2.1.0", ""),
        ("2.2.0", "2.2.0"),
        ("2.4.0", "2.2.0"),
        ("3.0.0", "3.0.0"),
        ("3.1.0", "3.1.0"),
        ("3.2.0", "3.2.0"),
        ("3.3.0", "3.3.0"),
        ("3.4.0", "3.4.0"),
        ("3.5.0", "3.5.0"),
        ("3.6.0", "3.5.0"),
        ("3.6.0-experimental", "3.5.0"),
        ("3.9.0", "3.5.0"),
        ("4.0.0", ""),
    ];
    for (asked, served) in rows {
        let header = format!("{IGNITION}{asked}, */*;q=0.1");
        let headers: &[&str] = if asked.is_empty() { &[] } else { &[&header] };
        let answer = world.client.get("/config/worker", headers);
        if served.is_empty() {
            assert_eq!(answer.status, 400, "{asked}");
            assert!(answer.json()["hint"].as_str().unwrap().contains("3.5.0"));
        } else {
            assert_eq!(answer.status, 200, "{asked}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.json()["ignition"]["version"], served, "{asked}");
        }
    }
    let luks = |version: &str| {
        let header = format!("{IGNITION}{version}");
        world.client.get("/config/luks", &[&header]).status
    };
    assert_eq!(
        [luks("3.0.0"), luks("3.1.0"), luks("3.2.0")],
        [400, 500, 200]
    );
}

#[test]
fn a_body_that_is_held_is_not_sent_again() {
    let world = World::open();
    let mut stream = world.client.connect().unwrap();
    let first = ask(&mut stream, "GET", "/config/worker", &[]).unwrap();
    let tag = first.header("etag").unwrap().to_owned();
    let bare = ask(&mut stream, "HEAD", "/config/worker", &[]).unwrap();
    assert_eq!(bare.header("etag"), Some(&*tag));
    let length = first.body.len().to_string();
    assert_eq!(bare.header("content-length"), Some(&*length));
    let held = format!("If-None-Match: {tag}");
    let answer = ask(&mut stream, "GET", "/config/worker", &[&held]).unwrap();
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    assert_eq!(answer.header("etag"), Some(&*tag));
    let other = format!("{IGNITION}3.4.0");
    let answer = ask(&mut stream, "GET", "/config/worker", &[&held, &other]).unwrap();
    assert_eq!(answer.status, 200);
    assert_ne!(answer.header("etag"), Some(&*tag));
}

#[test]
fn the_server_tells_about_itself() {
    let world = World::open();
    world.client.get("/config/worker", &[]);
    let status = world.client.get("/status", &[]).json();
    assert!(
        status["insecure"][0]
            .as_str()
            .unwrap()
            .contains("no authentication")
    );
    let pools = status["pools"].as_array().unwrap();
    let worker = pools.iter().find(|pool| pool["name"] == "worker").unwrap();
    assert_eq!(worker["config"], "rendered-1");
    assert_eq!(worker["versions"].as_object().unwrap().len(), 7);
    let ready = world.client.get("/readyz", &[]).json();
    assert_eq!(ready["ready"], true);
    let problems = ready["problems"].to_string();
    assert!(problems.contains("machine-pools/broken.yaml"), "{problems}");
    let metrics = String::from_utf8(world.client.get("/metrics", &[]).body).unwrap();
    let expected = "bootlace_server_answers_total{endpoint=\"config\",status=\"200\"} 1\n";
    assert!(metrics.contains(expected), "{metrics}");
    let audit = world.audit();
    let first: serde_json::Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!(first["path"], "/config/worker");
    assert_eq!(first["config"], "rendered-1");
    assert_eq!(first["version"], "2.2.0");
    assert_eq!(audit.lines().count(), 4);
}
