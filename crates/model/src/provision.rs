//! What an Ignition config asks for, complete: merged, fetched, decompressed, checked.
//!
//! A run works from this and from nothing else.

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::effect::Origin;
use crate::ids::Digest;

/// All that a config was read from. It is kept when a run begins, and read again when it goes on, so
/// that no server and no file has to be there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// What the config is called: a path or a URL.
    pub name: String,
    /// The config itself, as it was found.
    pub config: Content,
    /// What was fetched, in the order in which it was asked for.
    pub fetched: Vec<Fetched>,
}

/// Something that came from a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// From where.
    pub url: String,
    /// What came.
    pub content: Content,
}

/// What is written down about the inputs of a config, beside them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// What the config is called.
    pub name: String,
    /// What the config hashes to.
    pub config: Digest,
    /// What was fetched, in the order in which it was asked for.
    pub fetched: Vec<FetchedEntry>,
}

/// What is written down about something that came from a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedEntry {
    /// From where.
    pub url: String,
    /// What it hashes to.
    pub digest: Digest,
}

impl Inputs {
    /// Lists what there is.
    pub fn index(&self) -> Index {
        let fetched = self.fetched.iter().map(|fetched| FetchedEntry {
            url: fetched.url.clone(),
            digest: fetched.content.digest(),
        });
        Index {
            name: self.name.clone(),
            config: self.config.digest(),
            fetched: fetched.collect(),
        }
    }
}

/// Everything that a config asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provision {
    /// What the config is called: a path or a URL.
    pub source: String,
    /// Groups, in the order of the config.
    pub groups: Vec<Group>,
    /// Users, in the order of the config.
    pub users: Vec<User>,
    /// Folders, in the order of the config.
    pub directories: Vec<Directory>,
    /// Files, in the order of the config.
    pub files: Vec<File>,
    /// Links of both kinds, in the order of the config.
    pub links: Vec<Link>,
    /// Units of systemd, in the order of the config.
    pub units: Vec<Unit>,
    /// What the kernel's command line shall be like.
    pub kernel_arguments: KernelArguments,
}

/// What folders, files and links have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where, as the config says it.
    pub path: String,
    /// Whether what is there goes first, with all that is in it.
    pub overwrite: bool,
    /// Who owns it.
    pub user: Who,
    /// Which group owns it.
    pub group: Who,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

/// A user or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Whoever it is anyway.
    Unset,
    /// By number.
    Id(u32),
    /// By name, in the target.
    Name(String),
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Where, and whose.
    pub entry: Entry,
    /// Its mode; a new one has 0755 if none is given.
    pub mode: Option<u32>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where, and whose.
    pub entry: Entry,
    /// Its mode; a new one has 0644 if none is given.
    pub mode: Option<u32>,
    /// What it holds.
    pub holds: Holds,
}

/// What a file shall hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// What it holds already; a new one is empty.
    AsItIs,
    /// This and nothing else.
    Whole(Content),
    /// What it holds already, and this at its end.
    More(Content),
}

/// A symbolic or a hard link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where, and whose.
    pub entry: Entry,
    /// What it leads to.
    pub target: String,
    /// Whether it is another name of the same file.
    pub hard: bool,
}

/// A unit of systemd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// What its file holds; none is written if this is absent or empty.
    pub contents: Option<String>,
    /// Whether it starts by itself; absent means that nothing is said about it.
    pub enabled: Option<bool>,
    /// Whether it cannot be started at all; false takes a mask away.
    pub mask: Option<bool>,
    /// Files that add to it.
    pub dropins: Vec<Dropin>,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

/// A file that adds to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropin {
    /// Its name.
    pub name: String,
    /// What it holds; none is written if this is absent.
    pub contents: Option<String>,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

/// A group of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its number, as the config says it.
    pub gid: Option<i64>,
    /// The hash of its password.
    pub password_hash: Option<String>,
    /// False if it shall be gone.
    pub should_exist: Option<bool>,
    /// Whether it is one of the system.
    pub system: bool,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

impl Group {
    /// Tells whether it shall be there.
    pub fn is_wanted(&self) -> bool {
        self.should_exist != Some(false)
    }
}

/// A user of the target.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the config that people write"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its number, as the config says it.
    pub uid: Option<i64>,
    /// What it is called in words.
    pub gecos: Option<String>,
    /// Further groups.
    pub groups: Vec<String>,
    /// Its first group.
    pub primary_group: Option<String>,
    /// Where its files lie.
    pub home_dir: Option<String>,
    /// Whether no folder is made for it.
    pub no_create_home: bool,
    /// Whether its log-ins are not noted.
    pub no_log_init: bool,
    /// Whether it gets no group of its name.
    pub no_user_group: bool,
    /// Whether it is one of the system.
    pub system: bool,
    /// The hash of its password.
    pub password_hash: Option<String>,
    /// Its program at log-in.
    pub shell: Option<String>,
    /// Who may log in as it, over SSH.
    pub ssh_authorized_keys: Vec<String>,
    /// False if it shall be gone.
    pub should_exist: Option<bool>,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

impl User {
    /// Tells whether it shall be there.
    pub fn is_wanted(&self) -> bool {
        self.should_exist != Some(false)
    }
}

/// What the kernel's command line shall be like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelArguments {
    /// What must stand there.
    pub should_exist: Vec<String>,
    /// What must not stand there.
    pub should_not_exist: Vec<String>,
}
