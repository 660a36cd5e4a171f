//! `create-groups-and-users`: accounts, through the programs that every system has for them.

use bootlace_model::check::{Check, Test};
use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};

use super::facts::{ACCOUNTS, ACCOUNTS_BEFORE};
use super::findings::Findings;
use super::step::IgnitionStep;
use super::{accounts, authorize_ssh_keys, commands, keep_config, passwd, wishes};

pub(super) const NAME: &str = "create-groups-and-users";

static ABOUT: About = About {
    title: "Add, change and remove groups and users",
    why: "Groups come first, because users are put into them. The system's own useradd, usermod, \
          userdel, groupadd and groupdel do the work with --root, as Ignition calls them: they know \
          the target's defaults, its free numbers, its skeleton of a home and its lists of \
          subordinate numbers, and a tool of ours would be wrong about one of them some day. Each of \
          them edits several lists at once, so all of these are kept before it runs, and undo puts \
          them back to the byte unless somebody edited them since. Of a home that it makes, undo \
          removes what nobody has touched since, and names the rest. An account without a password \
          gets one that nothing opens. Hashes of passwords are never shown, and go to chpasswd and \
          chgpasswd through a pipe, because everybody on the machine can read the arguments of a \
          program.",
    reads: &["passwd.groups and passwd.users of the config"],
    writes: &[
        "/etc/passwd",
        "/etc/shadow",
        "/etc/group",
        "/etc/gshadow",
        "homes",
    ],
    command: "\
groupadd --root DIR --password '*' NAME
useradd --root DIR --create-home --password '*' NAME
echo NAME:HASH | chpasswd --root DIR --encrypted   # if the config has a hash",
    undo: UndoPolicy::Inverse,
    failures: &["I-05"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[keep_config::NAME],
    uses: &["ignition.accounts-before"],
    yields,
    checks,
    plan,
    expects,
};

fn yields(settings: &Settings) -> Vec<Ask> {
    let in_homes = Some(authorize_ssh_keys::KEYS);
    vec![ACCOUNTS.from(accounts::probe(
        wishes(settings),
        in_homes,
        vec![settings.paths.state.clone()],
    ))]
}

fn checks(settings: &Settings) -> Vec<Check> {
    let wishes = wishes(settings);
    if wishes.groups.is_empty() && wishes.users.is_empty() {
        return vec![];
    }
    vec![Check {
        name: "IsPrivilegedUser".into(),
        test: Test::Root,
        why: "Only root may change into a root and edit its lists of users.",
        hint: "run it with sudo, or take passwd out of the config".into(),
    }]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    let wishes = wishes(settings);
    let before = facts.get(&ACCOUNTS_BEFORE)?;
    let mut findings = Findings::default();
    passwd::judge(wishes, &before, &settings.paths.state, &mut findings);
    let mut effects = Vec::new();
    for group in &wishes.groups {
        let is_there = before.groups.contains_key(&group.name);
        match (group.is_wanted(), is_there) {
            (true, false) => {
                effects.push(commands::add_group(group));
                effects.extend(commands::set_group_password(group));
            }
            (false, true) => effects.push(commands::remove_group(group)),
            (false, false) => {}
            (true, true) => {
                let what = format!("the group {} is there already", group.name);
                let hint = "groups are added and removed, and never changed: take it out of \
                            passwd.groups";
                findings.add(&group.origin, what, hint);
            }
        }
    }
    for user in &wishes.users {
        let account = before.users.get(&user.name);
        match (user.is_wanted(), account) {
            (true, None) => effects.push(commands::add_user(user)),
            (true, Some(account)) => effects.push(commands::change_user(user, account)),
            (false, Some(account)) => effects.push(commands::remove_user(user, account)),
            (false, None) => {}
        }
        if user.is_wanted() {
            effects.extend(commands::set_password(user));
        }
    }
    findings.refuse()?;
    Ok(Decision::Do(effects))
}

fn expects(settings: &Settings, _: &Facts) -> Vec<Expectation> {
    let wishes = wishes(settings);
    let because = "Files of the config may belong to them, and people log in as them.";
    let claim = |is_group, name: &String, exists| {
        let name = name.clone();
        let claim = Claim::Account {
            is_group,
            name,
            exists,
        };
        Expectation::now(claim, because)
    };
    let groups = wishes.groups.iter();
    // Removing a user may take a group of the same name along, or bring one back.
    let groups = groups.filter(|group| group.is_wanted());
    let groups = groups.map(|group| claim(true, &group.name, true));
    let users = wishes.users.iter();
    let users = users.map(|user| claim(false, &user.name, user.is_wanted()));
    groups.chain(users).collect()
}
