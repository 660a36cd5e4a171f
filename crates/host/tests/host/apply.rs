//! Applying objects to something that answers like an API: what is tried again, and what is not.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bootlace_engine::port::{Applied, ApplyRequest, Cluster as _, HostError};
use bootlace_host::RealHost;
use bootlace_model::effect::ApiObject;
use serde_json::{Value, json};

use crate::api::kubeconfig;
use crate::server::{Identity, Server, reply};

const PLENTY: Duration = Duration::from_mins(1);

/// Answers what is asked for the nth time.
type Script = fn(&str, usize) -> (u16, Value);

fn serve(identity: &Identity, script: Script) -> Server {
    let counts: Mutex<BTreeMap<String, usize>> = Mutex::default();
    Server::start_secure(identity, move |_, line, to| {
        let line = line.rsplit_once(' ').unwrap().0.to_owned();
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        let (status, body) = discovery(&line).unwrap_or_else(|| script(&line, *count));
        say(to, status, &body);
    })
}

fn say(to: &mut dyn Write, status: u16, body: &Value) {
    reply(to, &format!("{status} So"), "", body.to_string().as_bytes());
}

fn discovery(line: &str) -> Option<(u16, Value)> {
    let resources = match line {
        "GET /api/v1" => json!([
            {"name": "namespaces", "kind": "Namespace", "namespaced": false},
            {"name": "configmaps", "kind": "ConfigMap", "namespaced": true},
        ]),
        "GET /apis/apiextensions.k8s.io/v1" => json!([
            {"name": "customresourcedefinitions", "kind": "CustomResourceDefinition",
                "namespaced": false},
        ]),
        _ => return None,
    };
    Some((200, json!({"resources": resources})))
}

fn object(api_version: &str, kind: &str, name: &str) -> ApiObject {
    let metadata = json!({"name": name, "namespace": "n"});
    let content = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    ApiObject::new(content, "file.yaml").unwrap()
}

fn map(name: &str) -> ApiObject {
    object("v1", "ConfigMap", name)
}

fn definition() -> ApiObject {
    let content = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.demo.example"},
        "spec": {"group": "demo.example", "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true}]},
    });
    ApiObject::new(content, "file.yaml").unwrap()
}

fn apply(
    server: &Server,
    identity: &Identity,
    objects: &[ApiObject],
    within: Duration,
) -> Result<Vec<Applied>, HostError> {
    let host = RealHost::builder().proxy(None).build();
    host.apply_objects(&ApplyRequest {
        credentials: &kubeconfig(&server.url(""), &identity.authority, &json!({})),
        objects,
        within,
    })
}

fn problems(applied: &[Applied]) -> Vec<(&str, Option<&str>, u32)> {
    applied
        .iter()
        .map(|one| (one.id.name.as_str(), one.problem.as_deref(), one.tries))
        .collect()
}

#[test]
fn only_what_can_get_better_is_tried_again() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = serve(&identity, |line, count| {
        let name = line.rsplit_once('/').unwrap().1.split('?').next().unwrap();
        match (name, count) {
            ("busy", 1) => (429, json!({"message": "later"})),
            ("broken", 1..=2) => (500, json!({"message": "a webhook failed"})),
            ("raced", 1) => (409, json!({"message": "changed"})),
            ("early", 1) => (403, json!({"message": "no role yet"})),
            ("homeless", 1) => {
                let details = json!({"kind": "namespaces", "name": "n"});
                (404, json!({"message": "no namespace", "details": details}))
            }
            ("bad", _) => (422, json!({"message": "ConfigMap \"bad\" is invalid"})),
            ("odd", _) => (400, json!({"message": "unknown field"})),
            _ => (201, json!({})),
        }
    });
    let names = [
        "busy", "bad", "broken", "raced", "odd", "early", "homeless", "good",
    ];
    let objects = names.map(map);
    let begun = Instant::now();
    let applied = apply(&server, &identity, &objects, PLENTY).unwrap();
    let expected = [
        ("busy", None, 2),
        ("bad", Some("ConfigMap \"bad\" is invalid"), 1),
        ("broken", None, 3),
        ("raced", None, 2),
        ("odd", Some("unknown field"), 1),
        ("early", None, 2),
        ("homeless", None, 2),
        ("good", None, 1),
    ];
    assert_eq!(problems(&applied), expected);
    assert!(begun.elapsed() < Duration::from_secs(10));
    let patch =
        "PATCH /api/v1/namespaces/n/configmaps/good?fieldManager=bootlace&force=true HTTP/1.1";
    let requests = server.requests();
    assert!(requests.iter().any(|line| line == patch), "{requests:?}");
    let place = requests.iter().position(|line| line == patch).unwrap();
    let headers = &server.headers()[place];
    assert!(headers.contains(&"content-type: application/apply-patch+yaml".to_owned()));
    // Once at first, and again for the one that was not found.
    let asked = requests
        .iter()
        .filter(|line| line.starts_with("GET /api/v1 "));
    assert_eq!(asked.count(), 2);
}

#[test]
fn objects_wait_for_their_namespaces_and_definitions() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = serve(&identity, |line, count| {
        let established = json!({"status": {"conditions": [
            {"type": "Established", "status": if count > 1 { "True" } else { "False" }}]}});
        match line {
            "GET /apis/demo.example/v1" if count < 3 => (404, json!("404 page not found")),
            "GET /apis/demo.example/v1" => {
                let thing = json!({"name": "things", "kind": "Thing", "namespaced": true});
                (200, json!({"resources": [thing]}))
            }
            _ if line.contains("customresourcedefinitions") => (200, established),
            _ => (201, json!({})),
        }
    });
    let objects = [
        object("demo.example/v1", "Thing", "a"),
        map("b"),
        definition(),
        object("v1", "Namespace", "n"),
    ];
    let applied = apply(&server, &identity, &objects, PLENTY).unwrap();
    let names = ["a", "b", "things.demo.example", "n"].map(|name| (name, None, 1));
    assert_eq!(problems(&applied), names);
    let requests = server.requests();
    let patched = |part: &str| {
        let found = |line: &String| line.starts_with("PATCH") && line.contains(part);
        let places: Vec<usize> = (0..requests.len())
            .filter(|n| found(&requests[*n]))
            .collect();
        assert_eq!(places.len(), 1, "{part}");
        places[0]
    };
    let order = [
        "namespaces/n?",
        "customresourcedefinitions",
        "configmaps",
        "things/a",
    ]
    .map(patched);
    assert!(order.is_sorted(), "{requests:#?}");
}

#[test]
#[ignore = "slow: kinds that somebody else may define are waited for, for ten seconds"]
fn nobody_waits_for_what_will_not_come() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = serve(&identity, |line, _| {
        if line.contains("customresourcedefinitions") {
            return (422, json!({"message": "the schema is bad"}));
        }
        (404, json!("404 page not found"))
    });
    let objects = [object("demo.example/v1", "Thing", "a"), definition()];
    let begun = Instant::now();
    let applied = apply(&server, &identity, &objects, Duration::from_mins(10)).unwrap();
    assert!(begun.elapsed() < Duration::from_mins(1));
    assert_eq!(applied[1].problem.as_deref(), Some("the schema is bad"));
    let problem = applied[0].problem.as_deref().unwrap();
    assert_eq!(problem, "the API serves no kind Thing in demo.example/v1");
    assert!(applied[0].tries > 1);
}

#[test]
fn a_silent_api_is_asked_until_time_is_up_and_a_strange_one_never_again() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let objects: Vec<ApiObject> = (0..20).map(|n| map(&n.to_string())).collect();
    let server = Server::start_secure(&identity, |_, _, _| ());
    let within = Duration::from_millis(600);
    let begun = Instant::now();
    let applied = apply(&server, &identity, &objects, within).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(applied.len(), 20);
    assert!(applied.iter().all(|one| one.problem.is_some()));
    assert!(applied[0].tries > 1, "{:?}", applied[0]);
    let problem = applied[0].problem.as_deref().unwrap();
    assert!(problem.contains("does not answer"), "{problem}");

    let other = Identity::new(&["127.0.0.1"], 10, 1);
    let error = apply(&server, &other, &objects, PLENTY).unwrap_err();
    assert!(matches!(error, HostError::Untrusted { .. }), "{error:?}");
}
