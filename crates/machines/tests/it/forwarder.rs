//! A port of the host that leads to a machine.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;

use bootlace_machines::Machines;

use crate::rig::{Rig, SOON, shell};

/// Tells the test below that it is the forwarder: folder, target.
const VARIABLE: &str = "BOOTLACE_TEST_FORWARDER";

/// Sends text through a forwarder and returns what comes back.
fn echo(address: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_forwarder_outlives_its_caller_and_ends_with_the_machines() {
    let rig = Rig::new();
    let machine = rig.boot("m1", 11);
    let target: SocketAddr = "10.90.0.11:6443".parse().unwrap();
    shell(
        &machine,
        "systemd-run --unit=echo socat TCP-LISTEN:6443,fork,reuseaddr EXEC:cat && \
         until ss -Hltn 'sport = :6443' | grep -q .; do sleep 0.05; done",
    );

    let variable = format!("{VARIABLE}={} {target}", rig.machines.folder().display());
    let program = std::env::current_exe().unwrap();
    let program = program.to_string_lossy();
    let arguments = [
        &variable,
        &*program,
        "--ignored",
        "--exact",
        "forwarder::helper_forwards",
    ];
    let spawn = || {
        rig.machines
            .spawn_forwarder(Path::new("/usr/bin/env"), &arguments, target, SOON)
    };
    let forwarder = spawn().unwrap();
    assert!(forwarder.address().ip().is_loopback());
    assert_eq!(spawn().unwrap(), forwarder, "one is enough");

    let long = "x".repeat(1 << 20);
    assert_eq!(echo(forwarder.address(), &long), long);
    let address = forwarder.address();
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || assert_eq!(echo(address, &number.to_string()), number.to_string()));
        }
    });
    rig.machines.clean().unwrap();
    assert!(!forwarder.is_running());
    assert!(TcpStream::connect(forwarder.address()).is_err());
}

#[test]
#[ignore = "helper: another test starts it, as the forwarder"]
fn helper_forwards() {
    let value = std::env::var(VARIABLE).unwrap();
    let (folder, target) = value.rsplit_once(' ').unwrap();
    let machines = Machines::open(Path::new(folder)).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    machines
        .run_forwarder(listen, target.parse().unwrap(), |_| {})
        .unwrap();
}
