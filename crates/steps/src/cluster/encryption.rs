//! The key by which the API server encrypts Secrets before they reach etcd.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Part};
use bootlace_model::path::TargetPath;

use crate::assets::asset;
use crate::key_rotation::{FIRST_KEY, SECRETS, document};

/// The API server's config, below the asset folder.
pub(super) const CONFIG: &str = "auth/encryption.yaml";

/// What it is for.
pub(super) const PURPOSE: &str = "It holds the key that encrypts Secrets in etcd.";

/// Stands for the key, which is not known before it is made.
const KEY: &str = "KEY";

/// Returns where the config lies.
pub(super) fn place(settings: &Settings) -> TargetPath {
    asset(settings, CONFIG)
}

/// Returns what goes into it: the key follows from a private key.
pub(super) fn body(private_key: TargetPath) -> Body {
    let keys = [(FIRST_KEY, KEY)].into_iter();
    // What was written before there was a key can still be read.
    let text = document(&[SECRETS.to_owned()], keys, true);
    let (before, after) = text.split_once(KEY).unwrap_or((&text, ""));
    Body::Compose(vec![
        Part::Text(before.to_owned()),
        Part::SymmetricKeyOf(private_key),
        Part::Text(after.to_owned()),
    ])
}
