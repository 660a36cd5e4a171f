//! Ignition configs of spec 3.0 to 3.6: parsed, validated, translated and merged as Ignition does it.
//!
//! A config is a tree whose shape one table knows ([`shape`]): which fields there are, since which
//! version, how lists are merged. Decoding, merging and translating walk that table; only the rules
//! of validation are written out. Every value remembers where it was written, through any merge.
//!
//! | module | concern |
//! |---|---|
//! | `json` | JSON as Go reads it: which text is valid, and a cursor over valid text |
//! | `shape` | the tables: all fields of all versions |
//! | `node` | values with the place where they were written |
//! | `decode` | text → tree; unknown keys, wrong types |
//! | `validate` | the rules, by version; `problem`, `report`: what is wrong and where |
//! | `merge`, `translate` | two configs → one; one version → another |
//! | `says`, `read` | what a config says, for whoever applies it |
//! | `content` | data URLs, gzip, hashes |
//! | `text` | other people's grammars: URLs, paths, units, versions |

pub mod content;
mod decode;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod merge;
mod node;
mod parse;
mod problem;
mod read;
mod report;
mod says;
mod shape;
mod text;
mod transcript;
mod translate;
mod validate;
mod version;

pub use parse::{Parsed, parse, parse_shared};
pub use problem::Problem;
pub use report::{Finding, Place, Report, Severity};
pub use says::{
    Counts, Directory, Dropin, Entry, File, Group, KernelArguments, Link, Proxy, References,
    Resource, Scheme, Source, Timeouts, Unit, User, Who,
};
pub use text::shared::Stretch;
pub use transcript::Came;
pub use translate::Inexpressible;
pub use version::Version;

use node::Node;

/// A config in the terms of the newest spec, whatever it was written in.
#[derive(Debug, Clone)]
pub struct Config {
    root: Node,
}

impl Config {
    /// Merges two configs as Ignition does: where both say something, the child wins.
    #[must_use]
    pub fn merge(parent: &Self, child: &Self) -> Self {
        Self {
            root: merge::merge(&parent.root, &child.root),
        }
    }

    /// Looks for what is wrong by the rules of the newest spec; a merged config may break rules that
    /// its parts keep.
    pub fn validate(&self) -> Report {
        validate::validate(&self.root, Version::NEWEST)
    }

    /// Writes the config in the newest spec, without empty parts.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = self.root.to_json();
        value["ignition"]["version"] = Version::NEWEST.name().into();
        value
    }

    /// Writes the config in another version, or lists what cannot be said in it.
    pub fn to_version(&self, version: Version) -> Result<serde_json::Value, Vec<Inexpressible>> {
        translate::down(&self.root, version)
    }

    /// Tells for every value where it was written.
    pub fn transcript(&self) -> Vec<Came> {
        transcript::transcript(&self.root)
    }
}
