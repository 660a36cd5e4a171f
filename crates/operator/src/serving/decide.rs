//! May a node serve what it asks for? Pure.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bootlace_model::config::Cidr;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer as _;

const SIGNER: &str = "kubernetes.io/kubelet-serving";
const USER: &str = "system:node:";
const GROUP: &str = "system:nodes";

/// What a serving certificate may be used for, and what it must be used for.
const USAGES: [&str; 3] = ["digital signature", "key encipherment", "server auth"];
const SERVES: &str = "server auth";

/// What is to be done about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It asks for what is its node's own.
    Approve,
    /// It cannot be said yet, for this reason.
    Wait(String),
    /// It is not for us to approve, for this reason.
    Refuse(String),
}

/// Tells whether a request is for a kubelet's serving certificate, and not decided yet.
pub(super) fn is_pending(request: &CertificateSigningRequest) -> bool {
    let status = request.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_deref());
    let decided = conditions.unwrap_or_default().iter();
    let mut decided = decided.filter(|it| it.type_ == "Approved" || it.type_ == "Denied");
    let is_signed = status.is_some_and(|status| status.certificate.is_some());
    request.spec.signer_name == SIGNER && decided.next().is_none() && !is_signed
}

/// Decides about a request for a kubelet's serving certificate.
pub(super) fn decide(
    request: &CertificateSigningRequest,
    nodes: &[Node],
    reserved: &Reserved,
) -> Decision {
    let spec = &request.spec;
    let user = spec.username.as_deref().unwrap_or_default();
    let Some(name) = user.strip_prefix(USER).filter(|name| !name.is_empty()) else {
        return Decision::Refuse("its author is no node".into());
    };
    let groups = spec.groups.as_deref().unwrap_or_default();
    if !groups.iter().any(|group| group == GROUP) {
        return Decision::Refuse(format!("its author is not in the group {GROUP}"));
    }
    let usages = spec.usages.as_deref().unwrap_or_default();
    let strange = usages.iter().find(|it| !USAGES.contains(&it.as_str()));
    if let Some(strange) = strange {
        return Decision::Refuse(format!("it is also for {strange}"));
    }
    if !usages.iter().any(|usage| usage == SERVES) {
        return Decision::Refuse(format!("it is not for {SERVES}"));
    }
    let asked = match Asked::read(&spec.request.0) {
        Ok(asked) => asked,
        Err(why) => return Decision::Refuse(why),
    };
    if asked.common_names != [user] || asked.organizations != [GROUP] {
        return Decision::Refuse(format!("its subject is not {user} of {GROUP}"));
    }
    let Some(node) = nodes.iter().find(|node| named(node) == name) else {
        return Decision::Wait(format!("there is no node {name} yet"));
    };
    owns_all(&asked, node, nodes, reserved)
}

/// Decides by names and addresses: a node that could serve for others would get what is meant for them.
fn owns_all(asked: &Asked, node: &Node, nodes: &[Node], reserved: &Reserved) -> Decision {
    if asked.dns.is_empty() && asked.addresses.is_empty() {
        return Decision::Refuse("it names nothing to serve".into());
    }
    let name = named(node);
    // What a node says of its other names it says of itself, so none of them counts.
    if let Some(dns) = asked.dns.iter().find(|dns| *dns != name) {
        return Decision::Refuse(format!("{dns} is not the node's name"));
    }
    let mut others = nodes.iter().filter(|other| named(other) != name);
    for address in &asked.addresses {
        if let Some(whose) = reserved.holds(*address) {
            return Decision::Refuse(format!("{address} is {whose}"));
        }
        if others.any(|other| addresses(other).any(|it| it == *address)) {
            return Decision::Refuse(format!("{address} is another node's"));
        }
        if !addresses(node).any(|it| it == *address) {
            return Decision::Wait(format!("the node does not say that {address} is its own"));
        }
    }
    Decision::Approve
}

fn named(node: &Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

/// Lists the addresses that a node says are its own, each in its only spelling.
fn addresses(node: &Node) -> impl Iterator<Item = IpAddr> {
    let status = node.status.as_ref();
    let told = status.and_then(|status| status.addresses.as_deref());
    let told = told.unwrap_or_default().iter();
    let told = told.filter_map(|told| told.address.parse::<IpAddr>().ok());
    told.map(|address| address.to_canonical())
}

/// Addresses that are no node's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reserved {
    /// The networks of pods and services.
    pub(super) networks: Vec<Cidr>,
    /// Where the API server is reached, if that is an address.
    pub(super) server: Option<IpAddr>,
}

impl Reserved {
    /// Takes them from what the cluster says of itself.
    pub(super) fn of(values: &BTreeMap<String, String>) -> Self {
        let networks = ["podCIDR", "serviceCIDR"].into_iter();
        let networks = networks.filter_map(|key| values.get(key)?.parse().ok());
        let server = values.get("server").and_then(|url| {
            let host = url.strip_prefix("https://")?.rsplit_once(':')?.0;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Some(host.parse::<IpAddr>().ok()?.to_canonical())
        });
        Self {
            networks: networks.collect(),
            server,
        }
    }

    /// Says whose an address is that no node may serve.
    fn holds(&self, address: IpAddr) -> Option<&'static str> {
        let special = address.is_loopback() || address.is_unspecified() || address.is_multicast();
        if special {
            return Some("every machine's");
        }
        if self
            .networks
            .iter()
            .any(|network| network.contains(address))
        {
            return Some("of a pod or a service");
        }
        (self.server == Some(address)).then_some("the API server's")
    }
}

/// What a request asks for.
#[derive(Debug, Default)]
struct Asked {
    common_names: Vec<String>,
    organizations: Vec<String>,
    dns: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Asked {
    fn read(pem: &[u8]) -> Result<Self, String> {
        let (_, pem) = x509_parser::pem::parse_x509_pem(pem)
            .map_err(|error| format!("it is not in PEM: {error}"))?;
        let (rest, request) = X509CertificationRequest::from_der(&pem.contents)
            .map_err(|error| format!("it cannot be read: {error}"))?;
        if !rest.is_empty() || pem.label != "CERTIFICATE REQUEST" {
            return Err("it is not one request for a certificate".into());
        }
        request
            .verify_signature()
            .map_err(|_| "its author does not have its key".to_owned())?;
        let subject = &request.certification_request_info.subject;
        let text = |value: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            value.as_str().map(ToOwned::to_owned).unwrap_or_default()
        };
        let mut asked = Self {
            common_names: subject.iter_common_name().map(text).collect(),
            organizations: subject.iter_organization().map(text).collect(),
            ..Self::default()
        };
        if subject.iter_attributes().count() != 2 {
            return Err("its subject has more than a name and a group".into());
        }
        for extension in request.requested_extensions().into_iter().flatten() {
            match extension {
                ParsedExtension::SubjectAlternativeName(names) => {
                    for name in &names.general_names {
                        asked.take(name)?;
                    }
                }
                // The usages of the object are what the signer goes by.
                ParsedExtension::KeyUsage(_) | ParsedExtension::ExtendedKeyUsage(_) => {}
                _ => return Err("it asks for more than names and usages".into()),
            }
        }
        Ok(asked)
    }

    fn take(&mut self, name: &GeneralName<'_>) -> Result<(), String> {
        match name {
            GeneralName::DNSName(dns) => self.dns.push((*dns).to_owned()),
            GeneralName::IPAddress(bytes) => {
                let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                let sixteen = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
                let address = four.or(sixteen);
                let address = address.map_err(|_| "it names no address".to_owned())?;
                self.addresses.push(address.to_canonical());
            }
            other => return Err(format!("it names {other}")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
