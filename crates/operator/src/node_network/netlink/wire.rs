//! How messages to and from the kernel are laid out.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

// From linux/netlink.h and linux/socket.h.
pub(super) const NLMSG_ERROR: u16 = 2;
pub(super) const NLMSG_DONE: u16 = 3;
pub(super) const NLM_F_REQUEST: u16 = 0x1;
pub(super) const NLM_F_ACK: u16 = 0x4;
pub(super) const NLM_F_DUMP: u16 = 0x300;
pub(super) const AF_INET: u8 = 2;
pub(super) const AF_INET6: u8 = 10;
/// The length of the header that every message begins with.
const HEADER: usize = 16;

/// Returns the family of an address.
pub(super) fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

/// Returns an address as the kernel writes it.
pub(super) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Reads an address.
pub(super) fn address(family: u8, value: &[u8]) -> Option<IpAddr> {
    match family {
        AF_INET => Some(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).into()),
        AF_INET6 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).into()),
        _ => None,
    }
}

/// Puts a header before a body.
pub(super) fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Adds an attribute to a body.
pub(super) fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Takes an answer apart into the kind and the body of each message.
pub(super) fn messages(mut answer: &[u8]) -> Vec<(u16, &[u8])> {
    let mut messages = vec![];
    while let Some((length, kind)) = number(answer, 0).zip(short(answer, 4)) {
        let length = length as usize;
        let Some(body) = answer.get(HEADER..length) else {
            break;
        };
        messages.push((kind, body));
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    messages
}

/// Takes attributes apart into the kind and the value of each.
pub(super) fn attributes(mut rest: &[u8]) -> Vec<(u16, &[u8])> {
    let mut attributes = vec![];
    while let Some((size, kind)) = short(rest, 0).zip(short(rest, 2)) {
        let size = usize::from(size);
        let Some(value) = rest.get(4..size) else {
            break;
        };
        attributes.push((kind, value));
        rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
    }
    attributes
}

/// Reads whether the kernel did what it was asked.
pub(super) fn acknowledged(body: &[u8]) -> io::Result<()> {
    match number(body, 0).map(u32::cast_signed) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

/// Reads a number of four bytes.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}
