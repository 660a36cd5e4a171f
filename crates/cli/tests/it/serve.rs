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
