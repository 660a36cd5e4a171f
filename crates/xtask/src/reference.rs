//! Writes the pages of the reference that the product itself can tell: its steps and its commands.
//!
//! Both come from running the program, so a page says what a person would see, and nothing else.

mod cli;
mod program;
mod steps;

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::root::root;
use program::Program;

/// Where the pages lie in the repository.
const FOLDER: &str = "docs/reference";

const HINT: &str = "run `cargo run -p xtask -- reference` and commit what it writes";

/// Stands on top of every page, for whoever would edit it.
const NOTE: &str =
    "<!-- Written by `cargo run -p xtask -- reference`; changes made here are lost. -->\n\n";

/// One page: the file's name and its text.
type Page = (&'static str, String);

/// Writes the pages, or with `--check` compares them with those in the repository.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = root()?;
    let folder = root.join(FOLDER);
    match arguments {
        [] => write(&folder, &generate(&root)?),
        [check] if check == "--check" => compare(&folder, &generate(&root)?),
        [first, ..] => Err(Failure::Usage(first.clone())),
    }
}

/// Returns the pages as they must be.
fn generate(root: &Path) -> Result<Vec<Page>, Failure> {
    let program = Program::new(root);
    let steps = steps::page(&program.explain("cluster")?);
    let commands = cli::page(&|words| program.help(words))?;
    Ok(vec![
        ("steps.md", format!("{NOTE}{steps}")),
        ("cli.md", format!("{NOTE}{commands}")),
    ])
}

fn write(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    for (name, text) in pages {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Failure::file(&path))?;
    }
    println!("reference: {} pages in {FOLDER}", pages.len());
    Ok(())
}

fn compare(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    let mut findings = vec![];
    for (name, text) in pages {
        let path = folder.join(name);
        if !path.exists() {
            findings.push(format!("{FOLDER}/{name} is missing"));
        } else if fs::read_to_string(&path).map_err(Failure::file(&path))? != *text {
            findings.push(format!("{FOLDER}/{name} is not what the program says"));
        }
    }
    if !findings.is_empty() {
        return Err(Failure::Found {
            summary: "generated pages are out of date:".into(),
            findings,
            hint: HINT,
        });
    }
    println!("reference: {} pages are up to date", pages.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_up_to_date_until_someone_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("reference");
        let pages = [("a.md", "one\n".to_owned()), ("b.md", "two\n".to_owned())];
        let findings = || match compare(&folder, &pages) {
            Ok(()) => vec![],
            Err(Failure::Found { findings, .. }) => findings,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(findings().len(), 2);
        write(&folder, &pages).unwrap();
        assert_eq!(findings(), [""; 0]);
        fs::write(folder.join("a.md"), "three\n").unwrap();
        fs::remove_file(folder.join("b.md")).unwrap();
        assert_eq!(
            findings(),
            [
                "docs/reference/a.md is not what the program says",
                "docs/reference/b.md is missing"
            ]
        );
    }
}
