//! The page of the command line: every command's own help, and the flags of all of them once.

use std::fmt::Write as _;

use crate::failure::Failure;

/// The heading under which each command lists the flags that all have.
const GLOBALS: &str = "Flags everywhere:";

const INTRODUCTION: &str = "\
# Commands

What `bootlace COMMAND -h` prints; `--help` says more of each flag. Data goes to stdout, everything
else to stderr. The codes with which a command ends are in [exit codes](exit-codes.md), the shapes
of `-o json` in [schemas](schemas/).

";

/// Where help comes from: the words of a command in, its text out.
type Help<'a> = &'a dyn Fn(&[&str]) -> Result<String, Failure>;

/// Lays the page out.
pub(crate) fn page(help: Help<'_>) -> Result<String, Failure> {
    let top = help(&[])?;
    let (own, globals) = split(&top);
    let mut page = INTRODUCTION.to_owned();
    block(&mut page, "## bootlace", &own);
    let globals = globals.trim_start_matches(GLOBALS).trim_start_matches('\n');
    block(&mut page, "## Flags everywhere", globals);
    for name in commands(&top) {
        command(&mut page, &[&name], help)?;
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    Ok(page)
}

/// Lays out one command and, behind it, the commands in it.
fn command(page: &mut String, words: &[&str], help: Help<'_>) -> Result<(), Failure> {
    let text = help(words)?;
    let (own, _) = split(&text);
    block(page, &format!("## bootlace {}", words.join(" ")), &own);
    for name in commands(&text) {
        let words: Vec<&str> = words.iter().copied().chain([name.as_str()]).collect();
        command(page, &words, help)?;
    }
    Ok(())
}

fn block(page: &mut String, heading: &str, text: &str) {
    // Writing to a text cannot fail.
    let _infallible = write!(page, "{heading}\n\n```text\n{}\n```\n\n", text.trim_end());
}

/// Takes the flags that all commands have out of a command's help.
fn split(help: &str) -> (String, String) {
    let sections = help.split("\n\n");
    let (globals, own): (Vec<&str>, Vec<&str>) =
        sections.partition(|section| section.starts_with(GLOBALS));
    (own.join("\n\n"), globals.join("\n\n"))
}

/// Returns the names of the commands that a help lists, without `help` itself.
fn commands(help: &str) -> Vec<String> {
    let listed = help
        .split("\n\n")
        .find_map(|section| section.strip_prefix("Commands:\n"));
    let lines = listed.unwrap_or_default().lines();
    lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_gets_a_section_and_the_common_flags_one() {
        let help = |words: &[&str]| {
            let commands = match words {
                [] => "Commands:\n  run   Do it\n        and more\n  pki   Keys\n  help  This\n\n",
                ["pki"] => "Commands:\n  list  List\n\n",
                _ => "",
            };
            Ok(format!(
                "About {words:?}\n\n{commands}Options:\n  -h\n\nFlags everywhere:\n      --root\n\nExample:\n  x\n"
            ))
        };
        let page = page(&help).unwrap();
        let headings: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("## "))
            .collect();
        assert_eq!(
            headings,
            [
                "## bootlace",
                "## Flags everywhere",
                "## bootlace run",
                "## bootlace pki",
                "## bootlace pki list"
            ]
        );
        assert_eq!(page.matches("--root").count(), 1, "{page}");
        assert_eq!(page.matches("Example:").count(), 4, "{page}");
    }
}
