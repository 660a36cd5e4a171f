//! What the steps of this sequence tell each other.

use std::collections::BTreeMap;

use bootlace_model::fact::Fact;
use bootlace_model::provision::KernelArguments;
use bootlace_model::survey::{Accounts, Survey, UnitFileState};

/// What the kernel's command line shall be like; yielded by `keep-config` for whoever can change it.
pub const KERNEL_ARGUMENTS: Fact<KernelArguments> = Fact::new("ignition.kernel-arguments");

/// Whether the target runs; yielded by `keep-config`.
pub(super) const IS_LIVE: Fact<bool> = Fact::new("ignition.is-live");

/// Users and groups before anything is done; yielded by `keep-config`.
pub(super) const ACCOUNTS_BEFORE: Fact<Accounts> = Fact::new("ignition.accounts-before");

/// Users and groups once the config's are there; yielded by `create-groups-and-users`.
pub(super) const ACCOUNTS: Fact<Accounts> = Fact::new("ignition.accounts");

/// What lies where before files are written; yielded by `authorize-ssh-keys`.
pub(super) const TARGET: Fact<Survey> = Fact::new("ignition.target");

/// What lies where units go, before they are written; yielded by `write-files`.
pub(super) const UNIT_PLACES: Fact<Survey> = Fact::new("ignition.unit-places");

/// How units are set once their files are written; yielded by `write-units`.
pub(super) const UNIT_FILES: Fact<BTreeMap<String, UnitFileState>> =
    Fact::new("ignition.unit-files");
