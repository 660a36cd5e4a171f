//! Who is let in, who is sent away for good, and who may ask again.

use std::time::Duration;

use bootlace_server::Limits;

use crate::client::{Answer, ask};
use crate::world::{Setup, World, until};

/// SHA-256 of `good-token`, `late-token`, `other-token` and `coming-token`.
const GOOD: &str = "461caa80a52104436e34006189430d13aba103b2c4344d446ea3d9324b0de1c0";
const LATE: &str = "a37d12117f072c57ebd30d5036334817604d4661025e83e78e9e8a27774e1282";
const OTHER: &str = "6c67163bbed989f232b31acc4f04df54b31285bfc01bd022c735b71e041a4754";
const COMING: &str = "913025d6ba3f5e140258a7fbefbcb3022bd2150363efc46e7d219ae7364f305e";

fn file(hash: &str) -> String {
    format!(
        "tokens:\n\
         - {{sha256: {hash}, pool: worker, node: node-7, expires: 2999-01-01T00:00:00Z}}\n\
         - {{sha256: {LATE}, pool: worker, expires: 2020-01-01T00:00:00Z}}\n\
         - {{sha256: {OTHER}, pool: luks, expires: 2999-01-01T00:00:00Z}}\n"
    )
}

fn with(world: &World, token: &str) -> Answer {
    let header = format!("Authorization: Bearer {token}");
    world
        .client
        .get("/config/worker", &[&header, "Bootlace-Node: node-7"])
}

#[test]
fn tokens_decide_who_asks_again() {
    let world = World::with_tokens(&file(GOOD));
    assert_eq!(with(&world, "good-token").status, 200);
    let rows = [
        ("late-token", 401, "expired"),
        ("other-token", 401, "not for the pool worker"),
        ("not a token", 401, "no bearer token"),
        ("good-toke", 511, "not known"),
        ("coming-token", 511, "not known"),
    ];
    for (token, status, why) in rows {
        let answer = with(&world, token);
        assert_eq!(answer.status, status, "{token}");
        assert!(
            answer.json()["detail"].as_str().unwrap().contains(why),
            "{answer:?}"
        );
        assert_eq!(answer.header("retry-after").is_some(), status == 511);
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
    }
    let none = world.client.get("/config/worker", &[]);
    assert_eq!(none.status, 401);
    let twice = ["Authorization: Bearer good-token"; 2];
    assert_eq!(world.client.get("/config/worker", &twice).status, 401);
    // Whoever is not let in does not learn which pools there are.
    assert_eq!(world.client.get("/config/nothing", &[]).status, 401);
    assert_eq!(
        world.client.get("/status", &[]).json()["insecure"],
        serde_json::json!([])
    );
    let audit = world.audit();
    assert!(
        !audit.contains("token\":\"good") && !audit.contains("-token"),
        "{audit}"
    );
    let first: serde_json::Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!(first["token"].as_str().unwrap(), &GOOD[..8]);
    assert_eq!(first["node"], "node-7");
}

#[test]
fn who_fails_too_often_is_held_up_and_whoever_has_a_token_never() {
    let world = World::with_tokens(&file(GOOD));
    let mut stream = world.client.connect().unwrap();
    let mut asked = |token: &str| {
        let header = format!("Authorization: Bearer {token}");
        let headers = [header.as_str(), "Bootlace-Node: node-7"];
        ask(&mut stream, "GET", "/config/worker", &headers).unwrap()
    };
    for n in 0..300 {
        assert_eq!(asked(&format!("guess-{n}")).status, 511);
    }
    let answer = asked("late-token");
    assert_eq!(answer.status, 503, "a machine asks again");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(
        answer.json()["type"],
        "urn:bootlace:problem:too-many-failures"
    );
    assert_eq!(asked("good-token").status, 200);
}

#[test]
fn tokens_come_and_go_while_the_server_runs() {
    let world = World::with_tokens(&file(GOOD));
    assert_eq!(with(&world, "coming-token").status, 511);
    assert_eq!(with(&world, "good-token").status, 200);
    world.write("tokens.yaml", &file(COMING));
    until("the new token is known", || {
        with(&world, "coming-token").status == 200
    });
    assert_eq!(with(&world, "good-token").status, 401);
    // A broken file takes nothing away, and is told.
    world.write("tokens.yaml", "tokens: secret");
    until("the broken file is noticed", || {
        let own = [
            "Authorization: Bearer coming-token",
            "Bootlace-Node: node-7",
        ];
        let ready = world.client.get("/readyz", &own).json();
        ready["problems"].to_string().contains("tokens.yaml")
    });
    assert_eq!(with(&world, "coming-token").status, 200);
    let log = world.said();
    assert!(
        log.contains("tokens not read again") && !log.contains("secret"),
        "{log}"
    );
}

#[test]
fn a_new_certificate_is_used_at_once() {
    let world = World::open();
    assert_eq!(world.client.get("/healthz", &[]).status, 200);
    let client = world.certify_again();
    until("the new certificate is shown", || client.connect().is_ok());
    assert_eq!(client.get("/healthz", &[]).status, 200);
    world.write("tls.key", "no key");
    until("the broken key is noticed", || {
        client.get("/status", &[]).json()["problems"]
            .to_string()
            .contains("tls.key")
    });
}

#[test]
fn who_can_serve_nobody_is_not_ready() {
    let world = World::with_tokens("tokens: []\n");
    let answer = world.client.get("/readyz", &[]);
    assert_eq!(answer.status, 503);
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("no token is valid"), "{detail}");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a file that is away for a moment"
)]
fn a_token_of_another_pool_gets_nothing_while_the_pool_is_away() {
    // Whoever waits for the pool waits for longer than a client does.
    let limits = Limits {
        pool_returns_within: Duration::from_mins(10),
        ..Limits::default()
    };
    let tokens = file(GOOD);
    let world = World::start(Setup {
        limits,
        ..Setup::of_tokens(&tokens)
    });
    let good = ["Authorization: Bearer good-token", "Bootlace-Node: node-7"];
    let other = ["Authorization: Bearer other-token"];
    let (pool, away) = (
        world.path("pools/machine-pools/worker.yaml"),
        world.path("away"),
    );
    for path in ["/config/worker", "/layered/worker", "/explain/worker"] {
        // What was served before is waited for, by those who may have it.
        let before = world.client.get(path, &good);
        std::fs::rename(&pool, &away).unwrap();
        // The pool is back only after this answer, so an answer that waits for the pool never comes.
        let answer = world.client.get(path, &other);
        assert!([401, 404].contains(&answer.status), "{path}: {answer:?}");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                std::fs::rename(&away, &pool).unwrap();
            });
            assert_eq!(
                world.client.get(path, &good).status,
                before.status,
                "{path}"
            );
        });
        assert_eq!(world.client.get(path, &other).status, 401, "{path}");
    }
}
