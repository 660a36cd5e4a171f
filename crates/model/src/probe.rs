//! Read-only questions to the world, and their answers.

use std::time::Duration;

use crate::effect::UnitName;
use crate::ids::StepId;
use crate::node::NodeState;
use crate::path::TargetPath;
use crate::survey::Places;

/// A question that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// What is at a path?
    Node(TargetPath),
    /// What does a file hold? Absent is an answer, too large is a fault.
    ReadFile {
        /// Which file.
        path: TargetPath,
        /// The most bytes that are read.
        limit: u64,
    },
    /// Which files lie in a folder and below it, and what do they hold?
    ReadTree {
        /// Which folder.
        path: TargetPath,
        /// The most bytes that are read in all.
        limit: u64,
    },
    /// What does a pointer find in a JSON file?
    ReadJson {
        /// Which file.
        path: TargetPath,
        /// A JSON pointer, such as `/spec/digest`; empty for the whole.
        pointer: String,
    },
    /// What does a program that only looks print?
    Ask {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long it may take.
        within: Duration,
    },
    /// What is this machine called?
    HostName,
    /// What lies at places, links on the way followed? Answered in the words of [`Survey`].
    ///
    /// [`Survey`]: crate::survey::Survey
    Survey(Places),
    /// What do the target's lists say of users and groups? Answered in the words of [`Accounts`].
    ///
    /// [`Accounts`]: crate::survey::Accounts
    Accounts {
        /// Which users.
        users: Vec<String>,
        /// Which groups.
        groups: Vec<String>,
        /// A path in the users' homes that is looked at as well.
        in_homes: Option<String>,
        /// Paths of which is asked, as of the homes, where they really lie.
        beside: Vec<TargetPath>,
    },
    /// How are units set? Answered by name, in the words of [`UnitFileState`].
    ///
    /// [`UnitFileState`]: crate::survey::UnitFileState
    UnitFiles(Vec<UnitName>),
    /// Is the target this machine itself, and not a folder?
    IsLive,
    /// What time is it?
    Now,
    /// A value that is known already, so that later steps and the journal know it, too.
    Known(serde_json::Value),
}

impl Probe {
    /// Tells in a few words what is asked.
    pub fn what(&self) -> String {
        match self {
            Self::Node(path) => format!("what is at {path}"),
            Self::ReadFile { path, .. } | Self::ReadJson { path, .. } => {
                format!("content of {path}")
            }
            Self::ReadTree { path, .. } => format!("files below {path}"),
            Self::Ask { argv, .. } => {
                format!(
                    "output of `{}`",
                    crate::shell::line(argv.iter().map(String::as_str))
                )
            }
            Self::HostName => "this machine's name".into(),
            Self::Survey(places) => match places.paths.as_slice() {
                [one] => format!("what is at {one}"),
                several => format!("what is at {} paths", several.len()),
            },
            Self::Accounts { .. } => "users and groups of the target".into(),
            Self::UnitFiles(units) => match units.as_slice() {
                [one] => format!("how {one} is set"),
                several => format!("how {} units are set", several.len()),
            },
            Self::IsLive => "whether the target runs".into(),
            Self::Now => "what time it is".into(),
            Self::Known(_) => "what the config says".into(),
        }
    }

    /// Returns the path that is asked about, if any.
    pub fn path(&self) -> Option<&TargetPath> {
        match self {
            Self::Node(path)
            | Self::ReadFile { path, .. }
            | Self::ReadTree { path, .. }
            | Self::ReadJson { path, .. } => Some(path),
            Self::Ask { .. }
            | Self::HostName
            | Self::Survey(_)
            | Self::Accounts { .. }
            | Self::UnitFiles(_)
            | Self::IsLive
            | Self::Now
            | Self::Known(_) => None,
        }
    }
}

/// A file of a tree that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Where it lies below the folder that was asked about, such as `a/b.yaml`.
    pub relative: String,
    /// What it holds.
    pub content: Vec<u8>,
    /// Whether nobody but its owner may read it.
    pub is_private: bool,
}

/// All files of a folder, sorted by path. Links are listed in `odd`, never followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    /// Whether the folder is there at all.
    pub exists: bool,
    /// The files.
    pub files: Vec<TreeFile>,
    /// What else lies there: relative path and what it is in words.
    pub odd: Vec<(String, String)>,
}

/// An answer to a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To [`Probe::Node`].
    Node(NodeState),
    /// To [`Probe::ReadFile`]; none if the file is absent.
    Content(Option<Vec<u8>>),
    /// To [`Probe::ReadTree`].
    Tree(FileTree),
    /// To [`Probe::ReadJson`], [`Probe::HostName`] and all that have words of their own; null if
    /// there is nothing.
    Json(serde_json::Value),
    /// To [`Probe::Ask`].
    Output {
        /// The exit code; none if a signal ended it.
        code: Option<i32>,
        /// The beginning of what it printed.
        stdout: String,
    },
    /// It cannot be known before a step has run.
    KnownAfter(StepId),
}
