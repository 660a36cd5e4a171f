//! `authorize-ssh-keys`: who may log in as whom.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Effect, MakeDirectory, PutFile};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, FactError, Facts};
use bootlace_model::ids::StepId;
use bootlace_model::node::{Attributes, Owner};
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::provision::User;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use bootlace_model::survey::{Account, Accounts, Seen};

use super::facts::{ACCOUNTS, TARGET};
use super::findings::Findings;
use super::step::{IgnitionStep, checks_nothing};
use super::tree::Tree;
use super::{create_groups_and_users, entries, record, wishes};

pub(super) const NAME: &str = "authorize-ssh-keys";

/// Where the config's keys lie in a home.
pub(super) const KEYS: &str = ".ssh/authorized_keys.d/ignition";

static ABOUT: About = About {
    title: "Write the SSH keys by which people log in",
    why: "Keys of the config go to a file of their own in each home, so that nobody has to take them \
          apart from keys that people add by hand. Folders and file belong to the user and can be \
          read by nobody else, or sshd ignores them. Everything is made as the user could make it \
          alone: where the user may not write, the config is refused, because a file of root in a \
          home is of no use to its owner. The server has to read such files: \
          AuthorizedKeysFile names them, or AuthorizedKeysCommand does. When this is done it is noted \
          what lies where the config's files go.",
    reads: &["passwd.users of the config"],
    writes: &["/"],
    command: "\
install -d -m 0700 -o USER -g GROUP ~USER/.ssh ~USER/.ssh/authorized_keys.d
install -m 0600 -o USER -g GROUP KEYS ~USER/.ssh/authorized_keys.d/ignition",
    undo: UndoPolicy::Inverse,
    failures: &["I-06"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[create_groups_and_users::NAME],
    uses: &["ignition.accounts"],
    yields,
    checks: checks_nothing,
    plan,
    expects,
};

fn yields(settings: &Settings) -> Vec<Ask> {
    let places = entries::places(wishes(settings), &settings.paths.state);
    vec![TARGET.from(Probe::Survey(places))]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    let accounts = facts.get(&ACCOUNTS)?;
    let mut findings = Findings::default();
    let mut effects = Vec::new();
    for user in with_keys(settings) {
        let Some(account) = accounts.users.get(&user.name) else {
            return Err(FactError::NotYet {
                fact: ACCOUNTS.name(),
                after: StepId::new(super::NAME, create_groups_and_users::NAME),
            }
            .into());
        };
        let state = accounts.homes.real(&settings.paths.state);
        authorize(
            user,
            account,
            (&accounts, state),
            &mut effects,
            &mut findings,
        );
    }
    findings.refuse()?;
    Ok(Decision::Do(effects))
}

fn with_keys(settings: &Settings) -> impl Iterator<Item = &User> {
    let users = wishes(settings).users.iter();
    users.filter(|user| user.is_wanted() && !user.ssh_authorized_keys.is_empty())
}

fn authorize(
    user: &User,
    account: &Account,
    (accounts, state): (&Accounts, &TargetPath),
    effects: &mut Vec<Effect>,
    findings: &mut Findings,
) {
    let origin = &user.origin;
    let path = TargetPath::new(&account.home).and_then(|home| home.join(KEYS));
    let Ok(path) = path else {
        let what = format!("the home of {}, {:?}, is no path", user.name, account.home);
        return findings.add(origin, what, "give the user a home by homeDir");
    };
    if let Some(why) = accounts.homes.lost.get(&path) {
        let what = format!("the keys of {} cannot be written: {why}", user.name);
        return findings.add(
            origin,
            what,
            "look at the way with `namei -l`, below the root",
        );
    }
    let owner = Owner {
        uid: account.uid,
        gid: account.gid,
    };
    let real = accounts.homes.real(&path).clone();
    if record::is_inside(state, &real) {
        let what = format!("the keys of {} at {path} would be among", user.name);
        return record::refuse(findings, origin, what, state);
    }
    let mut tree = Tree::new(&accounts.homes);
    let attributes = |mode| Attributes {
        owner: Some(owner),
        ..Attributes::mode(mode)
    };
    let there = tree.get(&real);
    let parents = match tree.make_parents(&real) {
        Ok(parents) => parents,
        Err(why) => {
            let what = format!("the keys of {} cannot be written: {why}", user.name);
            return findings.add(origin, what, "move what is in the way");
        }
    };
    let first = parents.first().map_or(&real, |parent| &parent.path);
    let holding = first.parent().and_then(|above| tree.get(&above));
    if there.is_none() && !may_write(holding.as_ref(), owner) {
        let what = format!("{} may not write the keys to {real} itself", user.name);
        let hint = "give the folder to the user, or give the user another home by homeDir";
        return findings.add(origin, what, hint);
    }
    for parent in parents {
        effects.push(Effect::MakeDirectory(MakeDirectory {
            path: parent.path,
            attributes: attributes(0o700),
            origin: origin.clone(),
        }));
    }
    let attributes = match there {
        None => attributes(0o600),
        Some(Seen::File { mode, owner, .. }) => Attributes {
            owner: Some(owner),
            ..Attributes::mode(mode)
        },
        Some(other) => {
            let what = format!(
                "{real} shall hold the keys of {}, but is {}",
                user.name,
                other.noun()
            );
            return findings.add(origin, what, format!("move {real} away"));
        }
    };
    effects.push(Effect::PutFile(PutFile {
        path: real,
        body: Body::text(text(user)),
        attributes,
        origin: origin.clone(),
    }));
}

fn text(user: &User) -> String {
    let mut text = user.ssh_authorized_keys.join("\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Tells whether a user may make something in a folder.
fn may_write(folder: Option<&Seen>, user: Owner) -> bool {
    let Some(Seen::Directory { mode, owner }) = folder else {
        return false;
    };
    let needed = if user.uid == owner.uid {
        0o300
    } else if user.gid == owner.gid {
        0o030
    } else {
        0o003
    };
    user.uid == 0 || mode & needed == needed
}

fn expects(settings: &Settings, _: &Facts) -> Vec<Expectation> {
    // Where a home lies is known only on the target, unless the config says it.
    let known = with_keys(settings).filter_map(|user| {
        let home = user.home_dir.as_ref().filter(|home| !home.is_empty())?;
        let path = TargetPath::new(home)
            .and_then(|home| home.join(KEYS))
            .ok()?;
        let claim = Claim::File {
            path,
            digest: None,
            mode: None,
        };
        Some(Expectation::now(
            claim,
            "Without its keys nobody could log in as the user.",
        ))
    });
    known.collect()
}
