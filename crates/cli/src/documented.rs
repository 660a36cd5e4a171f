//! Every command line that the docs name is one that the program understands.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::args::Cli;

/// Commands that the docs name and say of that they are not built yet.
const NOT_BUILT: [&str; 1] = ["pki renew"];

#[test]
fn the_docs_name_only_commands_and_flags_that_exist() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for (line, command, is_whole) in commands(&read(&page)) {
            checked += 1;
            if let Err(why) = check(&command, is_whole) {
                let page = page.display();
                wrong.push(format!("{page}:{line}: `{command}`: {why}"));
            }
        }
    }
    assert!(checked > 100, "only {checked} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_and_judged() {
    let text = "```sh\neval $(bootlace up --in process) # x\nsudo a/bootlace \\\n  runs | jq .\n```\n\
                Type `bootlace pki` or\n```text\nbootlace --nonsense\n```\n";
    let found: Vec<_> = commands(text)
        .into_iter()
        .map(|(n, words, _)| (n, words))
        .collect();
    let expected = [(2, "up --in process"), (3, "runs"), (6, "pki")];
    assert_eq!(found, expected.map(|(n, words)| (n, words.to_owned())));
    assert!(check("run cluster --jobs N …", true).is_ok());
    assert!(check("render", false).is_ok() && check("render", true).is_err());
    assert!(check("run cluster --jbos 1", true).is_err());
    assert!(check("rnu cluster", false).is_err());
}

fn pages() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![
        repository.join("README.md"),
        repository.join("CONTRIBUTING.md"),
    ];
    let mut folders = vec![repository.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

#[expect(clippy::disallowed_methods, reason = "a page of the repository")]
fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap()
}

/// Finds the words behind `bootlace` in shell fences, which are whole commands, and in code spans, which
/// may leave something out; each with its line.
fn commands(text: &str) -> Vec<(usize, String, bool)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(info.split_whitespace().next().unwrap_or_default()),
                Some(_) => None,
            };
            continue;
        }
        match fence {
            Some("console") if !line.starts_with("$ ") => {}
            Some("console" | "sh") => {
                let mut whole = line.trim_start_matches("$ ").to_owned();
                while let Some(begun) = whole.strip_suffix('\\') {
                    let (_, next) = lines.next().unwrap_or_default();
                    whole = format!("{begun}{next}");
                }
                found.extend(in_shell(&whole).map(|words| (n + 1, words, true)));
            }
            Some(_) => {}
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                let ours = spans.filter_map(|span| span.strip_prefix("bootlace "));
                found.extend(ours.map(|words| (n + 1, words.to_owned(), false)));
            }
        }
    }
    found
}

/// Finds our commands in a line of shell.
fn in_shell(line: &str) -> impl Iterator<Item = String> {
    let line = line.split(" #").next().unwrap_or_default();
    let parts = line.split(['|', ';', '(', ')', '&', '>', '<']);
    parts.filter_map(|part| {
        let mut words = part.split_whitespace();
        words.find(|word| *word == "bootlace" || word.ends_with("/bootlace"))?;
        // What redirects an output, as in `2> FILE`, is the shell's.
        let words: Vec<&str> = words.filter(|word| *word != "2").collect();
        (!words.is_empty()).then(|| words.join(" "))
    })
}

/// Parses the words as the program does. A word in capitals stands for something, `…` for more words.
fn check(command: &str, is_whole: bool) -> Result<(), String> {
    if NOT_BUILT.contains(&command) {
        return Ok(());
    }
    let is_open = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_uppercase() || "-|,=…".contains(c))
    };
    let words: Vec<&str> = command.split_whitespace().collect();
    if words.first().is_some_and(|word| is_open(word)) {
        return Ok(());
    }
    let has_open = words.iter().any(|word| is_open(word));
    let words = words.iter().filter(|word| !word.contains('…'));
    let words = words.map(|word| word.trim_matches(['\'', '"']));
    let Err(error) = Cli::try_parse_from(["bootlace"].into_iter().chain(words)) else {
        return Ok(());
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(()),
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            if !is_whole || has_open =>
        {
            Ok(())
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if has_open => Ok(()),
        _ => Err(error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()),
    }
}
