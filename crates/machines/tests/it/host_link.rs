//! This computer reaches its machines by their addresses, and nothing leaves by its default route.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use bootlace_machines::HostLink;

use crate::rig::{Rig, SOON, shell};

/// Set where a test runs in a network of its own, which stands for that of this computer.
const INSIDE: &str = "BOOTLACE_TEST_INSIDE";

/// Runs `ip`, which must succeed, and returns what it says.
fn ip(words: &str) -> String {
    let output = Command::new("ip").args(words.split(' ')).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "slow: boots machines; needs root and `lab prepare`"]
fn this_computer_reaches_its_machines_until_they_are_cleaned() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "host_link::this_computer_reaches_its_machines_until_they_are_cleaned";
        let status = Command::new("unshare")
            .arg("--net")
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name, "--nocapture"])
            .env(INSIDE, "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    ip("link set lo up");
    ip("link add out type veth peer name far");
    ip("link set far up");
    ip("address add 192.0.2.1/24 dev out");
    ip("link set out up");
    ip("route add default via 192.0.2.254 dev out");
    let before = ip("route show") + &ip("-brief link");

    let (rig, other) = (Rig::new(), Rig::new());
    let machine = rig.boot("m1", 11);
    shell(
        &machine,
        "systemd-run --unit=tell socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:hostname && \
         until ss -Hltn 'sport = :7000' | grep -q .; do sleep 0.05; done",
    );
    assert!(
        ip("route get 10.90.0.11").contains("dev out"),
        "it would leave"
    );
    for _ in 0..2 {
        assert_eq!(rig.machines.connect_host().unwrap(), HostLink::Connected);
    }
    assert!(ip("route get 10.90.0.11").contains(" dev bl-"));
    assert!(ip("route get 10.90.0.99").contains(" dev bl-"));
    let address: SocketAddr = "10.90.0.11:7000".parse().unwrap();
    let mut stream = TcpStream::connect_timeout(&address, SOON).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "m1\n");

    // The machine gets no way to anywhere else by it.
    assert_eq!(shell(&machine, "ip route show default"), "");

    let taken = other.machines.connect_host().unwrap();
    let HostLink::Taken { route } = &taken else {
        panic!("{taken:?}");
    };
    assert!(route.starts_with("10.90.0.0/24 dev bl-"), "{route}");
    other.machines.clean().unwrap();
    assert!(
        ip("route get 10.90.0.11").contains(" dev bl-"),
        "it is the first one's"
    );

    rig.machines.clean().unwrap();
    assert_eq!(ip("route show") + &ip("-brief link"), before);
    ip("route add 10.90.0.128/25 via 192.0.2.9");
    let third = Rig::new();
    let taken = third.machines.connect_host().unwrap();
    let route = "10.90.0.128/25 via 192.0.2.9 dev out".to_owned();
    assert_eq!(taken, HostLink::Taken { route });
}
