//! A server that does not start, and says why.

use insta::assert_snapshot;

use crate::program::Place;

const FILES: &str = "--listen 127.0.0.1:0 --cert tls.crt --key tls.key";

#[test]
fn nobody_is_served_by_accident() {
    let place = Place::new();
    let said = place.call_bare(&format!("serve --pools pools {FILES}"));
    assert_snapshot!(said);
}

#[test]
fn what_cannot_be_served_from_is_named() {
    let place = Place::new();
    let call = |more: &str| place.call_bare(&format!("serve --pools pools {FILES} {more}"));
    let no_pools = call("--insecure-no-auth");
    place.write("pools/machine-pools/worker.yaml", "");
    let no_certificate = call("--insecure-no-auth");
    let both = call("--insecure-no-auth --tokens t");
    assert_snapshot!(format!("{no_pools}\n{no_certificate}\n{both}"));
}

#[test]
fn wrong_tokens_are_told_with_what_to_write() {
    let place = Place::with_config();
    let made = place.call("assets create -q");
    assert!(made.starts_with("code: 0\n"), "{made}");
    place.write("pools/machine-pools/worker.yaml", "");
    let hash = "7c43ef5a".repeat(8);
    let rest = "expires: 2030-01-31T00:00:00Z";
    let files = [
        format!("tokens:\n- sha256: {hash}\n  {rest}\n"),
        format!("tokens:\n- sha256: {hash}\n  pool: *\n  {rest}\n"),
        format!("tokens:\n- pool: worker\n  {rest}\n"),
        format!("tokens:\n- sha256: {hash}\n  pool: worker\n"),
    ];
    let tls = "opt/bootlace/tls/machine-config-server";
    let flags = format!("--listen 127.0.0.1:0 --cert {tls}.crt --key {tls}.key");
    let said = files.map(|file| {
        place.write("tokens.yaml", &file);
        place.call_bare(&format!("serve --pools pools {flags} --tokens tokens.yaml"))
    });
    assert_snapshot!(said.join("\n"));
}

#[test]
fn a_duration_that_is_none_is_told_with_what_to_write() {
    let place = Place::new();
    let call =
        |after: &str| place.call_bare(&format!("serve --pools p {FILES} --stalled-after {after}"));
    assert_snapshot!(format!("{}\n{}", call("5x"), call("0")));
    // Everything that is read is the next thing that is missing.
    assert!(call("5s").contains("neither --tokens nor --insecure-no-auth"));
}
