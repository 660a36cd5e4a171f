//! The kernel's routes, over a netlink socket: the image needs no `ip` for it.

mod wire;

use std::io;
use std::net::IpAddr;

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with, sockopt,
};

use self::wire::{
    AF_INET, AF_INET6, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, acknowledged,
    address, attribute, attributes, family, message, messages, number, octets,
};
use super::routes::{Change, Network, Route, Way};

/// By this number the kernel tells our routes from those of others (`ip route show proto 98`).
const PROTOCOL: u8 = 98;
/// The table that packets are routed by.
const MAIN_TABLE: u8 = 254;

// From linux/rtnetlink.h and linux/if_addr.h.
const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_GETROUTE: u16 = 26;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PREFSRC: u16 = 7;
const RTN_UNICAST: u8 = 1;
const RT_SCOPE_LINK: u8 = 253;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// The length of the header of a route.
const ROUTE_HEADER: usize = 12;
/// The length of the header of an address.
const ADDRESS_HEADER: usize = 8;

/// What the main table holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// The routes that we made, also before a restart.
    pub(super) ours: Vec<Route>,
    /// The networks to which routes of others lead.
    pub(super) others: Vec<Network>,
}

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
        // The kernel answers at once; a timeout keeps a bug from blocking us.
        let timeout = std::time::Duration::from_secs(2);
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(timeout))?;
        Ok(Self(socket))
    }

    /// Reads the main table.
    pub(super) fn table(&mut self) -> io::Result<Table> {
        let mut table = Table::default();
        self.dump(RTM_GETROUTE, ROUTE_HEADER, |kind, body| {
            if kind != RTM_NEWROUTE {
                return;
            }
            match read_route(body) {
                Some(Found::Ours(route)) => table.ours.push(route),
                Some(Found::Other(network)) => table.others.push(network),
                None => {}
            }
        })?;
        table.ours.sort();
        Ok(table)
    }

    /// Returns the number of the device that has an address.
    pub(super) fn device_of(&mut self, wanted: IpAddr) -> io::Result<Option<u32>> {
        let mut device = None;
        self.dump(RTM_GETADDR, ADDRESS_HEADER, |kind, body| {
            if kind == RTM_NEWADDR && read_address(body) == Some(wanted) {
                device = number(body, 4);
            }
        })?;
        Ok(device)
    }

    /// Tells whether a packet to an address would leave this machine by any route of any table.
    pub(super) fn leads_to(&mut self, address: IpAddr) -> io::Result<bool> {
        let length = if address.is_ipv4() { 32 } else { 128 };
        let mut body = vec![0; ROUTE_HEADER];
        body[0] = family(address);
        body[1] = length;
        attribute(&mut body, RTA_DST, &octets(address));
        self.send(&message(RTM_GETROUTE, NLM_F_REQUEST, &body))?;
        loop {
            let answer = self.receive()?;
            for (kind, body) in messages(&answer) {
                match kind {
                    RTM_NEWROUTE => return Ok(true),
                    NLMSG_ERROR => {
                        return match acknowledged(body) {
                            Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => {
                                Ok(false)
                            }
                            // A route says that packets are not to go there, which is an answer too.
                            Err(_) => Ok(true),
                            Ok(()) => Err(io::Error::other("the kernel named no route")),
                        };
                    }
                    _ => {}
                }
            }
        }
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

    /// Asks for all entries of both families.
    fn dump(
        &mut self,
        question: u16,
        header: usize,
        mut each: impl FnMut(u16, &[u8]),
    ) -> io::Result<()> {
        for family in [AF_INET, AF_INET6] {
            let mut body = vec![0; header];
            body[0] = family;
            self.send(&message(question, NLM_F_REQUEST | NLM_F_DUMP, &body))?;
            'dump: loop {
                let answer = self.receive()?;
                for (kind, body) in messages(&answer) {
                    match kind {
                        NLMSG_DONE => break 'dump,
                        NLMSG_ERROR => {
                            acknowledged(body)?;
                            break 'dump;
                        }
                        kind => each(kind, body),
                    }
                }
            }
        }
        Ok(())
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
        Change::Add(route) => (RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route),
        Change::Set(route) => (RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route),
        Change::Remove(route) => (RTM_DELROUTE, 0, route),
    };
    let Network { address, length } = route.to;
    // Routes of version 6 have no scope.
    let scope = match route.way {
        Way::Link { .. } if address.is_ipv4() => RT_SCOPE_LINK,
        _ => 0,
    };
    let header = [
        family(address),
        length,
        0,
        0,
        MAIN_TABLE,
        PROTOCOL,
        scope,
        RTN_UNICAST,
    ];
    let mut body: Vec<u8> = header.into_iter().chain([0; 4]).collect();
    attribute(&mut body, RTA_DST, &octets(address));
    match route.way {
        Way::Gateway(gateway) => attribute(&mut body, RTA_GATEWAY, &octets(gateway)),
        Way::Link { device, source } => {
            attribute(&mut body, RTA_OIF, &device.to_ne_bytes());
            attribute(&mut body, RTA_PREFSRC, &octets(source));
        }
    }
    message(kind, NLM_F_REQUEST | NLM_F_ACK | flags, &body)
}

/// A route of the main table.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Ours(Route),
    Other(Network),
}

/// Reads a route, if it is one of the main table that packets can take.
fn read_route(body: &[u8]) -> Option<Found> {
    let &[family, length, _, _, table, protocol, _, kind, ..] = body else {
        return None;
    };
    if (table, kind) != (MAIN_TABLE, RTN_UNICAST) {
        return None;
    }
    // The default route names no network.
    let mut to = address(family, &[0; 4]).or_else(|| address(family, &[0; 16]))?;
    let (mut gateway, mut device, mut source) = (None, None, None);
    for (kind, value) in attributes(body.get(ROUTE_HEADER..)?) {
        match kind {
            RTA_DST => to = address(family, value)?,
            RTA_GATEWAY => gateway = address(family, value),
            RTA_OIF => device = number(value, 0),
            RTA_PREFSRC => source = address(family, value),
            _ => {}
        }
    }
    let to = Network {
        address: to,
        length,
    };
    if protocol != PROTOCOL {
        return Some(Found::Other(to));
    }
    let link = device.zip(source);
    let link = link.map(|(device, source)| Way::Link { device, source });
    let way = gateway.map(Way::Gateway).or(link)?;
    Some(Found::Ours(Route { to, way }))
}

/// Reads the address of a device.
fn read_address(body: &[u8]) -> Option<IpAddr> {
    let family = *body.first()?;
    let values = attributes(body.get(ADDRESS_HEADER..)?);
    let named = |wanted| values.iter().find(|(kind, _)| *kind == wanted);
    // On a line between two machines the other attribute names the peer.
    let (_, own) = named(IFA_LOCAL).or_else(|| named(IFA_ADDRESS))?;
    address(family, own)
}

#[cfg(test)]
mod tests;
