//! May a node serve what it asks for? Pure.

mod asked;
mod reserved;

use std::net::IpAddr;

use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;

use self::asked::Asked;
pub(super) use self::reserved::Reserved;

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
    for dns in &asked.dns {
        // What a node says of its other names it says of itself, so none of them counts.
        if dns != name {
            return Decision::Refuse(format!("{dns:?} is not the node's name"));
        }
        // Whoever has a bootstrap token chooses the name of a node.
        if let Some(whose) = reserved.owner_of_name(dns) {
            return Decision::Refuse(format!("{dns} is {whose}"));
        }
    }
    for &address in &asked.addresses {
        if let Some(whose) = reserved.owner_of_address(address) {
            return Decision::Refuse(format!("{address} is {whose}"));
        }
        let mut others = nodes.iter().filter(|other| named(other) != name);
        if others.any(|other| has(other, address)) {
            return Decision::Refuse(format!("{address} is another node's"));
        }
    }
    let mut addresses = asked.addresses.iter();
    if let Some(address) = addresses.find(|address| !has(node, **address)) {
        return Decision::Wait(format!("the node does not report the address {address}"));
    }
    Decision::Approve
}

fn named(node: &Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

/// Tells whether a node reports an address as its own, however it is written.
fn has(node: &Node, address: IpAddr) -> bool {
    let status = node.status.as_ref();
    let reported = status.and_then(|status| status.addresses.as_deref());
    let reported = reported.unwrap_or_default().iter();
    let mut reported = reported.filter_map(|one| one.address.parse::<IpAddr>().ok());
    reported.any(|one| one.to_canonical() == address)
}

#[cfg(test)]
mod tests;
