//! How much of the server one source may take, and how long a pool may be missing.

use std::time::Duration;

/// Connections that there may be at most, whatever the machine allows.
const MOST_CONNECTIONS: usize = 10_000;
/// How long the file of a pool may be missing while it is being replaced.
const RETURNS_WITHIN: Duration = Duration::from_millis(500);

/// How much of the server one source may take, and how long a pool may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections in total; more wait until one ends.
    pub connections: usize,
    /// Connections of one source; many machines may share an address.
    pub of_one_source: usize,
    /// Connections of one source over which no valid request has come yet.
    pub of_strangers: usize,
    /// Connections that are left to sources with few of them.
    pub reserve: usize,
    /// How many connections are few.
    pub few: usize,
    /// How long a pool that was served may be missing before it is unknown.
    pub pool_returns_within: Duration,
}

impl Limits {
    /// Shares out a number of connections.
    pub fn of(connections: usize) -> Self {
        Self {
            connections,
            of_one_source: (connections / 2).max(1),
            of_strangers: (connections / 5).max(1),
            reserve: connections / 4,
            few: (connections / 100).max(1),
            pool_returns_within: RETURNS_WITHIN,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(MOST_CONNECTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sources_never_take_all_connections() {
        for connections in [50, 768, MOST_CONNECTIONS] {
            let limits = Limits::of(connections);
            assert!(limits.of_one_source * 2 <= connections);
            assert!(limits.of_strangers <= limits.of_one_source);
            // What is outside of the reserve may be taken, and then a few connections each.
            let two = connections - limits.reserve + 2 * limits.few;
            assert!(two < connections, "{limits:?}");
        }
        let smallest = Limits::of(1);
        assert!(smallest.of_one_source == 1 && smallest.of_strangers == 1 && smallest.few == 1);
    }
}
