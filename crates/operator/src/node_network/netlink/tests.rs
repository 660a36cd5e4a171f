#![expect(
    clippy::disallowed_methods,
    reason = "the test runs `ip` in a network of its own"
)]

use std::process::Command;

use proptest::prelude::*;

use super::super::services::{Decision, decide};
use super::*;

fn route(network: &str, gateway: &str) -> Route {
    Route {
        to: network.parse().unwrap(),
        way: Way::Gateway(gateway.parse().unwrap()),
    }
}

fn on_link(network: &str, device: u32, source: &str) -> Route {
    Route {
        to: network.parse().unwrap(),
        way: Way::Link {
            device,
            source: source.parse().unwrap(),
        },
    }
}

#[test]
fn what_is_asked_of_the_kernel_can_be_read_back() {
    for route in [
        route("10.244.1.0/24", "10.0.0.1"),
        route("fd00:1::/64", "fe80::1"),
        on_link("10.96.0.0/12", 7, "10.0.0.1"),
        on_link("fd00:2::/108", 7, "fd00::1"),
    ] {
        let request = request(&Change::Set(route.clone()));
        let messages = messages(&request);
        let [(RTM_NEWROUTE, body)] = messages[..] else {
            panic!("{messages:?}");
        };
        assert_eq!(read_route(body), Some(Found::Ours(route)));
    }
}

#[test]
fn routes_of_others_are_not_ours() {
    let request = request(&Change::Set(route("10.244.1.0/24", "10.0.0.1")));
    let mut body = messages(&request)[0].1.to_vec();
    body[5] = 4;
    let network = "10.244.1.0/24".parse().unwrap();
    assert_eq!(read_route(&body), Some(Found::Other(network)));
    // One that refuses packets leads nowhere, and one of another table is not asked first.
    let (mut refusing, mut elsewhere) = (body.clone(), body);
    refusing[7] = 7;
    elsewhere[4] = 100;
    assert_eq!(read_route(&refusing), None);
    assert_eq!(read_route(&elsewhere), None);
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
            let _ = read_address(body);
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

/// Runs a test again in a network of its own, with a device `lane`; true if this is that run.
fn is_inside(test: &str) -> bool {
    const INSIDE: &str = "BOOTLACE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        ip("link add lane type veth peer name side");
        ip("link set side up");
        ip("address add 10.0.0.1/24 dev lane");
        ip("address add fd00::1/64 dev lane nodad");
        ip("link set lane up");
        return true;
    }
    let name = format!("node_network::netlink::tests::{test}");
    let status = Command::new("unshare")
        .arg("--net")
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &name])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success());
    false
}

#[test]
#[ignore = "slow: needs root, for a network namespace of its own"]
fn the_kernel_routes_as_it_is_told() {
    if !is_inside("the_kernel_routes_as_it_is_told") {
        return;
    }
    ip("route add 10.9.0.0/16 via 10.0.0.9");
    let mut kernel = Routes::open().unwrap();
    let ours = || Routes::open().unwrap().table().unwrap().ours;
    assert_eq!(ours(), []);

    let first = route("10.244.1.0/24", "10.0.0.2");
    let moved = route("10.244.1.0/24", "10.0.0.3");
    kernel.perform(&Change::Set(first.clone())).unwrap();
    kernel.perform(&Change::Set(first.clone())).unwrap();
    assert_eq!(ours(), [first]);
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

    let nowhere = Change::Set(route("10.244.5.0/24", "192.168.77.1"));
    assert!(
        kernel.perform(&nowhere).is_err(),
        "a gateway that is not reached"
    );
}

/// Does what is missing for both service networks, and returns what was decided.
fn serve() -> Vec<Decision> {
    let mut kernel = Routes::open().unwrap();
    let node = ["10.0.0.1", "fd00::1"].map(|address| address.parse().unwrap());
    let networks = ["10.96.0.0/12", "fd00:2::/108"];
    let networks = networks.map(|network| network.parse().unwrap());
    networks
        .iter()
        .map(|network| {
            let decision = decide(&mut kernel, network, &node).unwrap();
            for change in decision.changes() {
                kernel.perform(change).unwrap();
            }
            decision
        })
        .collect()
}

#[test]
#[ignore = "slow: needs root, for a network namespace of its own"]
fn services_get_a_route_where_none_covers_them() {
    if !is_inside("services_get_a_route_where_none_covers_them") {
        return;
    }
    let ours = || ip("route show proto 98") + &ip("-6 route show proto 98");
    serve();
    let both = ours();
    assert!(
        both.contains("10.96.0.0/12 dev lane scope link src 10.0.0.1"),
        "{both}"
    );
    assert!(both.contains("fd00:2::/108 dev lane src fd00::1"), "{both}");
    assert!(ip("route get 10.96.0.1").contains("dev lane src 10.0.0.1"));
    assert!(ip("-6 route get fd00:2::1").contains("dev lane"));
    serve();
    assert_eq!(ours(), both, "a second look changes nothing");

    // A route of the user's that covers them takes over, and ours comes back when it goes.
    ip("route add default via 10.0.0.9");
    ip("-6 route add default via fd00::9");
    serve();
    assert_eq!(ours(), "");
    serve();
    assert_eq!(ours(), "", "nothing is put beside a default route");
    ip("route delete default");
    ip("-6 route delete default");
    serve();
    assert_eq!(ours(), both);

    // A more specific route of the user's stays in force, and one with the same network too.
    ip("route add 10.100.0.0/16 via 10.0.0.8");
    serve();
    assert!(ip("route get 10.100.0.1").contains("via 10.0.0.8"));
    ip("route flush proto 98");
    ip("route add 10.96.0.0/12 via 10.0.0.7");
    serve();
    assert!(ip("route show 10.96.0.0/12").contains("via 10.0.0.7"));
    ip("route delete 10.96.0.0/12");

    // Somebody who refuses packets there means it; routes of other tables count as well.
    ip("route add blackhole 10.0.0.0/8");
    assert!(matches!(serve()[0], Decision::Covered(_)));
    ip("route delete blackhole 10.0.0.0/8");
    ip("route add default via 10.0.0.9 table 100");
    ip("rule add from all lookup 100");
    assert!(matches!(serve()[0], Decision::Covered(_)));
    ip("rule delete from all lookup 100");

    // The address moves to another device.
    serve();
    ip("address delete 10.0.0.1/24 dev lane");
    ip("address add 10.0.0.1/24 dev side");
    serve();
    assert!(ip("route show proto 98").contains("10.96.0.0/12 dev side"));
    ip("address delete 10.0.0.1/24 dev side");
    assert!(matches!(serve()[0], Decision::NoDevice));
}
