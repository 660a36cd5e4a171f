//! What an Ignition config asks for, complete: merged, fetched, decompressed, checked.
//!
//! A run works from this and from nothing else. It is kept in the state folder when a run begins, so
//! that no server and no file has to be there any more when the run is resumed or looked at.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use crate::effect::Origin;

/// Bytes of a file, in base64 when written down.
#[derive(Clone, PartialEq, Eq)]
pub struct Content(pub Arc<[u8]>);

impl fmt::Debug for Content {
    /// Shows the length only: contents may be secret and are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.0.len())
    }
}

impl Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = base64::engine::general_purpose::STANDARD.encode(&self.0);
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(text.as_bytes());
        let bytes = bytes.map_err(serde::de::Error::custom)?;
        Ok(Self(bytes.into()))
    }
}

/// Everything that a config asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// Whoever it is anyway.
    Unset,
    /// By number.
    Id(u32),
    /// By name, in the target.
    Name(String),
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    /// Where, and whose.
    pub entry: Entry,
    /// Its mode; a new one has 0755 if none is given.
    pub mode: Option<u32>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Where, and whose.
    pub entry: Entry,
    /// Its mode; a new one has 0644 if none is given.
    pub mode: Option<u32>,
    /// What it holds; if none is given, what it holds already, or nothing.
    pub content: Option<Content>,
    /// What is added at its end.
    pub append: Vec<Content>,
}

/// A symbolic or a hard link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where, and whose.
    pub entry: Entry,
    /// What it leads to.
    pub target: String,
    /// Whether it is another name of the same file.
    pub hard: bool,
}

/// A unit of systemd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropin {
    /// Its name.
    pub name: String,
    /// What it holds; none is written if this is absent.
    pub contents: Option<String>,
    /// Which entry of which config asks for it.
    pub origin: Origin,
}

/// A group of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its number.
    pub gid: Option<u32>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: Option<u32>,
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
