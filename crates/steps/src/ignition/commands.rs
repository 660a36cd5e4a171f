//! The programs that change users and groups of a root, called as Ignition calls them.
//!
//! A program runs in the root, so `/proc/self/cwd` is the root wherever it lies on this computer.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::effect::{AlreadyRan, CommandUndo, Effect, Origin, Product, RunCommand};
use bootlace_model::expect::Claim;
use bootlace_model::path::TargetPath;
use bootlace_model::provision::{Group, User};
use bootlace_model::secret::Secret;
use bootlace_model::survey::Account;

/// The root, seen by a program that runs in it.
const ROOT: &str = "/proc/self/cwd";
/// How long a program may take; moving a home takes longest.
const WITHIN: Duration = Duration::from_mins(5);
/// Where homes lie if nothing else is said.
const HOMES: &str = "/home";
/// What a new home is a copy of.
const SKELETON: &str = "/etc/skel";
/// No password opens an account that has this one.
const LOCKED: &str = "*";

/// What these programs edit, with their own copies; `+` is what they write before they rename it.
const LISTS: [&str; 6] = ["passwd", "shadow", "group", "gshadow", "subuid", "subgid"];
const BESIDE: [&str; 4] = ["", "-", "+", ".lock"];
/// What they hold while they work.
const LOCK: &str = "/etc/.pwd.lock";

/// Lists what these programs edit, and what they leave beside it if they are cut off.
fn lists() -> impl Iterator<Item = TargetPath> {
    let beside = |list| BESIDE.map(|end| format!("/etc/{list}{end}"));
    let lists = LISTS.into_iter().flat_map(beside);
    let all = lists.chain([LOCK.to_owned()]);
    all.filter_map(|path| TargetPath::new(&path).ok())
}

/// Adds a group.
pub(super) fn add_group(group: &Group) -> Effect {
    let mut call = Call::new(
        "groupadd",
        format!("add the group {}", group.name),
        &group.origin,
    );
    if let Some(gid) = group.gid {
        call.option("--gid", &gid.to_string());
    }
    call.option("--password", LOCKED);
    call.flag("--system", group.system);
    call.done(&group.name, Some(listed(true, &group.name, true)))
}

/// Sets the password of a group, if the config has one.
pub(super) fn set_group_password(group: &Group) -> Option<Effect> {
    let hash = group.password_hash.as_deref();
    let hash = hash.filter(|hash| !hash.is_empty())?;
    let name = format!("set the password of the group {}", group.name);
    let call = Call::new("chgpasswd", name, &group.origin);
    Some(call.reads(&group.name, hash))
}

/// Removes a group.
pub(super) fn remove_group(group: &Group) -> Effect {
    let call = Call::new(
        "groupdel",
        format!("remove the group {}", group.name),
        &group.origin,
    );
    call.done(&group.name, Some(listed(true, &group.name, false)))
}

/// Adds a user.
pub(super) fn add_user(user: &User) -> Effect {
    let mut call = Call::new(
        "useradd",
        format!("add the user {}", user.name),
        &user.origin,
    );
    if let Some(home) = set(user.home_dir.as_ref()) {
        call.option("--home-dir", home);
    }
    if user.no_create_home {
        call.flag("--no-create-home", true);
    } else {
        call.flag("--create-home", true);
        let default = format!("{HOMES}/{}", user.name);
        let home = set(user.home_dir.as_ref()).unwrap_or(&default);
        call.copies(home, TargetPath::new(SKELETON).ok());
    }
    call.copies(&mail(user), None);
    call.flag("--no-user-group", user.no_user_group);
    call.flag("--system", user.system);
    call.flag("--no-log-init", user.no_log_init);
    call.option("--password", LOCKED);
    call.common(user);
    call.done(&user.name, Some(listed(false, &user.name, true)))
}

/// Changes a user that is there.
pub(super) fn change_user(user: &User, account: &Account) -> Effect {
    let mut call = Call::new(
        "usermod",
        format!("change the user {}", user.name),
        &user.origin,
    );
    if let Some(home) = set(user.home_dir.as_ref()) {
        call.option("--home", home);
        call.flag("--move-home", true);
        if *home != account.home {
            // What the user puts there later is the user's; the old home comes back from the run's
            // own copies.
            call.copies(home, TargetPath::new(&account.home).ok());
        }
    }
    let renumbers = user.uid.is_some() || set(user.primary_group.as_ref()).is_some();
    if renumbers || set(user.home_dir.as_ref()).is_some() {
        // Whatever the user owns in its home changes hands with the numbers, or moves.
        call.edits(&account.home);
        call.edits(&mail(user));
    }
    call.common(user);
    call.done(&user.name, None)
}

/// Removes a user with its home.
pub(super) fn remove_user(user: &User, account: &Account) -> Effect {
    let mut call = Call::new(
        "userdel",
        format!("remove the user {}", user.name),
        &user.origin,
    );
    call.argv.insert(1, "--remove".into());
    call.edits(&account.home);
    call.edits(&mail(user));
    call.done(&user.name, Some(listed(false, &user.name, false)))
}

/// Sets the password of a user, if the config has one; an empty one locks the account.
///
/// The hash is read from a pipe: everybody on the machine sees the arguments of a program.
pub(super) fn set_password(user: &User) -> Option<Effect> {
    let hash = user.password_hash.as_deref()?;
    let hash = if hash.is_empty() { LOCKED } else { hash };
    let name = format!("set the password of {}", user.name);
    let call = Call::new("chpasswd", name, &user.origin);
    Some(call.reads(&user.name, hash))
}

fn set(text: Option<&String>) -> Option<&String> {
    text.filter(|text| !text.is_empty())
}

fn mail(user: &User) -> String {
    format!("/var/mail/{}", user.name)
}

fn listed(is_group: bool, name: &str, exists: bool) -> Claim {
    Claim::Account {
        is_group,
        name: name.to_owned(),
        exists,
    }
}

/// A call that is being put together.
struct Call {
    name: String,
    argv: Vec<String>,
    hidden: Vec<String>,
    input: Option<Secret>,
    edits: Vec<TargetPath>,
    products: Vec<Product>,
    origin: Origin,
}

impl Call {
    fn new(program: &str, name: String, origin: &Origin) -> Self {
        Self {
            name,
            argv: [program, "--root", ROOT].map(ToOwned::to_owned).into(),
            hidden: vec![],
            input: None,
            edits: lists().collect(),
            products: vec![],
            origin: origin.clone(),
        }
    }

    fn option(&mut self, name: &str, value: &str) {
        self.argv.extend([name.to_owned(), value.to_owned()]);
    }

    /// Gives the program an account and a hash to read.
    fn reads(mut self, account: &str, hash: &str) -> Effect {
        self.flag("--encrypted", true);
        self.input = Some(Secret::new(format!("{account}:{hash}\n").into_bytes()));
        if hash != LOCKED {
            self.hidden.push(hash.to_owned());
        }
        self.effect(AlreadyRan::Repeatable)
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.argv.extend(is_set.then(|| name.to_owned()));
    }

    /// Adds what adding and changing a user have in common.
    fn common(&mut self, user: &User) {
        if let Some(uid) = user.uid {
            self.option("--uid", &uid.to_string());
        }
        if let Some(gecos) = set(user.gecos.as_ref()) {
            self.option("--comment", gecos);
        }
        if let Some(group) = set(user.primary_group.as_ref()) {
            self.option("--gid", group);
        }
        if !user.groups.is_empty() {
            self.option("--groups", &user.groups.join(","));
        }
        if let Some(shell) = set(user.shell.as_ref()) {
            self.option("--shell", shell);
        }
    }

    fn edits(&mut self, path: &str) {
        let path = TargetPath::new(path)
            .ok()
            .filter(|path| *path != TargetPath::root());
        self.edits.extend(path);
    }

    /// Says that the program makes something that is the user's from then on.
    fn copies(&mut self, path: &str, from: Option<TargetPath>) {
        let path = TargetPath::new(path)
            .ok()
            .filter(|path| *path != TargetPath::root());
        self.products
            .extend(path.map(|path| Product::Copy { path, from }));
    }

    fn done(mut self, account: &str, ran: Option<Claim>) -> Effect {
        self.argv.extend(["--".to_owned(), account.to_owned()]);
        let already = ran.map_or(AlreadyRan::Repeatable, |claim| {
            AlreadyRan::When(Box::new(claim))
        });
        self.effect(already)
    }

    fn effect(self, already: AlreadyRan) -> Effect {
        Effect::RunCommand(RunCommand {
            name: self.name,
            argv: self.argv,
            env: BTreeMap::new(),
            directory: None,
            within: WITHIN,
            already,
            undo: CommandUndo::Products,
            products: self.products,
            empties: vec![],
            edits: self.edits,
            hidden: self.hidden,
            input: self.input,
            origin: self.origin,
        })
    }
}
