//! What lies at places of the target before anything is changed there, as a fact.
//!
//! A survey is made once and journalled: whether a file was there *before* a run cannot be asked any
//! more once the run has written it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::Digest;
use crate::node::{Owner, SpecialKind};
use crate::path::TargetPath;

/// What is to be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Paths, links on the way followed and the last part not.
    pub paths: Vec<TargetPath>,
    /// Files whose content is to be known by its digest.
    pub contents: Vec<TargetPath>,
    /// Links that are to be made and what they will say: who owns what they will lead to?
    pub links: Vec<(TargetPath, String)>,
    /// Pairs of which is asked whether both are names of the same file.
    pub pairs: Vec<(TargetPath, TargetPath)>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// Who owns what this tool makes.
    pub identity: Owner,
    /// Where a path really lies, if a link is on the way to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moved: BTreeMap<TargetPath, TargetPath>,
    /// What is there, by where it really lies, with all folders above; what is absent is not listed.
    pub nodes: BTreeMap<TargetPath, Seen>,
    /// Who owns what a link will lead to, by where the link was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<TargetPath, Owner>,
    /// First names of pairs that are names of the same file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<TargetPath>,
    /// Paths that lead nowhere, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<TargetPath, String>,
}

impl Survey {
    /// Returns where a path really lies.
    pub fn real<'a>(&'a self, path: &'a TargetPath) -> &'a TargetPath {
        self.moved.get(path).unwrap_or(path)
    }
}

/// What is at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Seen {
    /// A regular file.
    File {
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
        /// What it holds, if that was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    },
    /// A folder.
    Directory {
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
    },
    /// A symbolic link.
    Link {
        /// What it points to, as written.
        target: String,
        /// Who owns it.
        owner: Owner,
    },
    /// A pipe or a socket.
    Special {
        /// Which of them.
        kind: SpecialKind,
        /// Who owns it.
        owner: Owner,
    },
    /// Something else, in words.
    Other {
        /// What it is.
        what: String,
    },
}

impl Seen {
    /// Tells in words what it is.
    pub fn noun(&self) -> &str {
        match self {
            Self::File { .. } => "a file",
            Self::Directory { .. } => "a folder",
            Self::Link { .. } => "a link",
            Self::Special { kind, .. } => kind.noun(),
            Self::Other { what } => what,
        }
    }

    /// Returns who owns it, as far as that is known.
    pub fn owner(&self) -> Option<Owner> {
        match self {
            Self::File { owner, .. }
            | Self::Directory { owner, .. }
            | Self::Link { owner, .. }
            | Self::Special { owner, .. } => Some(*owner),
            Self::Other { .. } => None,
        }
    }
}

/// What the target's lists of users and groups say, and what lies in the homes of some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// Those of the users that were asked for and are there.
    pub users: BTreeMap<String, Account>,
    /// Those of the groups that were asked for and are there, by number.
    pub groups: BTreeMap<String, u32>,
    /// What lies on the way to a file in each home, if one was asked for.
    pub homes: Survey,
}

/// A user of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its number.
    pub uid: u32,
    /// The number of its first group.
    pub gid: u32,
    /// Where its files lie.
    pub home: String,
}

/// How systemd would find a unit set, without running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitFileState {
    /// Links start it.
    Enabled,
    /// It could be enabled and is not.
    Disabled,
    /// Nothing can enable it, and nothing has to.
    Static,
    /// It cannot be started.
    Masked,
    /// There is no such unit.
    Absent,
}

impl UnitFileState {
    /// Tells whether `systemctl is-enabled` ends with 0.
    pub fn counts_as_enabled(self) -> bool {
        matches!(self, Self::Enabled | Self::Static)
    }
}
