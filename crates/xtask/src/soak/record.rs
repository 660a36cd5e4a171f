//! The record of soaks: what was tried, when, and on which commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::PARTS;
use crate::failure::Failure;

/// What the tests wrote, and what is made of it.
const JSON: &str = "docs/reference/soak.json";
const PAGE: &str = "docs/reference/soak.md";

/// What came of a part when it last ran.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub(crate) struct Entry {
    pub(crate) commit: String,
    pub(crate) date: String,
    pub(crate) minutes: f64,
    pub(crate) seed: String,
    pub(crate) tried: Vec<Tried>,
    pub(crate) failed: Vec<String>,
}

/// How many of a kind were tried.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub(crate) struct Tried {
    pub(crate) what: String,
    pub(crate) count: u64,
}

/// All parts that ever ran, by name.
type Record = BTreeMap<String, Entry>;

/// Adds up what several tests tried of one kind.
pub(crate) fn sum(tried: Vec<Tried>) -> Vec<Tried> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for Tried { what, count } in tried {
        *sums.entry(what).or_default() += count;
    }
    sums.into_iter()
        .map(|(what, count)| Tried { what, count })
        .collect()
}

/// Returns the commit of the repository, marked if something is not committed.
pub(crate) fn commit(top: &Path) -> Result<String, Failure> {
    let commit = ask(top, "git", &["rev-parse", "--short=12", "HEAD"])?;
    // The record itself changes with every part.
    let changed = ask(
        top,
        "git",
        &[
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            ".",
            ":!docs/reference",
        ],
    )?;
    let mark = if changed.is_empty() {
        ""
    } else {
        " with changes"
    };
    Ok(commit + mark)
}

/// Runs a program and returns what it prints.
pub(crate) fn ask(top: &Path, program: &str, words: &[&str]) -> Result<String, Failure> {
    let failed = |reason: String| Failure::Program {
        command: format!("{program} {}", words.join(" ")),
        reason,
    };
    let output = Command::new(program).args(words).current_dir(top).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn read(top: &Path) -> Result<Record, Failure> {
    let path = top.join(JSON);
    if !path.exists() {
        return Ok(Record::new());
    }
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    Ok(serde_json::from_str(&text)?)
}

/// Keeps what came of a part.
pub(crate) fn keep(top: &Path, part: &str, entry: Entry) -> Result<(), Failure> {
    let mut record = read(top)?;
    record.insert(part.to_owned(), entry);
    let path = top.join(JSON);
    let text = serde_json::to_string_pretty(&record)? + "\n";
    fs::write(&path, text).map_err(Failure::file(&path))
}

/// Writes the page from what was kept.
pub(crate) fn write(top: &Path) -> Result<(), Failure> {
    let path = top.join(PAGE);
    fs::write(&path, page(&read(top)?)).map_err(Failure::file(&path))?;
    println!("soak: {PAGE} is written");
    Ok(())
}

fn page(record: &Record) -> String {
    let mut text = String::from(
        "# What the last soak tried\n\n\
         `make soak` tries every fault that the fault tests know; `make test` tries a sample of them.\n\
         `make soak PART=NAME` runs one part. This page is generated from `soak.json`, which the parts write.\n\n\
         | part | what it does | tried | failed | took | when | commit |\n|---|---|---|---|---|---|---|\n",
    );
    for part in PARTS {
        let row = match record.get(part.name) {
            None => format!(
                "| `{}` | {} | not run yet | | | | |\n",
                part.name, part.about
            ),
            Some(entry) => {
                let tried = entry
                    .tried
                    .iter()
                    .map(|Tried { what, count }| format!("{count} {what}"));
                let tried: Vec<String> = tried.collect();
                let failed = match entry.failed.as_slice() {
                    [] => "none".to_owned(),
                    failed => failed.join("<br>"),
                };
                format!(
                    "| `{}` | {} | {} | {failed} | {:.1} min | {} | `{}` |\n",
                    part.name,
                    part.about,
                    tried.join("<br>"),
                    entry.minutes,
                    entry.date,
                    entry.commit
                )
            }
        };
        text.push_str(&row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::root;

    fn entry(failed: &[&str]) -> Entry {
        let tried = |what: &str, count| Tried {
            what: what.into(),
            count,
        };
        Entry {
            commit: "0123456789ab".into(),
            date: "2026-01-02 03:04 UTC".into(),
            minutes: 12.3,
            seed: "7".into(),
            tried: sum(vec![
                tried("kills", 20),
                tried("crashes", 3),
                tried("kills", 1),
            ]),
            failed: failed.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn the_page_says_what_was_tried_and_what_was_not() {
        let record = Record::from([("sigkill".to_owned(), entry(&[]))]);
        let text = page(&record);
        assert!(
            text.contains("| 3 crashes<br>21 kills | none | 12.3 min | 2026-01-02 03:04 UTC | `0123456789ab` |"),
            "{text}"
        );
        assert_eq!(text.matches("not run yet").count(), PARTS.len() - 1);
        let record = Record::from([("sigkill".to_owned(), entry(&["a::b"]))]);
        assert!(page(&record).contains("| a::b |"));
    }

    #[test]
    fn a_part_is_kept_beside_the_others() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("docs/reference")).unwrap();
        keep(top.path(), "undo", entry(&[])).unwrap();
        keep(top.path(), "kills", entry(&["x"])).unwrap();
        keep(top.path(), "undo", entry(&["y"])).unwrap();
        let record = read(top.path()).unwrap();
        assert_eq!(record.len(), 2);
        assert_eq!(record["undo"].failed, ["y"]);
    }

    #[test]
    fn the_page_in_the_repository_is_what_was_recorded() {
        let top = root().unwrap();
        let path = top.join(PAGE);
        assert_eq!(
            fs::read_to_string(path).unwrap(),
            page(&read(&top).unwrap())
        );
    }
}
