//! Which users and groups a config speaks of, and who they are on the target.

use std::collections::BTreeSet;

use bootlace_model::fact::FactError;
use bootlace_model::ids::StepId;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::provision::{Entry, Provision, User, Who};
use bootlace_model::survey::Accounts;

use super::facts::ACCOUNTS;
use super::findings::Findings;
use super::{NAME, create_groups_and_users};

/// Asks for all users and groups that the config speaks of.
pub(super) fn probe(wishes: &Provision, in_homes: Option<&str>, beside: Vec<TargetPath>) -> Probe {
    let mut users: BTreeSet<&str> = wishes.users.iter().map(|user| user.name.as_str()).collect();
    let mut groups: BTreeSet<&str> = wishes.groups.iter().map(|it| it.name.as_str()).collect();
    for entry in entries(wishes) {
        if let Who::Name(name) = &entry.user {
            users.insert(name);
        }
        if let Who::Name(name) = &entry.group {
            groups.insert(name);
        }
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(ToOwned::to_owned).collect();
    Probe::Accounts {
        users: owned(users),
        groups: owned(groups),
        in_homes: in_homes.map(ToOwned::to_owned),
        beside,
    }
}

fn entries(wishes: &Provision) -> impl Iterator<Item = &Entry> {
    let directories = wishes.directories.iter().map(|it| &it.entry);
    let files = wishes.files.iter().map(|it| &it.entry);
    let links = wishes.links.iter().map(|it| &it.entry);
    directories.chain(files).chain(links)
}

/// Says who a name is.
pub(super) struct Names<'a> {
    wishes: &'a Provision,
    accounts: &'a Accounts,
    /// Whether somebody was asked for whom only a step that has not run yet makes.
    pub(super) is_early: bool,
}

impl<'a> Names<'a> {
    pub(super) fn new(wishes: &'a Provision, accounts: &'a Accounts) -> Self {
        Self {
            wishes,
            accounts,
            is_early: false,
        }
    }

    /// Works out who owns an entry, where the config is silent whoever does so anyway.
    pub(super) fn owner(&mut self, entry: &Entry, anyway: Owner, findings: &mut Findings) -> Owner {
        let uid = match &entry.user {
            Who::Unset => anyway.uid,
            Who::Id(id) => *id,
            Who::Name(name) => {
                let known = self.accounts.users.get(name).map(|user| user.uid);
                let comes = self.wishes.users.iter();
                let comes = comes
                    .filter(|user| user.is_wanted())
                    .any(|it| it.name == *name);
                self.number(
                    entry,
                    ("user", "passwd.users", name),
                    known,
                    comes,
                    findings,
                )
            }
        };
        let gid = match &entry.group {
            Who::Unset => anyway.gid,
            Who::Id(id) => *id,
            Who::Name(name) => {
                let known = self.accounts.groups.get(name).copied();
                // A user brings a group of its own name, unless told otherwise.
                let comes = self.wishes.groups.iter().filter(|group| group.is_wanted());
                let comes = comes.map(|group| &group.name);
                let to_come = |user: &&User| {
                    user.is_wanted() && !self.accounts.users.contains_key(&user.name)
                };
                let brought = self.wishes.users.iter().filter(to_come);
                let mut comes = comes.chain(brought.map(|user| &user.name));
                let comes = comes.any(|it| it == name);
                self.number(
                    entry,
                    ("group", "passwd.groups", name),
                    known,
                    comes,
                    findings,
                )
            }
        };
        Owner { uid, gid }
    }

    fn number(
        &mut self,
        entry: &Entry,
        (kind, list, name): (&str, &str, &str),
        known: Option<u32>,
        comes: bool,
        findings: &mut Findings,
    ) -> u32 {
        match known {
            Some(number) => number,
            None if comes => {
                self.is_early = true;
                0
            }
            None => {
                let path = &entry.path;
                let what =
                    format!("the {kind} {name}, who shall own {path}, is not known on the target");
                let hint = format!("add {name} to {list}, or give the number as {kind}.id");
                findings.add(&entry.origin, what, hint);
                0
            }
        }
    }

    /// Says that the owners are known only later, if one of them was.
    pub(super) fn settle(&self) -> Result<(), FactError> {
        if self.is_early {
            return Err(FactError::NotYet {
                fact: ACCOUNTS.name(),
                after: StepId::new(NAME, create_groups_and_users::NAME),
            });
        }
        Ok(())
    }
}
