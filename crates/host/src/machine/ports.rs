//! Who listens on a TCP port.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use bootlace_engine::port::HostResult;

use super::kernel;

/// How the kernel writes that a socket listens.
const LISTENS: &str = "0A";

/// How long a connection to this machine itself may take.
const CONNECTS: Duration = Duration::from_secs(1);

/// Tells whether a port accepts connections.
///
/// Asked often by those who wait; the kernel's tables take many times as long to read.
pub(super) fn listens(port: u16) -> bool {
    let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    addresses.into_iter().any(|address: IpAddr| {
        TcpStream::connect_timeout(&SocketAddr::new(address, port), CONNECTS).is_ok()
    })
}

/// Names who listens on a port, on whatever address, if anybody does.
pub(super) fn holder(port: u16) -> HostResult<Option<String>> {
    let mut sockets = BTreeSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        // A kernel without IPv6 has only the first.
        let text = kernel::read_if_there(table)?.unwrap_or_default();
        sockets.extend(listening(&text, port));
    }
    if sockets.is_empty() {
        return Ok(None);
    }
    Ok(Some(owner(&sockets).unwrap_or_else(|| {
        "a process that cannot be seen from here".to_owned()
    })))
}

/// Lists the numbers of the sockets that listen on a port.
fn listening(table: &str, port: u16) -> Vec<u64> {
    let wanted = format!(":{port:04X}");
    let matching = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, socket, ..] = fields.as_slice() else {
            return None;
        };
        (local.ends_with(&wanted) && *state == LISTENS).then(|| socket.parse().ok())?
    });
    matching.collect()
}

/// Finds the process with the lowest number that holds one of these sockets.
fn owner(sockets: &BTreeSet<u64>) -> Option<String> {
    let entries = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut processes: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    processes.sort_unstable();
    let process = processes
        .into_iter()
        .find(|process| holds(*process, sockets))?;
    let name = kernel::read_if_there(&format!("/proc/{process}/comm")).ok()?;
    let name = name.unwrap_or_default();
    Some(format!("pid {process} ({})", name.trim()))
}

/// Tells whether a process holds one of these sockets; one that is gone, or hides, holds none.
fn holds(process: u32, sockets: &BTreeSet<u64>) -> bool {
    let Ok(handles) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    handles.filter_map(Result::ok).any(|handle| {
        let target = std::fs::read_link(handle.path()).unwrap_or_default();
        let number = target.to_str().and_then(|it| it.strip_prefix("socket:["));
        let number = number.and_then(|it| it.strip_suffix(']')?.parse().ok());
        number.is_some_and(|number| sockets.contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_sockets_that_listen_on_the_port_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 00000000:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0\n   \
            1: 0100007F:192B 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 78 1 0\n   \
            2: 00000000000000000000000000000000:192B 0:0 0A 0:0 0:0 0 0 0 79 1 0\n   \
            3: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 80 1 0\n";
        assert_eq!(listening(table, 6443), [77, 79]);
        assert_eq!(listening(table, 8080), [80]);
        assert_eq!(listening(table, 40_000), Vec::<u64>::new());
    }

    #[test]
    fn the_listener_is_named_as_long_as_it_listens() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            let found = holder(port).unwrap().unwrap();
            let own = format!("pid {} (", std::process::id());
            assert!(found.starts_with(&own), "{found}");
            assert!(listens(port));
            drop(listener);
            // A program that another test is just starting has a copy of it for a moment.
            let patience = std::time::Instant::now();
            while holder(port).unwrap().is_some() || listens(port) {
                assert!(patience.elapsed().as_secs() < 20);
            }
        }
    }
}
