//! Running a program: arguments, never a shell's string.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::expect::Claim;
use crate::path::TargetPath;

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
    /// Which decision runs it.
    pub origin: Origin,
}

/// How to find out whether a command ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlreadyRan {
    /// It ran if this holds.
    When(Box<Claim>),
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
}
