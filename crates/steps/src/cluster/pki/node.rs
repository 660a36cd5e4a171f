//! The name that a node's certificates speak for.

use bootlace_model::config::Settings;
use bootlace_model::fault::{Fault, FaultKind};

/// Returns the node's name as the kubelet would choose it: what is configured, else the machine's.
///
/// The machine's name is not looked at if the config gives one.
pub fn node_name(settings: &Settings, machine: &str) -> Result<String, Fault> {
    let name = match &settings.cluster.control_plane.node_name {
        Some(name) => name.clone(),
        None => machine.trim().to_lowercase(),
    };
    if is_subdomain(&name) {
        return Ok(name);
    }
    let message = format!("{name:?} cannot be a node's name");
    Err(Fault::new(FaultKind::Preflight, message)
        .because("the certificates of this machine must carry the name that its kubelet registers")
        .hint("set spec.controlPlane.nodeName to lower-case letters, digits, `-` and `.`")
        .hint("or give the machine such a name: `hostnamectl hostname NAME`"))
}

/// Tells whether Kubernetes accepts a name for a node: DNS labels, joined by dots.
fn is_subdomain(name: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.iter().all(|&c| inner(c))
            && bytes.first().is_some_and(|&c| c != b'-')
            && bytes.last().is_some_and(|&c| c != b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}
