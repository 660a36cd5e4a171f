//! Tokens: made once, kept as long as they are of use, and never shown.

#![expect(
    clippy::unwrap_used,
    clippy::redundant_closure_for_method_calls,
    reason = "a test may fail loudly, and the engine's lifetime is that of the call"
)]

use std::time::Duration;

use bootlace_engine::Engine;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::node::Attributes;
use bootlace_model::step::Choice;
use bootlace_testkit::env::{self, Unseen};
use bootlace_testkit::fake::FakeHost;

const TOKEN: &str = "/opt/bootlace/auth/worker.token";
const LIST: &str = "/opt/bootlace/auth/tokens.yaml";
const POINTER: &str = "/opt/bootlace/pointer/worker.ign";

/// Calls the engine about the step that makes tokens.
fn about_tokens<T>(
    host: &FakeHost,
    replan: bool,
    call: impl FnOnce(&Engine<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let settings = env::settings();
    let mut options = env::options(7);
    options.replan = replan;
    options.choice = Choice {
        to: Some("prepare-assets".into()),
        ..Choice::default()
    };
    call(&Engine {
        host,
        sequence: bootlace_steps::sequence("cluster").unwrap(),
        settings: &settings,
        observer: &Unseen,
        options: &options,
    })
}

fn run(host: &FakeHost, replan: bool) -> Result<(), Fault> {
    about_tokens(host, replan, |engine| engine.run()).map(drop)
}

fn holds(host: &FakeHost) -> bool {
    about_tokens(host, false, |engine| engine.verify())
        .unwrap()
        .ok
}

fn text(host: &FakeHost, path: &str) -> String {
    let content = host.set_up(|world| world.read(path)).unwrap();
    String::from_utf8(content.unwrap()).unwrap()
}

/// Checks that the list and the pointer config belong to the token, and returns it.
fn token(host: &FakeHost) -> String {
    let token = text(host, TOKEN);
    let list = text(host, LIST);
    let hash = Digest::of(token.as_bytes()).hex();
    assert!(list.contains(&format!("- sha256: {hash}\n  pool: worker\n")));
    assert!(!list.contains(&token));
    assert!(text(host, POINTER).contains(&format!("\"Bearer {token}\"")));
    token
}

#[test]
fn a_token_is_made_again_only_once_it_has_expired() {
    let host = FakeHost::new(1);
    env::plain_world(&host).unwrap();
    run(&host, false).unwrap();
    let first = token(&host);
    run(&host, true).unwrap();
    assert_eq!(token(&host), first);
    let pass = |hours| {
        let passed = host.set_up(|world| {
            world.pass_time(Duration::from_hours(hours));
            Ok(())
        });
        passed.unwrap();
    };
    pass(23);
    run(&host, true).unwrap();
    assert_eq!(token(&host), first);
    pass(2);
    // Whoever needs no pointer config is not told that something drifted.
    assert!(holds(&host));
    run(&host, true).unwrap();
    assert_ne!(token(&host), first);
    assert!(holds(&host));
}

#[test]
fn what_does_not_belong_together_is_found() {
    for (path, content) in [
        (LIST, "tokens: []\n"),
        (POINTER, "{}"),
        (TOKEN, "20300101T000000Z.00"),
    ] {
        let host = FakeHost::new(2);
        env::plain_world(&host).unwrap();
        run(&host, false).unwrap();
        assert!(holds(&host));
        let changed = host.set_up(|world| {
            world.write(path, content.as_bytes())?;
            world.set_attributes(path, &Attributes::mode(0o600))
        });
        changed.unwrap();
        assert!(!holds(&host), "{path}");
    }
}

#[test]
fn a_token_that_somebody_brought_is_kept_or_refused_and_not_shown() {
    let bits = "5a".repeat(32);
    let far = format!("20990101T000000Z.{bits}");
    let past = format!("19700101T000000Z.{bits}");
    for (content, mode, is_fine) in [
        (&far, 0o600, true),
        (&far, 0o644, false),
        (&past, 0o600, false),
        (&bits, 0o600, false),
    ] {
        let host = FakeHost::new(3);
        env::plain_world(&host).unwrap();
        let brought = host.set_up(|world| {
            world.write_durably(TOKEN, content.as_bytes())?;
            world.set_attributes(TOKEN, &Attributes::mode(mode))
        });
        brought.unwrap();
        match run(&host, false) {
            Ok(()) => {
                assert!(is_fine, "{mode:o}");
                assert_eq!(token(&host), *content);
            }
            Err(fault) => {
                assert!(!is_fine && fault.kind == FaultKind::BadInput, "{fault}");
                assert!(!format!("{fault:?}").contains(&bits), "{fault}");
                assert_eq!(text(&host, TOKEN), *content);
            }
        }
    }
}
