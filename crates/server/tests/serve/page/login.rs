//! Who sees the page, and by what.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{BROWSER, tokens};
use crate::client::{Answer, ask};
use crate::world::World;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const WORKER: &str = "Authorization: Bearer worker-token";

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).unwrap()
}

fn log_in(world: &World, form: &str) -> Answer {
    world.client.post("/login", &[BROWSER, FORM], form)
}

/// Checks that a browser may do only what a document itself does.
fn assert_guarded(answer: &Answer) {
    let text = text(answer);
    let inner = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        let (inner, rest) = rest.split_once(&format!("</{tag}>"))?;
        assert!(!rest.contains(&format!("<{tag}")), "there is one {tag}");
        Some(STANDARD.encode(Sha256::digest(inner.as_bytes())))
    };
    let policy = answer.header("content-security-policy").unwrap();
    let style = inner("style").unwrap();
    assert!(
        policy.contains(&format!("style-src 'sha256-{style}';")),
        "{policy}"
    );
    if let Some(script) = inner("script") {
        assert!(
            policy.contains(&format!("script-src 'sha256-{script}';")),
            "{policy}"
        );
    }
    for part in [
        "default-src 'none'",
        "connect-src 'self'",
        "img-src data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part} is not in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
        ("content-type", "text/html; charset=utf-8"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
}

#[test]
fn the_page_is_behind_the_same_tokens() {
    let world = World::with_tokens(&tokens());
    let page = world.client.get("/", &[BROWSER, WORKER]);
    assert_eq!(page.status, 200);
    assert_guarded(&page);
    assert!(text(&page).contains("data-kind=\"pools\" data-pools=\"worker\""));
    assert!(text(&page).contains("<script>"));
    let all = world
        .client
        .get("/", &[BROWSER, "Authorization: Bearer all-token"]);
    assert!(text(&all).contains("data-kind=\"all\""));
    assert_eq!(
        world.client.get("/", &[WORKER]).status,
        200,
        "who takes anything gets it"
    );
    let head = world.client.ask("HEAD", "/", &[BROWSER, WORKER]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    let none = world.client.get("/", &[BROWSER]);
    assert_eq!(none.status, 401);
    assert_eq!(none.header("www-authenticate"), Some("Bearer"));
    assert_guarded(&none);
    let form = text(&none);
    assert!(
        form.contains("action=\"/login\"") && !form.contains("<script"),
        "{form}"
    );
    for accept in ["Accept: application/json", "Accept: */*"] {
        let answer = world.client.get("/", &[accept]);
        assert_eq!(answer.status, 401);
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
    }
    let other = world.client.get("/", &["Accept: application/json", WORKER]);
    assert_eq!(other.status, 404);
    assert_eq!(world.client.ask("PUT", "/", &[BROWSER, WORKER]).status, 405);
}

#[test]
fn a_good_token_becomes_a_cookie_and_a_bad_one_is_explained() {
    let world = World::with_tokens(&tokens());
    let answer = log_in(&world, "token=worker-token");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert_eq!(
        answer.header("set-cookie"),
        Some("__Host-bootlace=worker-token; Path=/; Secure; HttpOnly; SameSite=Strict")
    );
    let rows = [
        ("token=late-token", "has expired"),
        ("token=nobody", "not known"),
        ("token=%3Cb%3E", "not a token"),
        ("token=a%0D%0ASet-Cookie:+x=y", "not a token"),
        ("token=", "not a token"),
        ("", "not a token"),
        ("token=worker-token&token=x", "not a token"),
    ];
    for (form, said) in rows {
        let answer = log_in(&world, form);
        assert_eq!(answer.status, 401, "{form}");
        assert_guarded(&answer);
        assert!(text(&answer).contains(said), "{form}: {}", text(&answer));
        assert_eq!(answer.header("set-cookie"), None);
    }
    let large = format!("token={}", "a".repeat(30_000));
    assert_eq!(log_in(&world, &large).status, 401);
    let foreign = ["Sec-Fetch-Site: cross-site", FORM];
    assert_eq!(
        world
            .client
            .post("/login", &foreign, "token=worker-token")
            .status,
        403
    );
    assert_eq!(world.client.post("/logout", &foreign, "").status, 403);
    let out = world.client.post("/logout", &[BROWSER], "");
    assert_eq!((out.status, out.header("location")), (303, Some("/")));
    let cleared = out.header("set-cookie").unwrap();
    assert!(
        cleared.starts_with("__Host-bootlace=; Max-Age=0; Path=/; Secure;"),
        "{cleared}"
    );
    assert_eq!(world.client.get("/logout", &[]).status, 405);
    assert_eq!(
        world.client.get("/logout", &[]).header("allow"),
        Some("POST")
    );
    assert_eq!(world.client.get("/login", &[]).status, 303);
    let audit = world.audit();
    assert!(
        !audit.contains("-token") && !audit.contains("nobody"),
        "{audit}"
    );
}

#[test]
fn a_cookie_reads_and_does_no_more() {
    let world = World::with_tokens(&tokens());
    let cookie = "Cookie: a=b; __Host-bootlace=worker-token";
    let json = "Accept: application/json";
    assert_eq!(world.client.get("/", &[BROWSER, cookie]).status, 200);
    assert_eq!(world.client.get("/explain/worker", &[cookie]).status, 200);
    assert_eq!(world.client.get("/progress", &[cookie, json]).status, 200);
    assert_eq!(world.client.get("/config/worker", &[cookie]).status, 401);
    assert_eq!(world.client.get("/layered/worker", &[cookie]).status, 401);
    let report = r#"{"node": "n", "phase": "p"}"#;
    assert_eq!(
        world.client.post("/progress", &[cookie], report).status,
        401
    );
    assert_eq!(world.client.get("/explain/luks", &[cookie]).status, 401);
    let two = "Cookie: __Host-bootlace=worker-token; __Host-bootlace=luks-token";
    assert_eq!(world.client.get("/", &[BROWSER, two]).status, 401);
    // The header counts, also if it is worse.
    let nobody = "Authorization: Bearer nobody";
    assert_eq!(
        world
            .client
            .get("/progress", &[cookie, nobody, json])
            .status,
        511
    );
    let late = world
        .client
        .get("/", &[BROWSER, "Cookie: __Host-bootlace=late-token"]);
    assert_eq!(late.status, 401);
    assert!(text(&late).contains("has expired"));
}

#[test]
fn who_guesses_is_held_up_and_whoever_knows_is_not() {
    let world = World::with_tokens(&tokens());
    let mut stream = world.client.connect().unwrap();
    for n in 0..300 {
        let cookie = format!("Cookie: __Host-bootlace=guess-{n}");
        let answer = ask(&mut stream, "GET", "/", &[BROWSER, &cookie]).unwrap();
        assert_eq!(answer.status, 401);
    }
    let answer = log_in(&world, "token=guess");
    assert_eq!(answer.status, 503);
    assert!(answer.header("retry-after").is_some());
    assert!(text(&answer).contains("Too many attempts"));
    assert_eq!(world.client.get("/", &[BROWSER]).status, 503);
    assert_eq!(log_in(&world, "token=worker-token").status, 303);
}

#[test]
fn a_server_for_anybody_has_a_page_for_anybody() {
    let world = World::open();
    let page = world.client.get("/", &[BROWSER]);
    assert_eq!(page.status, 200);
    assert_guarded(&page);
    assert!(text(&page).contains("data-kind=\"open\""));
    assert_eq!(world.client.get("/explain/worker", &[]).status, 200);
    assert_eq!(log_in(&world, "token=x").status, 303);
    // Programs find what OpenShift's server has here: nothing.
    assert_eq!(world.client.get("/", &[]).status, 404);
}
