#![expect(
    clippy::disallowed_methods,
    reason = "the test runs `ip` in a network of its own"
)]

use std::process::Command;

use proptest::prelude::*;

use super::*;

fn route(network: &str, length: u8, gateway: &str) -> Route {
    Route {
        network: network.parse().unwrap(),
        length,
        gateway: gateway.parse().unwrap(),
    }
}

#[test]
fn what_is_asked_of_the_kernel_can_be_read_back() {
    for route in [
        route("10.244.1.0", 24, "10.0.0.1"),
        route("fd00:1::", 64, "fe80::1"),
    ] {
        let request = request(&Change::Set(route.clone()));
        let messages = messages(&request);
        let [(RTM_NEWROUTE, body)] = messages[..] else {
            panic!("{messages:?}");
        };
        assert_eq!(read_route(body), Some(route));
    }
}

#[test]
fn routes_of_others_are_not_ours() {
    let request = request(&Change::Set(route("10.244.1.0", 24, "10.0.0.1")));
    let mut body = messages(&request)[0].1.to_vec();
    body[5] = 4;
    assert_eq!(read_route(&body), None);
}

#[test]
fn refusals_are_errors() {
    assert!(acknowledged(&0_i32.to_ne_bytes()).is_ok());
    let refused = acknowledged(&(-1_i32).to_ne_bytes()).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    assert!(acknowledged(&[]).is_err());
}

proptest! {
    #[test]
    fn no_answer_stops_the_reader(answer in prop::collection::vec(any::<u8>(), 0..200)) {
        for (_, body) in messages(&answer) {
            prop_assert!(read_route(body).is_none() || body.len() > ROUTE_HEADER);
            drop(acknowledged(body));
        }
    }
}

/// Runs `ip`, which must succeed, and returns what it says.
fn ip(words: &str) -> String {
    let output = Command::new("ip").args(words.split(' ')).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "slow: needs root, for a network namespace of its own"]
fn the_kernel_routes_as_it_is_told() {
    const INSIDE: &str = "BOOTLACE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_none() {
        let name = "node_network::netlink::tests::the_kernel_routes_as_it_is_told";
        let status = Command::new("unshare")
            .arg("--net")
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name])
            .env(INSIDE, "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    ip("link add lane type veth peer name side");
    ip("link set side up");
    ip("address add 10.0.0.1/24 dev lane");
    ip("link set lane up");
    ip("route add 10.9.0.0/16 via 10.0.0.9");
    let mut kernel = Routes::open().unwrap();
    assert_eq!(kernel.ours().unwrap(), []);

    let first = route("10.244.1.0", 24, "10.0.0.2");
    let moved = route("10.244.1.0", 24, "10.0.0.3");
    kernel.perform(&Change::Set(first.clone())).unwrap();
    kernel.perform(&Change::Set(first.clone())).unwrap();
    assert_eq!(kernel.ours().unwrap(), [first]);
    assert_eq!(
        ip("route show proto 98").trim(),
        "10.244.1.0/24 via 10.0.0.2 dev lane"
    );
    kernel.perform(&Change::Set(moved.clone())).unwrap();
    assert_eq!(
        ip("route show proto 98").trim(),
        "10.244.1.0/24 via 10.0.0.3 dev lane"
    );
    kernel.perform(&Change::Remove(moved)).unwrap();
    assert_eq!(ip("route show proto 98").trim(), "");
    assert!(
        ip("route show").contains("10.9.0.0/16"),
        "others' routes stay"
    );

    let nowhere = Change::Set(route("10.244.5.0", 24, "192.168.77.1"));
    assert!(
        kernel.perform(&nowhere).is_err(),
        "a gateway that is not reached"
    );
}
