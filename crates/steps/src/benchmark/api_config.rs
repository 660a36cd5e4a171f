//! What the API server's configs say: who needs no login, and how Secrets are encrypted.

use serde_json::Value;

use super::machine::{ApiConfig, Machine};
use super::subject::Finding;

/// The paths that may be open. They are written here once more, so that a path that is added to what is
/// rendered fails the benchmark.
const OPEN_PATHS: [&str; 4] = [
    "/livez",
    "/readyz",
    "/healthz",
    "/api/v1/namespaces/kube-public/configmaps/cluster-info",
];

/// Providers that the benchmark accepts.
const PROVIDERS: [&str; 3] = ["aescbc", "kms", "secretbox"];

/// How an entry of the encryption config names Secrets: by themselves, with all of their API group, and
/// with everything.
const SECRETS: [&str; 3] = ["secrets", "*.", "*.*"];

/// Looks for paths that answer without a login and should not.
pub(super) fn open_paths(machine: &Machine) -> Finding {
    let config = match machine.api_config(ApiConfig::Authentication) {
        Ok(config) => config,
        Err(found) => return Finding::new(false, found),
    };
    let anonymous = &config["anonymous"];
    // Left out means that everything is open.
    if anonymous["enabled"] == false {
        return Finding::new(true, "anonymous.enabled is false");
    }
    let conditions = anonymous["conditions"].as_array();
    let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) else {
        return Finding::new(
            false,
            "every path is open, as anonymous.conditions is not set",
        );
    };
    let is_known = |condition: &&Value| {
        let path = condition["path"].as_str();
        path.is_some_and(|path| OPEN_PATHS.contains(&path))
    };
    match conditions.iter().find(|condition| !is_known(condition)) {
        Some(condition) => {
            let path = condition["path"].as_str().unwrap_or("an unknown path");
            Finding::new(false, format!("{path} is open"))
        }
        None => Finding::new(true, "no other path is open"),
    }
}

/// Looks for the provider that encrypts new Secrets: the first one of the first entry that names them.
pub(super) fn encryption(machine: &Machine) -> Finding {
    let config = match machine.api_config(ApiConfig::Encryption) {
        Ok(config) => config,
        Err(found) => return Finding::new(false, found),
    };
    let list = |value: &'static str, of: &Value| of[value].as_array().cloned().unwrap_or_default();
    let has_secrets = |entry: &Value| {
        let names = list("resources", entry);
        let mut names = names.iter().filter_map(Value::as_str);
        names.any(|name| SECRETS.contains(&name))
    };
    let entries = list("resources", config);
    let Some(entry) = entries.iter().find(|entry| has_secrets(entry)) else {
        return Finding::new(false, "no entry names secrets");
    };
    let providers = list("providers", entry);
    let first = providers.first().and_then(Value::as_object);
    let mut names = first.into_iter().flat_map(|first| first.keys());
    match (names.next(), names.next()) {
        (Some(name), None) => {
            let holds = PROVIDERS.contains(&name.as_str());
            Finding::new(holds, format!("the first provider of secrets is {name}"))
        }
        _ => Finding::new(false, "secrets have no first provider"),
    }
}

/// Says what to do about a path that is open.
pub(super) fn remedy_of_paths() -> String {
    let [flag, path] = [
        ApiConfig::Authentication.flag(),
        ApiConfig::Authentication.path(),
    ];
    let paths = OPEN_PATHS.join(", ");
    format!("set --{flag} to {path}, and leave only {paths} in its anonymous.conditions")
}

/// Says what to do about Secrets that are not encrypted.
pub(super) fn remedy_of_encryption() -> String {
    let [flag, path] = [ApiConfig::Encryption.flag(), ApiConfig::Encryption.path()];
    let providers = PROVIDERS.join(", ");
    format!(
        "set --{flag} to {path}, and put one of {providers} first among the providers of secrets there"
    )
}
