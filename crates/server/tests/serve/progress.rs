//! What machines tell about themselves, and who reads it.

use std::io::{self, Read as _};

use crate::client::{Answer, Connection, ask};
use crate::world::{World, until};

/// The tokens `worker-token`, `x` (of one node), `luks-token` and `all-token`.
const TOKENS: &str = "tokens:\n\
    - {sha256: dedd02022dba76562722a9463558e4124c82c5e6a09e925e6b11eec9a7042bf7, pool: worker, expires: 2099-01-01T00:00:00Z}\n\
    - {sha256: 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881, pool: worker, node: node-7, expires: 2099-01-01T00:00:00Z}\n\
    - {sha256: 0b08a069943fa37de1f68c2e83f38a97e528f5d3e2bdbc782aa99a628b290152, pool: luks, expires: 2099-01-01T00:00:00Z}\n\
    - {sha256: 9b55a7eb696557361a993bb4f81103b3cf34ade2d81e5888bd1a97ed6993d7fe, pool: '*', expires: 2099-01-01T00:00:00Z}\n";
const WORKER: &str = "Authorization: Bearer worker-token";
const NODE: &str = "Authorization: Bearer x";
const LUKS: &str = "Authorization: Bearer luks-token";
const ALL: &str = "Authorization: Bearer all-token";

fn tell(world: &World, token: &str, body: &str) -> Answer {
    world.client.post("/progress", &[token], body)
}

fn nodes(world: &World) -> serde_json::Value {
    world.client.get("/status", &[ALL]).json()["nodes"].clone()
}

/// Reads a stream of events.
struct Events {
    stream: Connection,
    text: String,
}

impl Events {
    fn begin(world: &World, token: &str) -> Self {
        let mut stream = world.client.connect().unwrap();
        let answer = ask(&mut stream, "GET", "/progress", &[token]).unwrap();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        Self {
            stream,
            text: String::new(),
        }
    }

    /// Reads until a text has come; fails when the stream ends before.
    fn until(&mut self, text: &str) -> io::Result<()> {
        let mut buffer = [0; 4096];
        while !self.text.contains(text) {
            let count = self.stream.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.text
                .push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        Ok(())
    }
}

#[test]
fn who_is_where_is_told_and_read() {
    let mut world = World::with_tokens(TOKENS);
    let report = r#"{"node": "node-1", "phase": "pivot", "step": "pull-image", "attempt": 2, "cause": "no route"}"#;
    let answer = tell(&world, WORKER, report);
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let told = nodes(&world);
    assert_eq!(told[0]["node"], "node-1");
    assert_eq!(told[0]["pool"], "worker");
    assert_eq!(told[0]["step"], "pull-image");
    assert_eq!(told[0]["attempt"], 2);
    assert_eq!(told[0]["cause"], "no route");
    assert_eq!(told[0]["stalled"], false);
    let mut events = Events::begin(&world, WORKER);
    events.until("event: nodes").unwrap();
    events.until("node-1").unwrap();
    let mut others = Events::begin(&world, LUKS);
    others.until("data: []").unwrap();
    let mut all = Events::begin(&world, ALL);
    all.until("node-1").unwrap();
    assert_eq!(tell(&world, NODE, r#"{"phase": "done"}"#).status, 204);
    events.until(r#""node":"node-7","phase":"done""#).unwrap();
    events.until(r#""node":"node-1","phase":"pivot""#).unwrap();
    // Nobody hears of node-1 again, and that is noticed; node-7 has got to its end.
    events.until(r#""stalled":true"#).unwrap();
    assert!(others.text.find("node-").is_none(), "{}", others.text);
    let told = nodes(&world);
    assert_eq!(
        (&told[0]["stalled"], &told[1]["stalled"]),
        (&true.into(), &false.into())
    );
    let metrics = world.client.get("/metrics", &[ALL]);
    let metrics = String::from_utf8(metrics.body).unwrap();
    for line in [
        "bootlace_server_nodes{pool=\"worker\",phase=\"done\"} 1\n",
        "bootlace_server_nodes{pool=\"worker\",phase=\"pivot\"} 1\n",
        "bootlace_server_stalled_nodes{pool=\"worker\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    let json = world
        .client
        .get("/progress", &[ALL, "Accept: application/json"]);
    assert_eq!(json.json()["nodes"].as_array().unwrap().len(), 2);
    world.end();
    assert!(all.until("never").is_err(), "streams end with the server");
}

#[test]
fn who_has_no_token_learns_nothing_of_machines_and_pools() {
    let world = World::with_tokens(TOKENS);
    for (token, node) in [(WORKER, "node-1"), (LUKS, "node-2")] {
        let report = format!(r#"{{"node": "{node}", "phase": "pivot"}}"#);
        assert_eq!(tell(&world, token, &report).status, 204);
    }
    let tag = world.client.get("/config/worker", &[WORKER]);
    let tag = tag.header("etag").unwrap().trim_matches('"').to_owned();
    let text = |path: &str, headers: &[&str]| {
        let answer = world.client.get(path, headers);
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body).unwrap()
    };
    for path in ["/status", "/metrics"] {
        let open = text(path, &[]);
        for told in ["node-1", "node-2", "127.0.0.1", "rendered-1", "pivot", &tag] {
            assert!(!open.contains(told), "{path} tells {told}: {open}");
        }
        assert_eq!(
            world.client.get(path, &["Authorization: Bearer no"]).status,
            511
        );
    }
    // With a token it is what the token is for; an etag tells whether a guess of a secret is right.
    let (own, other, all) = (
        text("/status", &[WORKER]),
        text("/status", &[LUKS]),
        text("/status", &[ALL]),
    );
    assert!(
        own.contains("node-1") && !own.contains("node-2") && own.contains(&tag),
        "{own}"
    );
    assert!(
        other.contains("node-2") && !other.contains("node-1") && !other.contains(&tag),
        "{other}"
    );
    assert!(
        all.contains("node-1") && all.contains("node-2") && !all.contains(&tag),
        "{all}"
    );
}

#[test]
fn one_source_does_not_take_the_places_of_all_readers() {
    let world = World::with_tokens(TOKENS);
    let begin = || {
        let mut stream = world.client.connect().unwrap();
        let answer = ask(&mut stream, "GET", "/progress", &[ALL]).unwrap();
        (answer.status, stream)
    };
    let streams: Vec<_> = (0..16).map(|_| begin()).collect();
    assert!(streams.iter().all(|(status, _)| *status == 200));
    assert_eq!(begin().0, 503);
    drop(streams);
    until("a place is free again", || begin().0 == 200);
}

#[test]
fn reports_are_refused_with_the_reason() {
    let world = World::with_tokens(TOKENS);
    let good = r#"{"node": "n", "phase": "p"}"#;
    let large = format!(
        r#"{{"node": "n", "phase": "p", "cause": "{}"}}"#,
        "x".repeat(20_000)
    );
    let rows = [
        ("A: b", good, 401),
        ("Authorization: Bearer nobody", good, 511),
        (WORKER, "", 400),
        (WORKER, "{", 400),
        (WORKER, r#"{"phase": "p"}"#, 400),
        (WORKER, &large, 400),
        (
            WORKER,
            r#"{"node": "n", "phase": "p", "pool": "luks"}"#,
            403,
        ),
        (NODE, r#"{"node": "node-8", "phase": "p"}"#, 403),
        (ALL, good, 400),
    ];
    for (token, body, status) in rows {
        let answer = tell(&world, token, body);
        assert_eq!(answer.status, status, "{body}");
        assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    }
    assert_eq!(nodes(&world), serde_json::json!([]));
    assert_eq!(world.client.get("/progress", &[]).status, 401);
    assert_eq!(world.client.ask("PUT", "/progress", &[WORKER]).status, 405);
    let other = world
        .client
        .get("/config/worker", &[NODE, "Bootlace-Node: node-8"]);
    assert_eq!(other.status, 401);
    let audit = world.audit();
    assert!(
        !audit.contains("worker-token") && !audit.contains("Bearer"),
        "{audit}"
    );
}

#[test]
fn who_got_a_config_and_is_never_heard_of_again_has_stalled() {
    let world = World::with_tokens(TOKENS);
    let answer = world
        .client
        .get("/config/worker", &[NODE, "Bootlace-Node: node-7"]);
    assert_eq!(answer.status, 200);
    assert_eq!(nodes(&world)[0]["phase"], "config-served");
    until("it is called stalled", || {
        nodes(&world)[0]["stalled"] == true
    });
    // A token that looks at everything gets no config; an unknown pool is told to whoever has one.
    assert_eq!(world.client.get("/config/worker", &[ALL]).status, 401);
    assert_eq!(world.client.get("/config/nowhere", &[WORKER]).status, 404);
    assert_eq!(world.client.get("/config/luks", &[WORKER]).status, 401);
}

#[test]
fn what_is_layered_is_served_and_negotiated_as_the_rest() {
    let world = World::open();
    let answer = world.client.get("/layered/worker", &[]);
    assert_eq!(answer.status, 503);
    assert!(
        answer.json()["detail"]
            .as_str()
            .unwrap()
            .contains("machine-pools/worker.yaml: no image is named")
    );
    let digest = "0".repeat(64);
    let pool = format!(
        "spec: {{desiredImage: 'r.example/os@sha256:{digest}'}}\nstatus: {{configuration: {{name: rendered-1}}}}\n"
    );
    world.replace("pools/machine-pools/worker.yaml", &pool);
    let accept = "Accept: application/vnd.coreos.ignition+json;version=3.4.0";
    let answer = world.client.get("/layered/worker", &[accept]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["ignition"]["version"], "3.4.0");
    let tag = format!("If-None-Match: {}", answer.header("etag").unwrap());
    assert_eq!(
        world.client.get("/layered/worker", &[accept, &tag]).status,
        304
    );
    assert_eq!(
        world.client.get("/config/worker", &[accept, &tag]).status,
        200
    );
    assert_eq!(world.client.get("/layered/nowhere", &[]).status, 404);
    assert_eq!(world.client.get("/layered/..%2fworker", &[]).status, 404);
}
