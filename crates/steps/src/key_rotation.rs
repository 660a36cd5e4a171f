//! Replacing the key that encrypts Secrets in etcd: what is next, by what is there.
//!
//! The encryption config itself says how far a rotation has come: two keys or more mean that one is in
//! progress. So it is finished by calling it again, whenever it was cut off. A key leaves the file only
//! when nothing in etcd is encrypted by it any more and the API server writes with another one.

mod config;
mod stored;

use bootlace_model::config::Settings;
use bootlace_model::expect::Access;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;

use crate::assets::{ENCRYPTION_KEY_FILE, asset, machine};
use crate::machine_files::machine_files;
use crate::render::ENCRYPTION;

pub use self::config::EncryptionConfig;
pub(crate) use self::config::{FIRST_KEY, SECRETS, document};
pub use self::stored::{Scan, StoredKeys};

/// Where the API server reads the encryption config, below the root.
const MACHINE_FILE: &str = "etc/kubernetes/configs/encryption.yaml";
/// The mode of the encryption config.
pub const MODE: u32 = 0o600;
/// The name of the metric that tells which encryption config the API server uses.
const METRIC: &str = "apiserver_encryption_config_controller_last_config_info";

/// Where a rotation finds what it works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The encryption config.
    pub config: TargetPath,
    /// The administrator's kubeconfig.
    pub api: Access,
    /// How etcd on this machine is asked.
    pub etcd: Access,
    /// What is gone once the cluster is handed over.
    pub bootstrap_only: Vec<TargetPath>,
}

impl Places {
    /// Returns the places on a control-plane machine.
    pub fn of(settings: &Settings) -> Self {
        let port = settings.cluster.control_plane.ports.etcd_clients;
        let of_bootstrap = machine_files().filter(|file| file.bootstrap_only);
        let of_bootstrap = of_bootstrap.map(|file| machine(file.machine));
        let key = asset(settings, ENCRYPTION_KEY_FILE);
        Self {
            config: machine(MACHINE_FILE),
            api: Access::Kubeconfig(machine("etc/kubernetes/admin.conf")),
            etcd: Access::Certificate {
                server: format!("https://localhost:{port}"),
                authority: machine("etc/kubernetes/pki/etcd/ca.crt"),
                certificate: machine("etc/kubernetes/pki/etcd/server.crt"),
                key: machine("etc/kubernetes/pki/etcd/server.key"),
            },
            bootstrap_only: of_bootstrap.chain([key]).collect(),
        }
    }
}

/// What is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Put a new key in front of the others.
    AddKey,
    /// Wait until the API server uses the file as it is.
    AwaitReload,
    /// Write every encrypted object again.
    Rewrite,
    /// Remove all keys but the first.
    DropOldKeys,
    /// Nothing: the rotation is complete.
    Finish,
}

/// What a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The file.
    pub config: &'a EncryptionConfig,
    /// Whether the API server uses exactly this file.
    pub is_loaded: bool,
    /// What etcd holds, looked at after the last rewrite.
    pub stored: &'a StoredKeys,
    /// Whether a rotation was in progress when this call began, or this call has added a key.
    pub is_begun: bool,
    /// Whether this call wrote every object again after the API server took the new key over.
    pub is_rewritten: bool,
}

/// Tells whether a rotation is in progress when a call begins.
pub fn is_in_progress(config: &EncryptionConfig, is_loaded: bool) -> bool {
    // With one key and a file that is not loaded yet, only the last wait was cut off.
    config.old_keys().next().is_some() || !is_loaded
}

/// Decides what is next.
pub fn next(now: &Situation<'_>) -> Result<Action, Fault> {
    every_key_is_in_the_file(now)?;
    if !now.is_loaded {
        return Ok(Action::AwaitReload);
    }
    if now.config.old_keys().next().is_none() {
        return Ok(if now.is_begun {
            Action::Finish
        } else {
            Action::AddKey
        });
    }
    let is_stale = now.stored.without(now.config.active_key()) > 0;
    Ok(if is_stale || !now.is_rewritten {
        Action::Rewrite
    } else {
        Action::DropOldKeys
    })
}

/// Refuses to go on if etcd holds what no key in the file decrypts.
fn every_key_is_in_the_file(now: &Situation<'_>) -> Result<(), Fault> {
    let is_known = |name: &str| now.config.key_names().any(|known| known == name);
    let mut details: Vec<String> = now
        .stored
        .by_key()
        .filter(|(name, _)| !is_known(name))
        .map(|(name, count)| format!("{count} by the key {name}"))
        .collect();
    if now.stored.foreign() > 0 {
        let foreign = now.stored.foreign();
        details.push(format!("{foreign} by a provider other than secretbox"));
    }
    if details.is_empty() {
        return Ok(());
    }
    let message = "etcd holds objects encrypted by keys that are not in the encryption config";
    let mut fault = Fault::refused(message)
        .because("The API server cannot read them, and a rotation would not rewrite them.")
        .hint(format!(
            "add the missing keys to {ENCRYPTION} behind the first one, from your backup of the file"
        ));
    fault.details = details;
    Err(fault)
}

/// Finds the digest of the encryption config that an API server uses in its metrics, as `sha256:…`.
pub fn loaded_digest(metrics: &str) -> Option<&str> {
    let lines = metrics.lines().filter_map(|line| line.strip_prefix(METRIC));
    let mut labels = lines.filter_map(|rest| rest.strip_prefix('{'));
    let (_, rest) = labels.find_map(|labels| labels.split_once(",hash=\""))?;
    rest.split_once('"').map(|(digest, _)| digest)
}

/// Refuses a control plane of several machines.
pub fn is_one_machine(api_servers: u64, etcd_members: u64) -> Result<(), Fault> {
    let machines = api_servers.max(etcd_members);
    if machines <= 1 {
        return Ok(());
    }
    Err(Fault::new(
        FaultKind::Preflight,
        format!("this control plane has {machines} machines; the command supports only one"),
    )
    .because("Every API server needs the same encryption config before the first of them uses a new key; otherwise the others cannot read what it writes.")
    .hint("rotate the key by hand, and copy encryption.yaml to every control-plane machine after each change"))
}

#[cfg(test)]
mod tests;
