//! Where a written thing came from.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fault::Place;
use crate::ids::StepId;

/// Where a written thing came from; `provenance` is a query over these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Origin {
    /// What kind of source: `built-in`, `config`, `manifest`, `release`, `generated`, `fetched`.
    pub kind: Cow<'static, str>,
    /// Which one: a file, a URL, a step.
    pub name: Arc<str>,
}

impl Origin {
    /// The kind of what an Ignition config asks for; its name is `FILE:LINE ENTRY`.
    pub const IGNITION: &str = "ignition";

    /// Names a source.
    pub fn new(kind: &'static str, name: impl Into<Arc<str>>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
        }
    }

    /// Names a step as the source of what it made up itself.
    pub fn generated(step: &StepId) -> Self {
        Self::new("generated", step.as_str())
    }

    /// Splits the name of an entry of a config into its line and the entry's path in it.
    pub fn entry(&self) -> Option<(Place, &str)> {
        if self.kind != Self::IGNITION {
            return None;
        }
        let (place, entry) = self.name.rsplit_once(' ')?;
        let (file, line) = place.rsplit_once(':')?;
        let place = Place {
            file: file.to_owned(),
            line: Some(line.parse().ok()?),
            column: None,
        };
        Some((place, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_config_has_a_line_and_a_path() {
        let origin = Origin::new(Origin::IGNITION, "/a b:c.ign:12 passwd.users.0");
        let (place, entry) = origin.entry().unwrap();
        assert_eq!(place.to_string(), "/a b:c.ign:12");
        assert_eq!(entry, "passwd.users.0");
        for (kind, name) in [
            ("ignition", "a.ign"),
            ("ignition", "a.ign:x passwd"),
            ("config", "a.ign:1 passwd"),
        ] {
            assert_eq!(Origin::new(kind, name).entry(), None, "{name}");
        }
    }
}
