//! The kernel's routes, over a netlink socket: the image needs no `ip` for it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with, sockopt,
};

use super::routes::{Change, Route};

/// By this number the kernel tells our routes from those of others (`ip route show proto 98`).
const PROTOCOL: u8 = 98;
/// The table that packets are routed by.
const MAIN_TABLE: u8 = 254;

// From linux/netlink.h and linux/rtnetlink.h.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_GETROUTE: u16 = 26;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_DUMP: u16 = 0x300;
const RTA_DST: u16 = 1;
const RTA_GATEWAY: u16 = 5;
const RTN_UNICAST: u8 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// The length of the header that every message begins with.
const HEADER: usize = 16;
/// The length of the header of a route.
const ROUTE_HEADER: usize = 12;

/// A connection to the kernel.
pub(super) struct Routes(OwnedFd);

impl Routes {
    /// Opens the connection.
    pub(super) fn open() -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        // The kernel answers at once; should it ever not, nobody waits for ever.
        let patience = std::time::Duration::from_secs(2);
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(patience))?;
        Ok(Self(socket))
    }

    /// Returns the routes that we made, also before a restart.
    pub(super) fn ours(&mut self) -> io::Result<Vec<Route>> {
        let mut routes = vec![];
        for family in [AF_INET, AF_INET6] {
            let mut body = [0; ROUTE_HEADER];
            body[0] = family;
            self.send(&message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, &body))?;
            'dump: loop {
                let answer = self.receive()?;
                for (kind, body) in messages(&answer) {
                    match kind {
                        NLMSG_DONE => break 'dump,
                        NLMSG_ERROR => {
                            acknowledged(body)?;
                            break 'dump;
                        }
                        RTM_NEWROUTE => routes.extend(read_route(body)),
                        _ => {}
                    }
                }
            }
        }
        routes.sort();
        Ok(routes)
    }

    /// Changes a route.
    pub(super) fn perform(&mut self, change: &Change) -> io::Result<()> {
        self.send(&request(change))?;
        loop {
            let answer = self.receive()?;
            for (kind, body) in messages(&answer) {
                if kind == NLMSG_ERROR {
                    return acknowledged(body);
                }
            }
        }
    }

    fn send(&self, message: &[u8]) -> io::Result<()> {
        send(&self.0, message, SendFlags::empty())?;
        Ok(())
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut answer = vec![0; 64 << 10];
        let (length, _) = recv(&self.0, &mut answer[..], RecvFlags::empty())?;
        answer.truncate(length);
        Ok(answer)
    }
}

fn request(change: &Change) -> Vec<u8> {
    let (kind, flags, route) = match change {
        Change::Set(route) => (RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route),
        Change::Remove(route) => (RTM_DELROUTE, 0, route),
    };
    let family = if route.network.is_ipv4() {
        AF_INET
    } else {
        AF_INET6
    };
    let header = [
        family,
        route.length,
        0,
        0,
        MAIN_TABLE,
        PROTOCOL,
        0,
        RTN_UNICAST,
    ];
    let mut body: Vec<u8> = header.into_iter().chain([0; 4]).collect();
    attribute(&mut body, RTA_DST, &octets(route.network));
    attribute(&mut body, RTA_GATEWAY, &octets(route.gateway));
    message(kind, NLM_F_REQUEST | NLM_F_ACK | flags, &body)
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Takes an answer apart into the kind and the body of each message.
fn messages(mut answer: &[u8]) -> Vec<(u16, &[u8])> {
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

/// Reads a route, if it is one of ours.
fn read_route(body: &[u8]) -> Option<Route> {
    let &[family, length, _, _, table, protocol, ..] = body else {
        return None;
    };
    if (table, protocol) != (MAIN_TABLE, PROTOCOL) {
        return None;
    }
    let (mut network, mut gateway) = (None, None);
    let mut attributes = body.get(ROUTE_HEADER..)?;
    while let Some((size, kind)) = short(attributes, 0).zip(short(attributes, 2)) {
        let size = usize::from(size);
        let Some(value) = attributes.get(4..size) else {
            break;
        };
        match kind {
            RTA_DST => network = address(family, value),
            RTA_GATEWAY => gateway = address(family, value),
            _ => {}
        }
        attributes = attributes
            .get(size.next_multiple_of(4)..)
            .unwrap_or_default();
    }
    Some(Route {
        network: network?,
        length,
        gateway: gateway?,
    })
}

fn address(family: u8, value: &[u8]) -> Option<IpAddr> {
    match family {
        AF_INET => Some(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).into()),
        AF_INET6 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).into()),
        _ => None,
    }
}

/// Reads whether the kernel did what it was asked.
fn acknowledged(body: &[u8]) -> io::Result<()> {
    match number(body, 0).map(u32::cast_signed) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests;
