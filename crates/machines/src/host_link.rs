//! The way from this computer to the machines of one folder: a cable that is plugged into their bridge.
//!
//! Without it, packets to a machine's address would leave by the default route of this computer. Only one
//! folder at a time can have it, because all of them use the same network.

use std::ffi::OsStr;
use std::net::Ipv4Addr;

use crate::Result;
use crate::machines::Machines;
use crate::network::{self, BRIDGE_NAME, PREFIX};
use crate::tools;

/// Plugs the cable in; what is there already stays. Ends as soon as something cannot be done.
///
/// A cable whose other end is in a namespace that is gone from the folder is replaced.
const PLUG: &str = r#"set -e
device=$1 namespace=$2 bridge=$3 address=$4
inside() { nsenter --net="$namespace" "$@"; }
exists() { ip link show dev "$device" >/dev/null 2>&1; }
if exists && ! inside ip link show dev "$device" >/dev/null 2>&1; then
    ip link delete dev "$device"
fi
exists || ip link add dev "$device" type veth peer name "$device" netns "$namespace"
inside ip link set dev "$device" master "$bridge" up
ip address replace "$address" dev "$device"
ip link set dev "$device" up
"#;

/// What came of connecting this computer with its machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostLink {
    /// Machines are reached by their addresses.
    Connected,
    /// This computer has another route to some of these addresses, which stays in force.
    Taken {
        /// The route, as `ip route` shows it.
        route: String,
    },
}

impl Machines {
    /// The address of this computer, as connected machines see it.
    pub const HOST: Ipv4Addr = network::HOST;

    /// Gives this computer a route to its machines, until the folder is cleaned.
    ///
    /// Nothing is done if that would change where packets go that have a route of their own today.
    pub fn connect_host(&self) -> Result<HostLink> {
        let _lock = self.lock()?;
        network::ensure(self.folder())?;
        let device = self.id().device();
        if let Some(route) = other_route(&device)? {
            return Ok(HostLink::Taken { route });
        }
        let namespace = network::namespace(self.folder());
        let address = format!("{}/{PREFIX}", network::HOST);
        let words = ["-c", PLUG, "sh", &device].map(OsStr::new).into_iter();
        let words: Vec<&OsStr> = words
            .chain([namespace.as_os_str()])
            .chain([BRIDGE_NAME, &address].map(OsStr::new))
            .collect();
        tools::run("sh", &words)?;
        Ok(HostLink::Connected)
    }

    /// Takes the cable away, and the route with it.
    pub(crate) fn disconnect_host(&self) -> Result<()> {
        tools::run("sh", &["-c", network::DROP, "sh", &self.id().device()])
    }
}

/// Finds a route to addresses of machines that is neither ours nor the default route.
fn other_route(device: &str) -> Result<Option<String>> {
    let network = format!("{}/{PREFIX}", network::NETWORK);
    for choice in ["root", "match"] {
        let words = [
            "-4", "route", "show", "table", "main", "to", choice, &network,
        ];
        let listed = tools::read("ip", &words)?;
        if let Some(route) = first_other(&listed, device) {
            return Ok(Some(route));
        }
    }
    Ok(None)
}

/// Finds the first route in what `ip route` prints that another one put there.
fn first_other(listed: &str, device: &str) -> Option<String> {
    let is_other = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_ours = words.windows(2).any(|pair| pair == ["dev", device]);
        let is_default = words.iter().take(2).any(|word| *word == "default");
        !words.is_empty() && !is_ours && !is_default
    };
    let mut lines = listed.lines().map(str::trim);
    lines.find(is_other).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_counts_unless_it_is_ours_or_the_default() {
        let listed = "default via 192.0.2.1 dev eth0 \n\
                      unreachable default metric 4278198272 \n\
                      10.90.0.0/24 dev bl-1 proto kernel scope link src 10.90.0.254 \n";
        assert_eq!(first_other(listed, "bl-1"), None);
        assert_eq!(first_other("", "bl-1"), None);
        let other = first_other(listed, "bl-2").unwrap();
        assert!(other.starts_with("10.90.0.0/24 dev bl-1 "), "{other}");
        let vpn = "10.0.0.0/8 via 192.0.2.9 dev tun0\n";
        assert_eq!(first_other(vpn, "bl-1").as_deref(), Some(vpn.trim()));
    }
}
