//! The key by which the API server encrypts Secrets before they reach etcd.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Part};
use bootlace_model::path::TargetPath;
use serde_json::json;

use crate::assets::asset;
use crate::yaml;

/// The API server's config, below the asset folder.
pub(super) const CONFIG: &str = "auth/encryption.yaml";

/// What it is for.
pub(super) const PURPOSE: &str = "It holds the key that encrypts Secrets in etcd.";

/// Stands for the key, which is not known before it is made.
const KEY: &str = "KEY";
/// The name of the first key, which stands before every Secret in etcd.
const FIRST: &str = "key1";

/// Returns where the config lies.
pub(super) fn place(settings: &Settings) -> TargetPath {
    asset(settings, CONFIG)
}

/// Returns what goes into it: the key follows from a private key.
pub(super) fn body(private_key: TargetPath) -> Body {
    let config = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{
            "resources": ["secrets"],
            "providers": [
                {"secretbox": {"keys": [{"name": FIRST, "secret": KEY}]}},
                // What was written before there was a key can still be read.
                {"identity": {}},
            ],
        }],
    });
    let text = yaml::document(&config);
    let (before, after) = text.split_once(KEY).unwrap_or((&text, ""));
    Body::Compose(vec![
        Part::Text(before.to_owned()),
        Part::SymmetricKeyOf(private_key),
        Part::Text(after.to_owned()),
    ])
}
