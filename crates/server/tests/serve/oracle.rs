//! What tells whether a guess of a secret is right: names of configs, etags and sizes.
//!
//! Each follows from a whole config, so whoever knows the rest of it could try short secrets until they
//! fit. They are for those alone who may have the config.

use serde_json::{Value, json};

use crate::client::{Answer, ask};
use crate::page::BROWSER;
use crate::world::{Setup, World, pool, token, until};

const POOLS: [(&str, &str, usize); 2] = [
    (
        "worker",
        "rendered-worker-0123456789abcdef0123456789abcdef",
        51_111,
    ),
    (
        "master",
        "rendered-master-fedcba9876543210fedcba9876543210",
        52_222,
    ),
];
/// A config that the pool master names when it is broken.
const LOST: &str = "rendered-master-00112233445566778899aabbccddeeff";
const WORKER: &str = "Authorization: Bearer worker-token";
const MASTER: &str = "Authorization: Bearer master-token";
const ALL: &str = "Authorization: Bearer all-token";
const NODE: &str = "Authorization: Bearer node-token";
const ALL_OF_NODE: &str = "Authorization: Bearer all-node-token";
const JSON: &str = "Accept: application/json";
const VERSIONS: [&str; 7] = [
    "2.2.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0",
];

fn config(name: &str, size: usize) -> Value {
    let file = |path: &str, mode: u32, text: &str| json!({"path": path, "mode": mode, "contents": {"source": format!("data:,{text}")}});
    json!({"metadata": {"name": name}, "spec": {"config": {
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [
            file("/etc/shown", 0o644, "hello"),
            file("/etc/private", 0o600, &"x".repeat(size)),
            file("/etc/partly", 0o644, &format!("PASSWORD={}", "y".repeat(size + 1_000))),
        ]},
    }}})
}

/// Starts a server with the healthy pools worker and master.
fn world() -> World {
    let valid = "expires: 2999-01-01T00:00:00Z";
    let tokens = [
        "tokens:\n".to_owned(),
        token("worker-token", &format!("pool: worker, {valid}")),
        token("master-token", &format!("pool: master, {valid}")),
        token("all-token", &format!("pool: '*', {valid}")),
        token(
            "node-token",
            &format!("pool: master, node: node-7, {valid}"),
        ),
        token(
            "all-node-token",
            &format!("pool: '*', node: node-7, {valid}"),
        ),
    ]
    .concat();
    let world = World::start(Setup::of_tokens(&tokens));
    for (name, rendered, size) in POOLS {
        let path = format!("pools/machine-configs/{rendered}.yaml");
        world.replace(&path, &config(rendered, size).to_string());
        let image = format!(
            "spec: {{desiredImage: 'r.example/os@sha256:{}'}}\n",
            "0".repeat(64)
        );
        let text = image + &pool(rendered);
        world.replace(&format!("pools/machine-pools/{name}.yaml"), &text);
    }
    world.remove_file("pools/machine-pools/luks.yaml");
    world.remove_file("pools/machine-pools/broken.yaml");
    world
}

/// What nobody may learn who may not have the config of a pool.
struct Fingerprints {
    texts: Vec<String>,
    numbers: Vec<String>,
}

impl Fingerprints {
    /// Collects those of a pool, with a token of it.
    fn of(world: &World, number: usize, token: &str) -> Self {
        let (pool, rendered, size) = POOLS[number];
        let mut texts = vec![
            rendered.to_owned(),
            rendered.rsplit('-').next().unwrap().to_owned(),
            format!("machine-pools/{pool}"),
        ];
        let mut numbers: Vec<_> = [size, size + 1_000 + "PASSWORD=".len()]
            .map(|size| size.to_string())
            .into();
        for view in ["config", "layered"] {
            for version in VERSIONS {
                let accept =
                    format!("Accept: application/vnd.coreos.ignition+json;version={version}");
                let answer = world
                    .client
                    .get(&format!("/{view}/{pool}"), &[token, &accept]);
                assert_eq!(answer.status, 200, "{view} {version}");
                let tag = answer.header("etag").unwrap();
                texts.push(tag.trim_matches('"').to_owned());
                if view == "config" {
                    // What a layered machine gets is as large for all pools whose names are as long.
                    numbers.push(answer.body.len().to_string());
                }
            }
        }
        Self { texts, numbers }
    }

    /// Returns what of them is in an answer.
    fn found<'f>(&'f self, answer: &'f str) -> Option<&'f String> {
        let has_number = |number: &&String| {
            let mut numbers = answer.split(|sign: char| !sign.is_ascii_digit());
            numbers.any(|found| found == number.as_str())
        };
        let mut texts = self.texts.iter();
        let text = texts.find(|text| answer.contains(text.as_str()));
        text.or(self.numbers.iter().find(has_number))
    }
}

fn whole(answer: &Answer) -> String {
    let body = String::from_utf8(answer.body.clone()).unwrap();
    format!("{}\n{body}", answer.head)
}

/// Asks for everything that may be read, from an address of its own, so that no caller is held up
/// because others failed too often; returns what was asked, with the answer.
fn all_answers(world: &World, source: u8, headers: &[&str]) -> Vec<(String, String)> {
    let mut paths: Vec<String> = [
        "/status",
        "/readyz",
        "/healthz",
        "/metrics",
        "/progress",
        "/",
    ]
    .map(ToOwned::to_owned)
    .into();
    for pool in ["worker", "master", "nowhere"] {
        paths.extend(["config", "layered"].map(|view| format!("/{view}/{pool}")));
        paths.push(format!("/explain/{pool}?only=summary"));
        for view in ["config", "layered"] {
            let path = |version| format!("/explain/{pool}?view={view}&version={version}");
            paths.extend(["2.2.0", "3.5.0"].map(path));
        }
    }
    let client = world.client.from([127, 0, 0, source]);
    let mut stream = client.connect().unwrap();
    let mut answers = Vec::new();
    for path in paths {
        for (method, accept) in [("GET", JSON), ("HEAD", JSON), ("GET", BROWSER)] {
            // A stream has no end, and tells the same.
            if path != "/progress" || accept == JSON {
                let headers = [&[accept], headers].concat();
                let answer = ask(&mut stream, method, &path, &headers).unwrap();
                let told = whole(&answer);
                assert!(!told.contains("too-many-failures"), "{told}");
                answers.push((format!("{method} {path} {accept}"), told));
            }
        }
    }
    answers
}

/// Checks that no answer to a caller holds any of these fingerprints.
fn assert_nothing_told(world: &World, source: u8, headers: &[&str], of: &[&Fingerprints]) {
    for (asked, answer) in all_answers(world, source, headers) {
        for fingerprints in of {
            let found = fingerprints.found(&answer);
            assert_eq!(found, None, "{asked} {headers:?}: {answer:.2000}");
        }
    }
}

/// Lets the pool master name a config that is not there, and the tokens file be of no use.
fn break_master(world: &World) {
    world.replace("pools/machine-pools/master.yaml", &pool(LOST));
    world.replace("tokens.yaml", "tokens: secret");
    until("the broken file is noticed", || {
        world.said().contains("tokens not read again")
    });
}

fn problems(world: &World, path: &str, headers: &[&str]) -> String {
    world.client.get(path, headers).json()["problems"].to_string()
}

#[test]
fn nobody_learns_by_what_to_guess_the_secrets_of_a_pool() {
    let world = world();
    let of_worker = Fingerprints::of(&world, 0, WORKER);
    let mut of_master = Fingerprints::of(&world, 1, MASTER);
    of_master.texts.push(LOST.to_owned());
    // Where the server's own files are is not for strangers either, nor which pools there are.
    let of_server = Fingerprints {
        texts: vec![
            world.path("").display().to_string(),
            "master, worker".to_owned(),
        ],
        numbers: vec![],
    };
    for is_broken in [false, true] {
        if is_broken {
            break_master(&world);
        }
        assert_nothing_told(&world, 2, &[WORKER], &[&of_master]);
        let both = [&of_worker, &of_master];
        assert_nothing_told(&world, 3, &[ALL], &both);
        assert_nothing_told(&world, 4, &[ALL_OF_NODE, "Bootlace-Node: node-7"], &both);
        let all = [&of_worker, &of_master, &of_server];
        for (source, headers) in [
            (5, &[][..]),
            (6, &[NODE]),
            (7, &[NODE, "Bootlace-Node: node-8"]),
            (8, &[ALL_OF_NODE]),
            (9, &["Authorization: Bearer nobody"]),
        ] {
            assert_nothing_told(&world, source, headers, &all);
        }
    }
    // Those who may have the config are told everything.
    let own = world.client.get("/status", &[WORKER]);
    assert!(of_worker.found(&whole(&own)).is_some());
    assert!(problems(&world, "/readyz", &[MASTER]).contains(LOST));
    assert!(problems(&world, "/status", &[MASTER]).contains(LOST));
}

#[test]
fn who_may_have_no_config_still_sees_how_its_pool_is() {
    let world = world();
    let pools = |token: &str| world.client.get("/status", &[token]).json()["pools"].clone();
    assert_eq!(pools(WORKER).as_array().unwrap().len(), 1);
    let all = pools(ALL);
    let master = &all[0];
    assert_eq!(
        (&master["name"], &master["config"]),
        (&"master".into(), &Value::Null)
    );
    let told = &master["versions"]["3.4.0"];
    assert_eq!(told["status"], 200);
    let revision = told["revision"].as_u64().unwrap();
    let explained = |path: &str| world.client.get(path, &[ALL]).json();
    let whole = explained("/explain/master");
    let file = |path: &str| {
        let mut files = whole["files"].as_array().unwrap().iter();
        files.find(|file| file["path"] == path).unwrap().clone()
    };
    assert_eq!(file("/etc/shown")["content"]["text"], "hello");
    assert_eq!(file("/etc/shown")["size"], 5);
    assert_eq!(file("/etc/partly")["content"]["text"], "PASSWORD=(hidden)");
    assert_eq!(file("/etc/private")["content"]["kind"], "hidden");
    for path in ["/etc/partly", "/etc/private"] {
        assert!(file(path)["size"].is_null() && file(path)["sha256"].is_null());
    }
    // A change is noticed, and nothing is told about what changed.
    let (name, rendered, size) = POOLS[1];
    let path = format!("pools/machine-configs/{rendered}.yaml");
    world.replace(&path, &config(rendered, size + 1).to_string());
    assert_eq!(pools(ALL)[0]["name"], name);
    assert_ne!(pools(ALL)[0]["versions"]["3.4.0"]["revision"], revision);
    break_master(&world);
    let reason = "the pool master cannot be served; a token of the pool shows the reason";
    assert_eq!(pools(ALL)[0]["versions"]["3.4.0"]["detail"], reason);
    assert_eq!(explained("/explain/master")["problem"]["detail"], reason);
    assert!(problems(&world, "/readyz", &[ALL]).contains(reason));
}

#[test]
fn strangers_are_told_how_many_problems_there_are() {
    let world = world();
    let expected = [
        "pools that cannot be served: 1; a token of the pool shows the reason",
        "problems of the server: 1; any token shows them",
    ];
    for path in ["/readyz", "/status"] {
        assert_eq!(problems(&world, path, &[]), "[]");
    }
    break_master(&world);
    for headers in [&[][..], &["Authorization: Bearer nobody"]] {
        let ready = world.client.get("/readyz", headers);
        assert_eq!(ready.status, 200);
        assert_eq!(ready.json()["problems"], json!(expected));
    }
    assert_eq!(
        problems(&world, "/status", &[]),
        json!(expected).to_string()
    );
    let of_worker = problems(&world, "/readyz", &[WORKER]);
    assert!(of_worker.contains(expected[0]), "{of_worker}");
    assert!(of_worker.contains("tokens.yaml"), "{of_worker}");
    // Nothing can be served any more: the answer says no more than that.
    world.remove_file("pools/machine-pools/worker.yaml");
    let ready = world.client.get("/readyz", &[]);
    assert_eq!(ready.status, 503);
    assert!(!whole(&ready).contains("master"), "{ready:?}");
}

#[test]
fn counted_bytes_do_not_tell_how_large_a_config_is() {
    let world = world();
    let sent = || {
        let text = String::from_utf8(world.client.get("/metrics", &[]).body).unwrap();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("bootlace_server_sent_bytes_total "));
        line.unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let before = sent();
    assert_eq!(world.client.get("/config/master", &[MASTER]).status, 200);
    let after = sent();
    assert!(after > before);
    assert_eq!((before % (64 << 10), after % (64 << 10)), (0, 0));
}

#[test]
fn a_token_of_one_node_is_of_no_use_without_the_name_of_the_node() {
    let world = world();
    let paths = [
        "/status",
        "/metrics",
        "/progress",
        "/",
        "/explain/master",
        "/config/master",
        "/layered/master",
    ];
    let wrong: [&[&str]; 3] = [
        &[NODE],
        &[NODE, "Bootlace-Node: node-8"],
        &[NODE, "Bootlace-Node: "],
    ];
    for path in paths {
        for headers in wrong {
            let answer = world.client.get(path, headers);
            assert_eq!(answer.status, 401, "{path} {headers:?}");
            assert!(answer.json()["detail"].as_str().unwrap().contains("node"));
        }
        let right = world
            .client
            .get(path, &[NODE, "Bootlace-Node: node-7", "Accept: */*"]);
        assert_eq!(right.status, 200, "{path}");
        let cookie = "Cookie: __Host-bootlace=node-token";
        assert_eq!(world.client.get(path, &[cookie]).status, 401, "{path}");
    }
    // One that looks at everything is bound in the same way.
    let looks = |node: &str| {
        world
            .client
            .get("/explain/master", &[ALL_OF_NODE, node])
            .status
    };
    assert_eq!((looks("A: b"), looks("Bootlace-Node: node-7")), (401, 200));
    for path in ["/readyz", "/healthz"] {
        let (bound, none) = (world.client.get(path, &[NODE]), world.client.get(path, &[]));
        assert_eq!((bound.status, bound.body), (200, none.body), "{path}");
    }
    // A report says which node it is about.
    let report = world
        .client
        .post("/progress", &[NODE], r#"{"phase": "done"}"#);
    assert_eq!(report.status, 204);
    let form = "Content-Type: application/x-www-form-urlencoded";
    for headers in [
        &[BROWSER, form][..],
        &[BROWSER, form, "Bootlace-Node: node-7"],
    ] {
        let answer = world.client.post("/login", headers, "token=node-token");
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None));
        let said = whole(&answer);
        assert!(
            said.contains("a browser cannot send the node's name"),
            "{said}"
        );
    }
}
