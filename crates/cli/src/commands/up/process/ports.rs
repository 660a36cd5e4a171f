//! Ports that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

use bootlace_model::fault::{Fault, FaultKind};

/// Where ports are taken from: below those that the kernel gives to clients, which come and go.
const RANGE: std::ops::Range<u16> = 16_000..32_000;

/// Finds free ports, each another one.
///
/// They are looked for from a place that differs from call to call, so that two who look at the same
/// time do not find the same.
pub(super) fn free<const COUNT: usize>() -> Result<[u16; COUNT], Fault> {
    let begin = RANGE.start + some_number() % (RANGE.end - RANGE.start);
    let ports = (begin..RANGE.end).chain(RANGE.start..begin);
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
    // They are held until all are found.
    let held: Vec<TcpListener> = ports.filter_map(listen).take(COUNT).collect();
    let found = held.iter().filter_map(|held| held.local_addr().ok());
    let found: Vec<u16> = found.map(|address| address.port()).collect();
    found.try_into().map_err(|_| {
        let message = format!("{COUNT} free ports are needed, and there are not so many");
        Fault::new(FaultKind::Preflight, message).hint("`ss -ltn` shows who listens where")
    })
}

/// Returns the port that the kernel would give now: it gives another one each time.
fn some_number() -> u16 {
    let given = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let given = given.and_then(|listener| listener.local_addr());
    given.map_or(0, |address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_different_and_can_be_listened_on() {
        let mut ports: [u16; 6] = free().unwrap();
        let listening: Vec<_> = ports
            .map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap())
            .into();
        assert_eq!(listening.len(), 6);
        let again: [u16; 6] = free().unwrap();
        assert!(again.iter().all(|port| !ports.contains(port)));
        ports.sort_unstable();
        assert!(ports.windows(2).all(|two| two[0] < two[1]));
        assert!(ports.iter().all(|port| RANGE.contains(port)));
    }
}
