//! `bootlace ignition`: look at Ignition configs, put them into other words, apply them.

mod apply;
mod convert;
mod input;
mod merge;
mod validate;

use std::path::PathBuf;

use bootlace_model::fault::Fault;
use clap::{Subcommand, ValueHint};

pub(crate) use input::read as read_ignition;

use crate::args::Apply;
use crate::error::Ending;
use crate::session::Session;

/// `ignition`.
#[derive(Debug, Subcommand)]
pub(crate) enum Ignition {
    /// Say what is wrong with a config, as Ignition would, and where
    #[command(after_help = "\
Ends with code 3 if the config cannot be used.

Examples:
  bootlace ignition validate node.ign
  bootlace ignition validate node.ign -o json | jq '.findings[].path'")]
    Validate {
        /// The config; `-` is standard input
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Write a config in another version of the spec; what that version cannot say is refused
    #[command(after_help = "\
Example:
  bootlace ignition convert --to 3.2.0 node.ign > old.ign")]
    Convert {
        /// The version: 3.0.0 to 3.6.0, or 2.2.0
        #[arg(long, value_name = "VERSION")]
        to: String,
        /// The config; `-` is standard input
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Merge configs into one: where two say something, the later one wins
    #[command(after_help = "\
The result is of the newest version among the files.

Examples:
  bootlace ignition merge base.ign mine.ign > merged.ign
  bootlace ignition merge --transcript base.ign mine.ign")]
    Merge {
        /// Tell where each value was written, instead of the config
        #[arg(long)]
        transcript: bool,
        /// The configs, parents first
        #[arg(value_name = "FILE", num_args = 2.., required = true)]
        #[arg(value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Apply a config to the root, as a whole or not at all
    #[command(after_help = "\
If something fails, what was done before is taken back. `plan` shows what would change.

Examples:
  bootlace plan ignition --ignition node.ign --root /tmp/demo
  bootlace ignition apply node.ign --root /tmp/demo
  bootlace undo ignition --root /tmp/demo")]
    Apply(Apply),
}

pub(crate) fn ignition(session: &mut Session, args: &Ignition) -> Result<Ending, Fault> {
    match args {
        Ignition::Validate { file } => validate::validate(session, file),
        Ignition::Convert { to, file } => convert::convert(session, to, file),
        Ignition::Apply(args) => apply::apply(session, args),
        Ignition::Merge { transcript, files } => merge::merge(session, files, *transcript),
    }
}
