//! What is wrong with users and groups of a config, before a program is asked to make them.

use std::collections::HashMap;

use bootlace_model::config::Settings;
use bootlace_model::effect::Origin;
use bootlace_model::path::TargetPath;
use bootlace_model::provision::{Provision, User};
use bootlace_model::survey::Accounts;

use super::findings::Findings;
use super::{record, wishes};

/// The largest number of a user or a group; the next one means nobody.
const LARGEST: i64 = (1 << 32) - 2;

/// Lists the paths of which has to be known where they really lie.
pub(super) fn places(settings: &Settings) -> Vec<TargetPath> {
    let homes = wishes(settings).users.iter().filter_map(new_home);
    let homes = homes.filter_map(|home| TargetPath::new(home).ok());
    homes.chain([settings.paths.state.clone()]).collect()
}

/// Notes what is wrong.
pub(super) fn judge(
    wishes: &Provision,
    before: &Accounts,
    state: &TargetPath,
    findings: &mut Findings,
) {
    let mut gids = Numbers::new("group", "gid");
    for group in &wishes.groups {
        name("group", &group.name, &group.origin, findings);
        hash(
            "group",
            &group.name,
            group.password_hash.as_deref(),
            &group.origin,
            findings,
        );
        if let Some(gid) = group.gid.filter(|_| group.is_wanted()) {
            gids.judge(&group.name, gid, &group.origin, findings);
        }
    }
    let mut uids = Numbers::new("user", "uid");
    for user in &wishes.users {
        name("user", &user.name, &user.origin, findings);
        hash(
            "user",
            &user.name,
            user.password_hash.as_deref(),
            &user.origin,
            findings,
        );
        if let Some(uid) = user.uid.filter(|_| user.is_wanted()) {
            uids.judge(&user.name, uid, &user.origin, findings);
        }
        if let Some(home) = new_home(user).filter(|home| !home.starts_with('/')) {
            let what = format!("the home of {}, {home:?}, does not begin with /", user.name);
            findings.add(&user.origin, what, "give the whole path as homeDir");
        }
        spare_record(user, before, state, findings);
    }
}

/// Refuses a name that a program would take for an option, or for nothing.
fn name(kind: &str, name: &str, origin: &Origin, findings: &mut Findings) {
    if name.is_empty() {
        let what = format!("the name of the {kind} is empty");
        findings.add(origin, what, "give it a name, or take the entry out");
    } else if name.starts_with('-') {
        let what = format!("the name of the {kind}, {name:?}, begins with a dash");
        let hint = "choose a name that begins with a letter: programs take this one for an option";
        findings.add(origin, what, hint);
    }
}

/// Refuses a hash that would be more than one field of a list, or more than one line of it.
fn hash(kind: &str, name: &str, hash: Option<&str>, origin: &Origin, findings: &mut Findings) {
    let is_field = |c: char| c != ':' && !c.is_control();
    if hash.is_some_and(|hash| !hash.chars().all(is_field)) {
        let what = format!("the password hash of the {kind} {name} has a colon or a line break");
        let hint = "`mkpasswd --method=yescrypt` prints one that can be used";
        findings.add(origin, what, hint);
    }
}

/// Numbers that are given away.
struct Numbers<'a> {
    kind: &'static str,
    called: &'static str,
    owners: HashMap<i64, &'a str>,
}

impl<'a> Numbers<'a> {
    fn new(kind: &'static str, called: &'static str) -> Self {
        Self {
            kind,
            called,
            owners: HashMap::new(),
        }
    }

    fn judge(&mut self, name: &'a str, number: i64, origin: &Origin, findings: &mut Findings) {
        let Self { kind, called, .. } = self;
        if !(0..=LARGEST).contains(&number) {
            let what = format!("the {kind} {name} cannot have the {called} {number}");
            let hint = format!("give a {called} from 0 to {LARGEST}, or none");
            findings.add(origin, what, hint);
        } else if let Some(other) = self.owners.insert(number, name) {
            let what =
                format!("the {kind}s {other} and {name} shall both have the {called} {number}");
            let hint = format!("give one of the two another {called}, or none");
            findings.add(origin, what, hint);
        }
    }
}

/// Refuses to remove, to move or to hand over a home in which the record of the run lies, and to
/// make one in the record.
fn spare_record(user: &User, before: &Accounts, state: &TargetPath, findings: &mut Findings) {
    let state = before.homes.real(state);
    let real = |home: &str| {
        let home = TargetPath::new(home).ok()?;
        Some(before.homes.real(&home).clone())
    };
    let changes = if user.is_wanted() {
        let renumbers = user.uid.is_some() || user.primary_group.is_some();
        renumbers || new_home(user).is_some()
    } else {
        true
    };
    let old = before.users.get(&user.name).filter(|_| changes);
    if let Some(account) = old
        && real(&account.home).is_some_and(|home| record::is_reached(state, &home))
    {
        let verb = if user.is_wanted() {
            "changing"
        } else {
            "removing"
        };
        let what = format!(
            "{verb} the user {} with its home {} would change",
            user.name, account.home
        );
        record::refuse(findings, &user.origin, what, state);
    }
    if let Some(home) = new_home(user).filter(|_| user.is_wanted())
        && real(home).is_some_and(|home| record::is_inside(state, &home))
    {
        let what = format!("the home of {}, {home}, would be among", user.name);
        record::refuse(findings, &user.origin, what, state);
    }
}

/// Returns the home that the config gives to a user.
fn new_home(user: &User) -> Option<&str> {
    user.home_dir.as_deref().filter(|home| !home.is_empty())
}
