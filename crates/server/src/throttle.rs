//! How often a source may fail to show a valid token; whoever shows one is never held up.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// How many failures are answered one by one, in a minute and by source.
const MOST: u32 = 300;
/// How long failures count, in seconds.
const WINDOW: i64 = 60;
/// How many sources are remembered; when there are more, all are forgotten, which lets nobody in.
const MOST_SOURCES: usize = 10_000;

/// Counts failures by source.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<BTreeMap<IpAddr, (i64, u32)>>);

impl Throttle {
    /// Counts a failure; returns after how many seconds the source may try again if it failed too often.
    pub(crate) fn failed(&self, source: IpAddr, now: Timestamp) -> Option<u32> {
        let now = now.as_second();
        let mut sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sources.len() >= MOST_SOURCES {
            sources.clear();
        }
        let (begin, count) = sources.entry(network(source)).or_insert((now, 0));
        if !(0..WINDOW).contains(&(now - *begin)) {
            (*begin, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        let rest = WINDOW - (now - *begin);
        (*count > MOST).then(|| u32::try_from(rest).unwrap_or(1))
    }
}

/// Returns what stands for a source: all addresses that one machine may choose from.
pub(crate) fn network(source: IpAddr) -> IpAddr {
    match source {
        IpAddr::V4(_) => source,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.into(),
            None => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_fails_too_often_is_held_up_for_a_while() {
        let throttle = Throttle::default();
        let now = |second: i64| Timestamp::from_second(1_000 + second).unwrap();
        let fails = |source: &str, second| throttle.failed(source.parse().unwrap(), now(second));
        for _ in 0..MOST {
            assert_eq!(fails("fd00::1", 5), None);
        }
        assert_eq!(fails("fd00::2", 15), Some(50), "it is the same network");
        assert_eq!(fails("fd00:0:0:1::2", 15), None);
        assert_eq!(fails("10.0.0.1", 15), None);
        assert_eq!(fails("fd00::1", 65), None, "the window is over");
        for n in 0..20_000_u32 {
            throttle.failed(std::net::Ipv4Addr::from_bits(n).into(), now(70));
        }
        assert!(throttle.0.lock().unwrap().len() <= MOST_SOURCES);
    }
}
