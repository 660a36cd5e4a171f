//! How many connections one source may have, so that there is always room for others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::throttle::network;

/// Counts connections by source.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    counts: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
    most: usize,
}

/// A connection that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Shares,
    source: IpAddr,
}

impl Shares {
    /// Allows each source so many.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            counts: Arc::default(),
            most,
        }
    }

    /// Counts a connection; none if the source has enough.
    pub(crate) fn take(&self, source: IpAddr) -> Option<Share> {
        self.take_below(source, self.most)
    }

    /// Counts a connection of a source that has fewer than this; none if it has enough.
    pub(crate) fn take_below(&self, source: IpAddr, most: usize) -> Option<Share> {
        let source = network(source);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(&source).copied().unwrap_or(0);
        if count >= self.most.min(most) {
            return None;
        }
        counts.insert(source, count + 1);
        Some(Share {
            shares: self.clone(),
            source,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let counts = self.shares.counts.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_others() {
        let shares = Shares::new(2);
        let source = |text: &str| text.parse().unwrap();
        let one = shares.take(source("10.0.0.1"));
        let two = shares.take(source("::ffff:10.0.0.1"));
        assert!(one.is_some() && two.is_some());
        assert!(shares.take(source("10.0.0.1")).is_none());
        assert!(shares.take(source("10.0.0.2")).is_some());
        drop(two);
        assert!(shares.take(source("10.0.0.1")).is_some());
        drop(one);
        assert!(shares.counts.lock().unwrap().is_empty());
    }
}
