//! Writes the pages of the reference that the product itself can tell: steps, failures, commands.
//!
//! All come from running the program, so a page says what a person would see, and nothing else.

mod cli;
mod failures;
mod markdown;
mod steps;

use std::path::Path;

use crate::failure::Failure;
use crate::generated::{File, Generated};
use crate::program::Program;

const PAGES: Generated = Generated {
    chore: "reference",
    folder: "docs/reference",
    mode: 0o644,
    hint: "run `cargo run -p xtask -- reference` and commit what it writes",
};

/// The sequences, in the order of the page.
const SEQUENCES: [&str; 2] = ["cluster", "ignition"];

/// Stands on top of every page, for whoever would edit it.
const NOTE: &str =
    "<!-- Written by `cargo run -p xtask -- reference`; changes made here are lost. -->\n\n";

/// Writes the pages, or with `--check` compares them with those in the repository.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    PAGES.run(arguments, generate)
}

/// Returns the pages as they must be.
fn generate(root: &Path) -> Result<Vec<File>, Failure> {
    let program = Program::new(root);
    let explained = SEQUENCES.iter().map(|name| program.explain(name));
    let explained = explained.collect::<Result<Vec<_>, _>>()?;
    let commands = cli::page(&|words| program.help(words))?;
    Ok(vec![
        ("steps.md", format!("{NOTE}{}", steps::page(&explained))),
        (
            "failures.md",
            format!("{NOTE}{}", failures::page(&explained)),
        ),
        ("cli.md", format!("{NOTE}{commands}")),
    ])
}
