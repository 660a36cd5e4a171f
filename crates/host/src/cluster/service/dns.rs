//! One question to a name server, over UDP.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::machine::kernel;

/// Where name servers listen.
pub(super) const PORT: u16 = 53;
/// How often the question is sent before the time is up: packets get lost.
const SENDS: u32 = 2;
/// The largest answer over UDP without extensions.
const MOST_BYTES: usize = 512;
const HEADER: usize = 12;
/// The types of records that hold addresses, and the class of the internet.
const A: u16 = 1;
const AAAA: u16 = 28;
const INTERNET: u16 = 1;

/// Asks a server for the address of a name.
pub(super) fn ask(server: SocketAddr, name: &str, within: Duration) -> Result<String, String> {
    let words = |error: std::io::Error| error.to_string();
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let kind = if server.is_ipv4() { A } else { AAAA };
    let id = u16::try_from(kernel::random() & 0xffff).unwrap_or_default();
    let question = question(id, name, kind);
    let socket = UdpSocket::bind((any, 0)).map_err(words)?;
    socket.connect(server).map_err(words)?;
    socket
        .set_read_timeout(Some(within / SENDS))
        .map_err(words)?;
    let mut answer = [0; MOST_BYTES];
    for _ in 0..SENDS {
        socket.send(&question).map_err(words)?;
        match socket.recv(&mut answer) {
            Ok(length) => {
                let address = address(&answer[..length], id, kind)?;
                return Ok(format!("{name} is {address}"));
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(words(error)),
        }
    }
    Err(format!("no answer within {} s", within.as_secs_f32()))
}

fn question(id: u16, name: &str, kind: u16) -> Vec<u8> {
    // One question; recursion is asked for, as every resolver of a pod does.
    let mut packet = Vec::from(id.to_be_bytes());
    packet.extend([0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.trim_end_matches('.').split('.') {
        let label = &label.as_bytes()[..label.len().min(63)];
        packet.extend(u8::try_from(label.len()));
        packet.extend(label);
    }
    packet.extend([0]);
    packet.extend(kind.to_be_bytes());
    packet.extend(INTERNET.to_be_bytes());
    packet
}

/// Finds the first address of an answer.
fn address(packet: &[u8], id: u16, kind: u16) -> Result<IpAddr, String> {
    let broken = || "the answer cannot be read".to_owned();
    let number = |at: usize| {
        let bytes = packet.get(at..at + 2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let (flags, answers) = (number(2).ok_or_else(broken)?, number(6).ok_or_else(broken)?);
    if number(0) != Some(id) || flags & 0x8000 == 0 {
        return Err("the answer belongs to another question".into());
    }
    match flags & 0xf {
        0 => {}
        2 => return Err("it answers that it failed (SERVFAIL)".into()),
        3 => return Err("it answers that there is no such name (NXDOMAIN)".into()),
        5 => return Err("it refuses to answer (REFUSED)".into()),
        code => return Err(format!("it answers with code {code}")),
    }
    let mut at = after_name(packet, HEADER).ok_or_else(broken)? + 4;
    for _ in 0..answers {
        let fields = after_name(packet, at).ok_or_else(broken)?;
        let length = usize::from(number(fields + 8).ok_or_else(broken)?);
        let data = packet.get(fields + 10..fields + 10 + length);
        let data = data.ok_or_else(broken)?;
        if number(fields) == Some(kind) {
            let v4 = <[u8; 4]>::try_from(data).map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(data).map(IpAddr::from);
            return v4.or_else(|_| v6()).map_err(|_| broken());
        }
        at = fields + 10 + length;
    }
    Err("it knows no address of that name".into())
}

/// Returns where a name ends that begins there.
fn after_name(packet: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *packet.get(at)? {
            0 => return Some(at + 1),
            // The rest of the name stands elsewhere.
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += usize::from(length) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "kubernetes.default.svc.cluster.local";

    /// Answers questions in turn: nothing for none, else a code and records.
    fn server(answers: Vec<Option<(u8, Vec<u8>)>>) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || {
            for answer in answers {
                let mut packet = [0; MOST_BYTES];
                let (length, from) = socket.recv_from(&mut packet).unwrap();
                let Some((code, records)) = answer else {
                    continue;
                };
                let mut packet = packet[..length].to_vec();
                packet[2] |= 0x80;
                packet[3] |= code;
                packet[7] = u8::from(!records.is_empty());
                packet.extend(records);
                socket.send_to(&packet, from).unwrap();
            }
        });
        address
    }

    fn record() -> Vec<u8> {
        vec![0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 96, 0, 1]
    }

    fn asked(answers: Vec<Option<(u8, Vec<u8>)>>) -> Result<String, String> {
        ask(server(answers), NAME, Duration::from_millis(400))
    }

    #[test]
    fn a_name_is_found_also_if_the_first_packet_is_lost() {
        let found = Ok(format!("{NAME} is 10.96.0.1"));
        assert_eq!(asked(vec![Some((0, record()))]), found);
        assert_eq!(asked(vec![None, Some((0, record()))]), found);
    }

    #[test]
    fn what_is_no_address_is_told() {
        let told = |answers| asked(answers).unwrap_err();
        assert!(told(vec![Some((3, vec![]))]).contains("NXDOMAIN"));
        assert!(told(vec![Some((2, vec![]))]).contains("SERVFAIL"));
        assert!(told(vec![Some((0, vec![]))]).contains("no address"));
        assert!(told(vec![Some((0, vec![0xc0]))]).contains("cannot be read"));
        assert!(told(vec![None, None]).contains("no answer within"));
    }
}
