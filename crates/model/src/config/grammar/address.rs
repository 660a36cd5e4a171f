//! Addresses, endpoints and networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Problem, name};
use crate::config::cidr::BadCidr;
use crate::config::{Cidr, Endpoint};

const WHY_ENDPOINT: &str = "every kubeconfig and the API server's certificate carry it";
const WHY_ADDRESS: &str = "other machines and pods are told to connect to it";
const WHY_NETWORK: &str = "the API server and the controllers refuse to start without it";

/// Reads `HOST:PORT`; the host is a DNS name, an IPv4 address, or an IPv6 address in brackets.
pub(in crate::config) fn endpoint(text: &str) -> Result<Endpoint, Problem> {
    if let Some((_, rest)) = text.split_once("://") {
        let hint = format!("leave the scheme out: {}", rest.trim_end_matches('/'));
        return Err(no_endpoint("it has a scheme", hint));
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        let what = "an IPv6 address stands without brackets and port";
        return Err(no_endpoint(what, format!("write [{text}]:6443")));
    }
    let Some((host, port)) = text
        .rsplit_once(':')
        .filter(|(_, port)| !port.ends_with(']'))
    else {
        return Err(no_endpoint("it has no port", format!("write {text}:6443")));
    };
    let port = match port.parse::<u16>() {
        Ok(port) if port > 0 => port,
        _ => {
            let hint = format!("write a port from 1 to 65535, such as {host}:6443");
            return Err(no_endpoint("its port is not one", hint));
        }
    };
    let host = endpoint_host(host, port)?;
    if host
        .parse()
        .is_ok_and(|address: IpAddr| address.is_unspecified())
    {
        let hint = format!("write the address or name that clients use, such as localhost:{port}");
        return Err(no_endpoint(
            "nobody can connect to the unspecified address",
            hint,
        ));
    }
    Ok(Endpoint { host, port })
}

/// Reads the host of an endpoint; an IPv6 address comes out without its brackets.
fn endpoint_host(host: &str, port: u16) -> Result<String, Problem> {
    if let Some(inner) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        let hint = || format!("write an IPv6 address such as [2001:db8::1]:{port}");
        let bad = |_| no_endpoint("what stands in brackets is not an IPv6 address", hint());
        return Ok(inner.parse::<Ipv6Addr>().map_err(bad)?.to_string());
    }
    if host.contains(':') {
        let hint = format!("write [{host}]:{port} if it is an IPv6 address");
        return Err(no_endpoint("it has more than one colon", hint));
    }
    if let Ok(v4) = host.parse::<Ipv4Addr>() {
        return Ok(v4.to_string());
    }
    name::subdomain(host).map_err(|problem| {
        let tidy = name::tidy(host);
        let hint = if tidy != host && name::subdomain(&tidy).is_ok() {
            format!("did you mean {tidy}:{port}?")
        } else {
            problem.hint
        };
        no_endpoint(&format!("its host {}", problem.what), hint)
    })
}

fn no_endpoint(reason: &str, hint: String) -> Problem {
    Problem::new(format!("is not an endpoint: {reason}"), WHY_ENDPOINT, hint)
}

/// Reads an address of this machine.
pub(in crate::config) fn address(text: &str) -> Result<IpAddr, Problem> {
    let hint = "write an address of this machine, such as 192.0.2.10 or 2001:db8::1";
    let address: IpAddr = text
        .parse()
        .map_err(|_| Problem::new("is not an IP address", WHY_ADDRESS, hint))?;
    if address.is_unspecified() || address.is_multicast() {
        let what = "is an address that nobody can connect to";
        return Err(Problem::new(what, WHY_ADDRESS, hint));
    }
    Ok(address)
}

/// Reads a DNS name or an address, for certificates.
pub(in crate::config) fn name_or_address(text: &str) -> Result<String, Problem> {
    match text.parse::<IpAddr>() {
        Ok(address) => Ok(address.to_string()),
        Err(_) => name::certificate_name(text),
    }
}

/// Reads a network that machines can really use.
pub(in crate::config) fn network(text: &str) -> Result<Cidr, Problem> {
    let cidr: Cidr = text.parse().map_err(|bad: BadCidr| {
        let what = format!("is not a network: {}", bad.reason());
        let hint = match Cidr::around(text) {
            Some(around) => format!("did you mean {around}?"),
            None => "write an address, a slash and the number of fixed bits: 10.244.0.0/16".into(),
        };
        Problem::new(what, WHY_NETWORK, hint)
    })?;
    match RESERVED
        .iter()
        .find(|(reserved, _)| overlaps(&cidr, reserved))
    {
        None => Ok(cidr),
        Some((reserved, purpose)) => {
            let what = format!("cannot be used: {reserved} is {purpose}");
            let hint = "take a private network, such as 10.244.0.0/16 or fd00:244::/56";
            Err(Problem::new(what, WHY_NETWORK, hint))
        }
    }
}

/// Networks whose meaning is fixed on every machine.
const RESERVED: [(&str, &str); 5] = [
    ("127.0.0.0/8", "the machine itself"),
    ("224.0.0.0/4", "for multicast"),
    ("::1/128", "the machine itself"),
    ("fe80::/10", "for one link only"),
    ("ff00::/8", "for multicast"),
];

fn overlaps(cidr: &Cidr, reserved: &str) -> bool {
    reserved
        .parse()
        .is_ok_and(|reserved| cidr.overlaps(&reserved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_and_printed_alike() {
        for good in [
            "localhost:6443",
            "api.demo.example:443",
            "192.0.2.1:6443",
            "[2001:db8::1]:6443",
        ] {
            assert_eq!(endpoint(good).map(|e| e.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "localhost",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "a b:1",
            "2001:db8::1",
            "[2001:db8::1]",
            "[x]:1",
            "2001:db8::1:x:6443",
            "https://a:1",
            "0.0.0.0:6443",
            "[::]:1",
            ":6443",
            "1.2.3.400:1",
        ] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
        assert_eq!(
            endpoint("https://a.b:1/").unwrap_err().hint,
            "leave the scheme out: a.b:1"
        );
    }

    #[test]
    fn networks_that_mean_something_else_are_refused() {
        assert!(network("10.0.0.0/8").is_ok() && network("fd00::/56").is_ok());
        for bad in [
            "0.0.0.0/0",
            "127.1.0.0/16",
            "230.0.0.0/8",
            "::/0",
            "fe80::/64",
        ] {
            assert!(network(bad).is_err(), "{bad}");
        }
        assert_eq!(
            network("10.244.1.7/16").unwrap_err().hint,
            "did you mean 10.244.0.0/16?"
        );
    }

    #[test]
    fn reserved_networks_are_networks() {
        for (text, _) in RESERVED {
            assert!(text.parse::<Cidr>().is_ok(), "{text}");
        }
    }
}
