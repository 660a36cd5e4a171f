//! What the server adds to a pool's config, and why.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cache::View;
use crate::source::Source;
use crate::{layered, rendered};

const CONTENT: &str = "/etc/mcs-machine-config-content.json";
const CAPSULE: &str = "/etc/ignition-machine-config-encapsulated.json";

/// Knows what comes from where.
#[derive(Debug)]
pub(super) struct Origins<'s> {
    source: &'s Source,
    view: View,
    of_config: BTreeSet<&'s str>,
}

impl<'s> Origins<'s> {
    /// Looks at a pool and the whole Ignition part of its config.
    pub(super) fn new(source: &'s Source, view: View, whole: &'s Value) -> Self {
        let files = super::list(whole, "/storage/files");
        Self {
            source,
            view,
            of_config: files.filter_map(|file| file["path"].as_str()).collect(),
        }
    }

    /// Says from where what is at a path comes.
    pub(super) fn of(&self, path: &str) -> Value {
        match self.added(path) {
            Some(why) => server(why, self.of_config.contains(path)),
            None => config(),
        }
    }

    /// Says why the server writes a path; none if it does not.
    fn added(&self, path: &str) -> Option<&'static str> {
        let is_layered = self.view == View::Layered;
        let source = self.source;
        if path == rendered::ANNOTATIONS {
            return Some("tells the machine which config and image it has");
        }
        if path == rendered::KUBECONFIG && source.kubeconfig.is_some() {
            return Some("lets the machine join the cluster");
        }
        if source.authorities.iter().any(|(known, _)| *known == path) {
            return Some("the cluster's authority, as it is now");
        }
        let mut registries = source.certificates.iter();
        if registries.any(|(registry, _)| rendered::certificate(registry) == path) {
            return Some("lets the machine trust a registry");
        }
        match path {
            CONTENT if !is_layered => Some("the whole config, for people and later comparison"),
            CAPSULE if !is_layered => Some("tells the first boot what Ignition cannot do"),
            layered::RECORD if is_layered => {
                Some("tells the first boot which image to move to, and what to remove")
            }
            _ => None,
        }
    }
}

/// What the pool's config says itself.
pub(super) fn config() -> Value {
    json!({"by": "config", "text": "the pool's config"})
}

/// What the server adds.
pub(super) fn server(why: &str, replaces: bool) -> Value {
    let text = if replaces {
        "added by the server, in place of the config's own"
    } else {
        "added by the server"
    };
    json!({"by": "server", "text": text, "why": why})
}
