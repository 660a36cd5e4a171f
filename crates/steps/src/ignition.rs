//! The sequence `ignition`: an Ignition config, applied to a folder or to the machine itself.
//!
//! Ignition works in one go on a machine that has never run, and stops where it fails. Here the same
//! work is cut where something can be known only after something else is done:
//!
//! ```text
//! keep-config              who is who on the target, before anything
//! create-groups-and-users  who is who afterwards
//! authorize-ssh-keys       what lies where before anything is written
//! write-files              what lies where units go
//! write-units              which units are enabled
//! enable-units
//! ```
//!
//! What stands on the right is journalled when the step is done. A config says different things about
//! files that are there and files that are not, and a run that goes on after a crash must not take its
//! own work for what it found.

mod accounts;
mod authorize_ssh_keys;
mod commands;
mod create_groups_and_users;
mod enable_units;
mod entries;
mod facts;
mod failures;
mod findings;
mod keep_config;
mod passwd;
mod presets;
mod record;
pub mod resolve;
mod step;
mod summary;
mod tree;
mod write_files;
mod write_units;

use bootlace_model::config::{IgnitionSettings, Settings};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::provision::Provision;
use bootlace_model::step::Sequence;

pub use facts::KERNEL_ARGUMENTS;
pub use summary::summarise;

/// The sequence's name.
pub(crate) const NAME: &str = "ignition";

/// The sequence.
pub(crate) const SEQUENCE: Sequence = Sequence {
    name: NAME,
    about: "Applies an Ignition config: users and groups, files, folders, links, units.",
    steps: &[
        &keep_config::STEP,
        &create_groups_and_users::STEP,
        &authorize_ssh_keys::STEP,
        &write_files::STEP,
        &write_units::STEP,
        &enable_units::STEP,
    ],
    failures: failures::FAILURES,
    replaced_later: &[],
};

/// Returns the config that is applied.
fn config(settings: &Settings) -> Result<&IgnitionSettings, Fault> {
    settings.ignition.as_ref().ok_or_else(|| {
        Fault::new(FaultKind::Usage, "no Ignition config is given")
            .because("This sequence does what a config says, and nothing else.")
            .hint("`bootlace plan ignition --ignition FILE` shows what a config would change")
    })
}

/// Returns what the config asks for; nothing if there is none, so that steps can be explained.
fn wishes(settings: &Settings) -> &Provision {
    static NOTHING: std::sync::LazyLock<Provision> = std::sync::LazyLock::new(Provision::default);
    match &settings.ignition {
        Some(config) => &config.provision,
        None => &NOTHING,
    }
}
