//! Users and groups.

use super::{Maker, Purpose};
use crate::ignition::draft::Draft;
use crate::ignition::root;

const NEW_USERS: [&str; 5] = ["alice", "bob", "carol-1", "dave_2", "eve"];
const NEW_GROUPS: [&str; 4] = ["builders", "testers", "ops", "g-1"];
const KEYS: [&str; 3] = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKey1 one",
    "ssh-rsa AAAAB3NzaC1yc2EAAAAKey2 two",
    "ssh-ed25519 AAAAKey3 with a long comment",
];
const SHELLS: [&str; 4] = ["/bin/bash", "/sbin/nologin", "/bin/sh", ""];
const HASHES: [&str; 4] = ["$6$salt$hash", "$y$j9T$abc$def", "*", ""];

impl Maker<'_> {
    /// Makes users and groups.
    pub(super) fn passwd(&mut self) -> Draft {
        let mut passwd = Draft::object();
        let mut group_names = self.names(&NEW_GROUPS, 40, 2);
        if self.dice.percent(6) {
            group_names.push(self.pick(root::GROUPS));
        }
        let groups: Vec<Draft> = group_names.iter().map(|name| self.group(name)).collect();
        let mut user_names = self.names(&NEW_USERS, 40, 2);
        if self.dice.percent(25) {
            user_names.push(self.pick(root::USERS));
        }
        let users: Vec<Draft> = user_names
            .iter()
            .map(|name| self.user(name, &group_names))
            .collect();
        passwd.put_list("groups", groups);
        passwd.put_list("users", users);
        passwd
    }

    fn group(&mut self, name: &str) -> Draft {
        let mut group = Draft::object().with("name", name);
        let number = 3000 + self.number(3000);
        self.maybe(&mut group, 40, "gid", number);
        let hash = self.pick(&HASHES);
        self.maybe(&mut group, 20, "passwordHash", hash);
        let system = self.dice.percent(50);
        self.maybe(&mut group, 25, "system", system);
        let percent = if root::GROUPS.contains(&name) { 80 } else { 10 };
        let wanted = !self.dice.percent(percent);
        if self.spec.has(2) {
            self.maybe(&mut group, 50, "shouldExist", wanted);
        }
        group
    }

    fn user(&mut self, name: &str, new_groups: &[&str]) -> Draft {
        let mut user = Draft::object().with("name", name);
        let number = 4000 + self.number(3000);
        self.maybe(&mut user, 35, "uid", number);
        let hash = self.pick(&HASHES);
        self.maybe(&mut user, 40, "passwordHash", hash);
        let words = self.pick(&["Full Name", "Name, Room 1", "ümlaut", ""]);
        self.maybe(&mut user, 25, "gecos", words);
        self.home(&mut user, name);
        let shell = self.pick(&SHELLS);
        self.maybe(&mut user, 30, "shell", shell);
        for (key, percent) in [("noUserGroup", 15), ("noLogInit", 15), ("system", 15)] {
            let flag = self.dice.percent(70);
            self.maybe(&mut user, percent, key, flag);
        }
        let mut known: Vec<&str> = root::GROUPS.to_vec();
        known.extend(new_groups);
        let groups = self.names(&known, 35, 3);
        user.put_list("groups", Self::texts(&groups));
        let primary = self.pick(&known);
        self.maybe(&mut user, 15, "primaryGroup", primary);
        let keys = self.names(&KEYS, 45, 3);
        user.put_list("sshAuthorizedKeys", Self::texts(&keys));
        let wanted = !self.dice.percent(60);
        if self.spec.has(2) {
            self.maybe(&mut user, 15, "shouldExist", wanted);
        }
        user
    }

    fn home(&mut self, user: &mut Draft, name: &str) {
        let home = match self.dice.below(3) {
            0 => format!("/var/home/{name}"),
            1 => format!("/home/{name}"),
            _ => "/srv/shared-home".to_owned(),
        };
        let percent = if self.is(Purpose::Tree) { 20 } else { 40 };
        self.maybe(user, percent, "homeDir", home);
        let without = self.dice.percent(60);
        self.maybe(user, 20, "noCreateHome", without);
    }
}
