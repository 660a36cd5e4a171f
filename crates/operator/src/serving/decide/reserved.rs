//! Names and addresses that belong to no node.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use bootlace_model::config::Cidr;

/// The API server's names inside the cluster that do not end with `.svc`.
const API_NAMES: [&str; 2] = ["kubernetes", "kubernetes.default"];

/// What the cluster uses for itself, so that no node may serve it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::serving) struct Reserved {
    /// The networks of pods and Services.
    networks: Vec<Cidr>,
    /// Where clients reach the API server.
    server: Server,
    /// The domain of the names of Services, in lower case.
    domain: String,
}

/// The host of the API server's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Server {
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

impl Reserved {
    /// Reads the values of the cluster, each of which must be there and valid.
    pub(in crate::serving) fn of(values: &BTreeMap<String, String>) -> Result<Self, String> {
        let value = |key: &str| {
            let value = values.get(key).map(String::as_str);
            value.ok_or_else(|| format!("{key} is missing"))
        };
        let mut networks = Vec::new();
        for key in ["podCIDR", "serviceCIDR"] {
            for network in value(key)?.split(',') {
                networks.push(network_of(network).map_err(|why| format!("{key}: {why}"))?);
            }
        }
        let server = server(value("server")?);
        let server = server.ok_or("server is not a URL such as https://10.0.0.1:6443")?;
        let domain = value("clusterDomain")?.to_ascii_lowercase();
        if !is_name(&domain) {
            return Err("clusterDomain is not a domain such as cluster.local".into());
        }
        Ok(Self {
            networks,
            server,
            domain,
        })
    }

    /// Says whose an address is that no node may serve.
    pub(super) fn owner_of_address(&self, address: IpAddr) -> Option<&'static str> {
        let is_local = match address {
            IpAddr::V4(four) => four.is_link_local() || four.is_broadcast(),
            IpAddr::V6(six) => six.is_unicast_link_local(),
        };
        let is_special =
            address.is_loopback() || address.is_unspecified() || address.is_multicast();
        if is_special || is_local {
            return Some("every machine's");
        }
        let mut networks = self.networks.iter();
        if networks.any(|network| network.contains(address)) {
            return Some("of a pod or a Service");
        }
        (self.server == Server::Address(address)).then_some("the API server's")
    }

    /// Says whose a DNS name is that no node may serve, even if the node has this name.
    pub(super) fn owner_of_name(&self, name: &str) -> Option<&'static str> {
        let name = name.to_ascii_lowercase();
        let name = name.trim_end_matches('.');
        if name.parse::<IpAddr>().is_ok() {
            return Some("an address, not a name");
        }
        let is_local = name == "localhost" || name.starts_with("localhost.");
        if is_local || name.ends_with(".localhost") {
            return Some("every machine's");
        }
        let is_server = matches!(&self.server, Server::Name(server) if server == name);
        if is_server || API_NAMES.contains(&name) {
            return Some("the API server's");
        }
        let is_below = |domain: &str| {
            let above = name.strip_suffix(domain);
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        };
        (is_below(&self.domain) || is_below("svc")).then_some("a Service's")
    }
}

fn network_of(text: &str) -> Result<Cidr, String> {
    let network: Cidr = text.parse().map_err(|error| format!("{error}"))?;
    // Addresses are compared in their shortest form, which such a network would never match.
    if network.address().to_canonical() != network.address() {
        return Err(format!("{text:?} is an IPv4 network in the form of IPv6"));
    }
    Ok(network)
}

fn server(url: &str) -> Option<Server> {
    let place = url.strip_prefix("https://")?;
    let bare = place.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let bare = bare.unwrap_or(place).parse::<IpAddr>().ok();
    let address = place.parse::<SocketAddr>().map(|it| it.ip()).ok().or(bare);
    if let Some(address) = address {
        return Some(Server::Address(address.to_canonical()));
    }
    let (host, port) = place.rsplit_once(':').unwrap_or((place, "443"));
    port.parse::<u16>().ok()?;
    is_name(host).then(|| Server::Name(host.to_ascii_lowercase()))
}

fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_inner);
    text.split('.').all(is_label)
}
