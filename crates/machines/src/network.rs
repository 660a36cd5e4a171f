//! The network of a folder's machines: one namespace with a bridge.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::mounts;
use crate::tools;
use crate::{MachineError, Result};

/// The address of the bridge.
pub(crate) const BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 1);

/// The address of this computer, when it is connected with its machines.
pub(crate) const HOST: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 254);

/// The first address of the network.
pub(crate) const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 0);

/// How many bits of an address name the network.
pub(crate) const PREFIX: u32 = 24;

/// The name of the bridge, in its own namespace.
pub(crate) const BRIDGE_NAME: &str = "br0";

/// Makes the bridge; what is there already stays. Ends as soon as something cannot be done.
const SET_UP: &str = r#"set -e
ip link set lo up
ip link show "$1" >/dev/null 2>&1 || ip link add "$1" type bridge
ip address replace "$2" dev "$1"
ip link set "$1" up
"#;

/// Removes an interface that is there.
///
/// The kernel may remove it by itself at the same moment, which is as good.
pub(crate) const DROP: &str = r#"
gone() { ! ip link show dev "$1" >/dev/null 2>&1; }
gone "$1" || ip link delete dev "$1" || gone "$1"
"#;

/// Returns the file at which the namespace of a folder is mounted.
pub(crate) fn namespace(folder: &Path) -> PathBuf {
    folder.join("network")
}

/// Makes the namespace and its bridge, unless they are there.
pub(crate) fn ensure(folder: &Path) -> Result<()> {
    let file = namespace(folder);
    let mut enter = OsString::from("--net=");
    enter.push(&file);
    let maker = if mounts::is_mounted(&file)? {
        "nsenter"
    } else {
        make_empty(&file)?;
        "unshare"
    };
    let address = format!("{BRIDGE}/{PREFIX}");
    let arguments = ["sh", "-c", SET_UP, "sh", BRIDGE_NAME, &address];
    let arguments = arguments.map(OsString::from);
    let arguments: Vec<_> = [enter].into_iter().chain(arguments).collect();
    tools::run(maker, &arguments)
}

/// Removes what a machine that was killed left of its interface, if it left anything.
///
/// The kernel does it by itself only when nothing holds the machine's namespace any more, and connections
/// that were cut in the middle hold it for minutes.
pub(crate) fn drop_interface(folder: &Path, container: &str) -> Result<()> {
    let mut enter = OsString::from("--net=");
    enter.push(namespace(folder));
    // A name that is too long for an interface is its other name.
    let interface = format!("vb-{container}");
    let arguments = ["sh", "-c", DROP, "sh", &interface].map(OsString::from);
    let arguments: Vec<_> = [enter].into_iter().chain(arguments).collect();
    tools::run("nsenter", &arguments)
}

fn make_empty(file: &Path) -> Result<()> {
    match fs::File::create_new(file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(MachineError::file("make", file)(error))
        }
        _ => Ok(()),
    }
}

/// Tells whether a machine can have an address.
pub(crate) fn has_room_for(address: Ipv4Addr) -> bool {
    let network = |address: Ipv4Addr| u32::from(address) >> (32 - PREFIX);
    let last = address.octets()[3];
    let is_taken = [BRIDGE, HOST].contains(&address);
    network(address) == network(NETWORK) && !is_taken && last != 0 && last != 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_bridge_s_network() {
        assert!(has_room_for(Ipv4Addr::new(10, 90, 0, 11)));
        for other in [
            [10, 90, 0, 1],
            [10, 90, 0, 254],
            [10, 90, 1, 11],
            [10, 90, 0, 0],
            [10, 90, 0, 255],
            [8, 8, 8, 8],
        ] {
            assert!(!has_room_for(Ipv4Addr::from(other)), "{other:?}");
        }
    }
}
