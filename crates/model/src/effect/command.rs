//! Running a program: arguments, never a shell's string.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::expect::Claim;
use crate::path::TargetPath;
use crate::secret::Secret;

/// Runs a program to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommand {
    /// Names the act in plans and journals; one name for one act within a step.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Added to an otherwise almost empty environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub directory: Option<TargetPath>,
    /// How long it may take before it and all its children are killed.
    pub within: Duration,
    /// How the engine finds out, after a crash, whether it ran.
    pub already: AlreadyRan,
    /// How it is taken back.
    pub undo: CommandUndo,
    /// What it leaves behind; undo removes those that were absent before.
    pub products: Vec<Product>,
    /// Folders that are emptied before it runs, so that nothing that an earlier try left there is
    /// taken for its work.
    pub empties: Vec<TargetPath>,
    /// Files and folders, with all that is in them, that it edits; they are kept for undo, and put
    /// back as they were.
    pub edits: Vec<TargetPath>,
    /// What nobody shall read in plans and messages, whatever the program says.
    pub hidden: Vec<String>,
    /// What it reads. Everybody on the machine can read its arguments, and nobody this.
    pub input: Option<Secret>,
    /// Which decision runs it.
    pub origin: Origin,
}

impl RunCommand {
    /// Returns the arguments as they may be shown.
    pub fn shown(&self) -> Vec<&str> {
        let shown = |word: &'_ String| -> bool { !self.hidden.contains(word) };
        let words = self.argv.iter();
        words
            .map(|word| if shown(word) { word.as_str() } else { "…" })
            .collect()
    }
}

/// How to find out whether a command ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlreadyRan {
    /// It ran if this holds.
    When(Box<Claim>),
    /// What it started runs on while this holds; if not, it is run again, also after it has ended.
    While(Box<Claim>),
    /// It may be run again: a second time changes nothing more.
    Repeatable,
}

/// How a command is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandUndo {
    /// By running this.
    Run(Vec<String>),
    /// By removing its products, which are all that it does.
    Products,
    /// Not at all, for this reason.
    Never {
        /// Why not.
        why: String,
    },
}

/// Something that a started thing makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// A file or a folder with all that is in it.
    Path(TargetPath),
    /// A file, or a folder with what a program puts into it; what others add or change later is theirs.
    Copy {
        /// Where it is made.
        path: TargetPath,
        /// The folder that it is a copy of.
        from: Option<TargetPath>,
    },
    /// Pods with their containers, in the container runtime.
    Pods,
    /// An image in the container runtime.
    Image(String),
    /// Whatever is mounted below a folder.
    Mounts(TargetPath),
    /// A network interface.
    Interface(String),
    /// A table of the packet filter: family and name, as `nft` calls them.
    PacketTable(String),
    /// Routes with a protocol number that nobody else uses, as in `ip route show proto 98`.
    Routes(u8),
    /// A control group with all below it, by its name in every hierarchy.
    Cgroup(String),
    /// A container that a command runs; it never outlives the command.
    Container {
        /// The container engine and its flags.
        engine: Vec<String>,
        /// The file in which the engine notes the container's id.
        id_file: TargetPath,
    },
    /// An image in the store of a container engine.
    StoredImage {
        /// The container engine and its flags.
        engine: Vec<String>,
        /// The image.
        image: String,
    },
}

impl Product {
    /// Names it in words.
    pub fn what(&self) -> String {
        match self {
            Self::Path(path) | Self::Copy { path, .. } => path.to_string(),
            Self::Pods => "pods".into(),
            Self::Image(image) => format!("image {image}"),
            Self::Mounts(path) => format!("mounts below {path}"),
            Self::Interface(name) => format!("network interface {name}"),
            Self::PacketTable(table) => format!("packet-filter table {table}"),
            Self::Routes(protocol) => format!("routes with protocol {protocol}"),
            Self::Cgroup(name) => format!("control group {name}"),
            Self::Container { id_file, .. } => format!("the container of {id_file}"),
            Self::StoredImage { image, .. } => format!("stored image {image}"),
        }
    }

    /// Returns the path, if it is one.
    pub fn path(&self) -> Option<&TargetPath> {
        match self {
            Self::Path(path) | Self::Copy { path, .. } => Some(path),
            _ => None,
        }
    }
}
