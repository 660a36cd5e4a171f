//! Random Ignition configs by seed, roots to apply them to, and real Ignition to compare with.
//!
//! | module | what it is for |
//! |---|---|
//! | [`draft`] | JSON that may be wrong: keys keep their order, may be there twice, and anything may stand in it |
//! | [`config`] | valid configs of every version, and large ones to be measured |
//! | [`spoil`] | configs that are nearly valid |
//! | [`coverage`] | what is in a row of configs, counted |
//! | [`root`] | what is on a machine before a config is applied to it |
//! | [`outcome`] | what a config made of a root, compared |
//! | [`real`] | real Ignition, where it cannot do harm |
//! | [`row`] | many cases by one seed |
//! | [`secure`] | the same over https, by an authority of its own |
//! | [`server`] | a server on this computer, for contents that come from elsewhere |

pub mod config;
pub mod coverage;
pub mod draft;
pub mod outcome;
pub mod real;
pub mod root;
pub mod row;
pub mod secure;
pub mod server;
pub mod spoil;
mod words;

/// A version of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spec(u8);

impl Spec {
    /// All versions that Ignition 2.24 knows; to it the last one is an experiment.
    pub const ALL: [Self; 7] = [
        Self(0),
        Self(1),
        Self(2),
        Self(3),
        Self(4),
        Self(5),
        Self::LAST,
    ];
    /// The last one.
    pub const LAST: Self = Self(6);

    /// Returns how a config names it.
    pub fn text(self) -> String {
        let Self(minor) = self;
        let suffix = if self == Self::LAST {
            "-experimental"
        } else {
            ""
        };
        format!("3.{minor}.0{suffix}")
    }

    /// Tells whether something that began with version 3.`minor` may be used.
    pub(crate) fn has(self, minor: u8) -> bool {
        self.0 >= minor
    }
}
