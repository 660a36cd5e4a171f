//! What a caller may see.
//!
//! The name of a config, its etag and its size follow from all of it. A caller who knows the config but
//! for a short secret could try secrets until they fit, so only those get them who may have the config.

use crate::name::Name;
use crate::site::Site;
use crate::tokens::Bearer;

/// What a caller may see; a stranger sees nothing of machines and pools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Whether the server asks for no tokens.
    is_open: bool,
    /// Whether the caller sees all pools and machines, and no config.
    sees_all: bool,
    /// The pools whose configs the caller may have.
    pools: Vec<Name>,
}

impl Sight {
    /// Returns what the bearer of a valid token may see, or any caller if the server asks for none.
    pub(crate) fn of(site: &Site, bearer: &Bearer) -> Self {
        Self::new(bearer, site.gate.tokens().is_none())
    }

    pub(crate) fn new(bearer: &Bearer, is_open: bool) -> Self {
        Self {
            is_open,
            sees_all: bearer.sees_all,
            pools: bearer.pools.clone(),
        }
    }

    /// Tells whether the caller is a stranger.
    pub(crate) fn is_strangers(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether the caller sees a pool and its machines.
    pub(crate) fn sees(&self, pool: &str) -> bool {
        self.sees_all || self.may_have(pool)
    }

    /// Tells whether the caller may have the config of a pool.
    pub(crate) fn may_have(&self, pool: &str) -> bool {
        self.is_open || self.pools.iter().any(|name| name.as_str() == pool)
    }
}
