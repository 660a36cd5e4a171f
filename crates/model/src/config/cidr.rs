//! Networks in the notation `ADDRESS/PREFIX`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::Serialize;

/// A network, such as `10.96.0.0/12`; the host bits are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

/// Says why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a network: {reason}")]
pub struct BadCidr {
    text: String,
    reason: String,
}

impl BadCidr {
    /// Returns what is wrong with the text.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }
}

impl Cidr {
    /// Makes an IPv4 network; bits behind the prefix are cleared, a prefix over 32 counts as 32.
    pub(super) const fn v4(address: [u8; 4], prefix: u8) -> Self {
        let prefix = if prefix > 32 { 32 } else { prefix };
        let mask = if prefix == 0 {
            0
        } else {
            u32::MAX << (32 - prefix)
        };
        let address = u32::from_be_bytes(address) & mask;
        let [a, b, c, d] = address.to_be_bytes();
        Self {
            address: IpAddr::V4(std::net::Ipv4Addr::new(a, b, c, d)),
            prefix,
        }
    }

    /// Returns the address of the network.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns how many bits are fixed.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Tells whether it is an IPv4 network.
    pub const fn is_ipv4(&self) -> bool {
        self.address.is_ipv4()
    }

    /// Returns the network of the given number of fixed bits around an address, which may have
    /// bits behind the prefix; none if the text is not even that.
    pub(super) fn around(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let prefix: u8 = prefix.parse().ok()?;
        let address = match address.parse().ok()? {
            IpAddr::V4(a) if prefix <= 32 => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V4((u32::from(a) & mask).into())
            }
            IpAddr::V6(a) if prefix <= 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V6((u128::from(a) & mask).into())
            }
            _ => return None,
        };
        Some(Self { address, prefix })
    }

    /// Tells whether the network has this address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        self.overlaps(&Self { address, prefix })
    }

    /// Returns the n-th address of the network, if it has that many.
    pub fn nth(&self, n: u32) -> Option<IpAddr> {
        match self.address {
            IpAddr::V4(base) => {
                let size = 1_u64 << (32 - u32::from(self.prefix));
                let address = u32::from(base).checked_add(n)?;
                (u64::from(n) < size).then(|| IpAddr::V4(address.into()))
            }
            IpAddr::V6(base) => {
                let bits = 128 - u32::from(self.prefix);
                let fits = bits >= 32 || u64::from(n) < 1 << bits;
                let address = u128::from(base).checked_add(u128::from(n))?;
                fits.then(|| IpAddr::V6(address.into()))
            }
        }
    }

    /// Tells whether the two networks share an address.
    pub fn overlaps(&self, other: &Self) -> bool {
        let shorter = self.prefix.min(other.prefix);
        match (self.address, other.address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(shorter)).unwrap_or(0);
                u32::from(a) & mask == u32::from(b) & mask
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(shorter)).unwrap_or(0);
                u128::from(a) & mask == u128::from(b) & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = BadCidr;

    fn from_str(text: &str) -> Result<Self, BadCidr> {
        let bad = |reason: &str| BadCidr {
            text: text.into(),
            reason: reason.into(),
        };
        let (address, prefix) = text.split_once('/').ok_or_else(|| bad("there is no /"))?;
        let address: IpAddr = address.parse().map_err(|_| bad("the address is not one"))?;
        let prefix: u8 = prefix
            .parse()
            .map_err(|_| bad("the prefix is not a number"))?;
        match Self::around(text) {
            None => Err(bad("the prefix is too long")),
            Some(around) if around.address != address => {
                Err(bad("the address has bits behind the prefix"))
            }
            Some(_) => Ok(Self { address, prefix }),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl fmt::Debug for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Cidr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_strictly() {
        let net: Cidr = "10.96.0.0/12".parse().unwrap();
        assert_eq!(net.nth(1), Some(IpAddr::from([10, 96, 0, 1])));
        assert_eq!("10.0.0.0/31".parse::<Cidr>().unwrap().nth(2), None);
        assert!(net.overlaps(&"10.100.0.0/16".parse().unwrap()));
        assert!(!net.overlaps(&"10.244.0.0/16".parse().unwrap()));
        assert!(!net.overlaps(&"fd00::/64".parse().unwrap()));
        assert!(net.contains(IpAddr::from([10, 111, 255, 255])));
        assert!(!net.contains(IpAddr::from([10, 112, 0, 0])));
        for bad in [
            "10.0.0.0",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "x/8",
            "fd00::1/64",
            "10.0.0.0/-1",
        ] {
            assert!(bad.parse::<Cidr>().is_err(), "{bad}");
        }
    }
}
