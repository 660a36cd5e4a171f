//! `figures`: writes every measured figure of the documentation from `bench/results.json`.
//!
//! A page marks where figures go; what stands between the marks is generated:
//!
//! | mark | becomes |
//! |---|---|
//! | `<!-- figures: ID ID … -->` … `<!-- end -->`, each on a line of its own | a table of these rows, their bounds and how they were measured |
//! | `<!-- figure: ID -->…<!-- end -->` | one figure with its unit |
//! | `<!-- figure: ID PEER -->…<!-- end -->` | the same figure of a peer |
//! | `<!-- figure: ID PEER ratio -->…<!-- end -->` | ours divided by the peer's |

mod results;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use self::results::{Missing, Peer, Results};
use crate::failure::Failure;
use crate::root::root;

/// The measured figures.
const RESULTS: &str = "bench/results.json";
/// What ends every mark.
const END: &str = "<!-- end -->";
const HINT: &str = "`cargo run -p xtask -- figures` writes them; `make bench` measures them";

/// Writes the figures of all pages, or with `--check` compares them.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let is_check = match arguments {
        [] => false,
        [check] if check == "--check" => true,
        [first, ..] => return Err(Failure::Usage(first.clone())),
    };
    let root = root()?;
    let path = root.join(RESULTS);
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    let results: Results = serde_json::from_str(&text)?;
    let (mut findings, mut count) = (vec![], 0);
    for path in pages(&root)? {
        let before = fs::read_to_string(&path).map_err(Failure::file(&path))?;
        let shown = path.strip_prefix(&root).unwrap_or(&path).display();
        let Filled { text, marks, wrong } = fill(&before, &results);
        count += marks;
        findings.extend(wrong.into_iter().map(|wrong| format!("{shown}: {wrong}")));
        if text == before {
            continue;
        }
        if is_check {
            findings.push(format!("{shown} shows other figures than {RESULTS}"));
        } else {
            fs::write(&path, text).map_err(Failure::file(&path))?;
        }
    }
    if findings.is_empty() {
        println!("figures: {count} marks are up to date");
        return Ok(());
    }
    Err(Failure::Found {
        summary: "figures in the documentation are wrong:".into(),
        findings,
        hint: HINT,
    })
}

/// Lists the pages that may show figures.
fn pages(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Failure::file(&folder))? {
            let path = entry.map_err(Failure::file(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// A page with its figures.
struct Filled {
    text: String,
    /// The number of marks in it.
    marks: usize,
    /// Marks that cannot be filled.
    wrong: Vec<String>,
}

/// Puts figures between all marks of a page; what cannot be filled stays as it is.
fn fill(page: &str, results: &Results) -> Filled {
    let mut filled = Filled {
        text: String::new(),
        marks: 0,
        wrong: vec![],
    };
    let mut rest = page;
    while let Some(mark) = Mark::next(rest) {
        filled.marks += 1;
        let (before, after) = rest.split_at(mark.begin);
        filled.text += before;
        let (opening, after) = after.split_at(mark.length);
        let Some((old, after)) = after.split_once(END) else {
            filled.wrong.push(format!("{opening} has no {END}"));
            filled.text += opening;
            rest = after;
            continue;
        };
        let new = mark.content(results).unwrap_or_else(|wrong| {
            filled.wrong.push(wrong);
            old.to_owned()
        });
        filled.text.extend([opening, &new, END]);
        rest = after;
    }
    filled.text += rest;
    filled
}

/// The beginning of a place for figures.
struct Mark<'p> {
    /// Where it begins, in bytes.
    begin: usize,
    /// How long it is.
    length: usize,
    /// Whether it is the place of a table.
    is_table: bool,
    words: Vec<&'p str>,
}

impl<'p> Mark<'p> {
    /// Finds the next mark.
    fn next(text: &'p str) -> Option<Self> {
        let find = |opening: &str| text.find(opening).map(|begin| (begin, opening.len()));
        let table = find("<!-- figures:");
        let one = find("<!-- figure:");
        let (begin, opening) = table.into_iter().chain(one).min()?;
        let behind = text.get(begin + opening..)?;
        let (words, _) = behind.split_once("-->")?;
        Some(Self {
            begin,
            length: opening + words.len() + "-->".len(),
            is_table: table.is_some_and(|(place, _)| place == begin),
            words: words.split_whitespace().collect(),
        })
    }

    /// Returns what goes behind it.
    fn content(&self, results: &Results) -> Result<String, String> {
        let found = if self.is_table {
            table::markdown(&self.words, results).map(|table| format!("\n{table}"))
        } else {
            self.figure(results)
        };
        match found {
            Ok(text) => Ok(text),
            Err(Missing::NotMeasured(_)) => Ok("(not measured)".into()),
            Err(Missing::Unknown(wrong)) => Err(wrong),
        }
    }

    fn figure(&self, results: &Results) -> Result<String, Missing> {
        match self.words[..] {
            [id] => {
                let row = results.row(id)?;
                Ok(results::shown(row.value, &row.unit))
            }
            [id, peer] => {
                let (row, peer) = results.peer(id, peer)?;
                let value = peer.value.ok_or_else(|| not_measured(peer))?;
                Ok(results::shown(value, &row.unit))
            }
            [id, peer, "ratio"] => {
                let (_, peer) = results.peer(id, peer)?;
                let ratio = peer.ratio.ok_or_else(|| not_measured(peer))?;
                Ok(results::shown(ratio, "×"))
            }
            _ => {
                let words = self.words.join(" ");
                let wrong = format!("<!-- figure: {words} --> names no figure");
                Err(Missing::Unknown(wrong))
            }
        }
    }
}

fn not_measured(peer: &Peer) -> Missing {
    Missing::NotMeasured(peer.missing.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small file of results.
    pub(super) fn results() -> Results {
        serde_json::from_str(
            r#"{"commit": "0123456789abcdef", "dirty": false, "date": "2026-01-02T03:04:05Z",
            "kernel": "6.18.1", "cores": 2, "rows": [
            {"id": "a.time", "what": "it takes", "value": 3.41, "unit": "s", "rounds": 10, "note": "Asked often.",
             "peers": [
              {"id": "p", "name": "peer", "value": 5.5, "ratio": 0.625, "bound": {"at-most": 0.7}},
              {"id": "q", "name": "other", "value": null, "ratio": null, "missing": "no such kernel"}]},
            {"id": "a.rate", "what": "answers a second", "value": 2822.7, "unit": "/s", "rounds": 1,
             "bound": {"at-least": 2000}, "peers": []},
            {"id": "a.goal", "what": "it aims", "value": 1.0, "unit": "s", "rounds": 1, "peers": [
              {"id": "p", "name": "peer", "value": 2.0, "ratio": 0.5, "goal": {"at-most": 0.4}}]}],
            "failed": [{"benchmark": "c", "why": "there is no nginx"}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn figures_are_written_between_their_marks_and_nowhere_else() {
        let page = "a <!-- figure: a.rate -->x<!-- end --> b <!-- figure: a.time p --><!-- end --> \
                    c <!-- figure: a.time p ratio -->0.1×<!-- end --> d";
        let filled = fill(page, &results());
        assert_eq!(
            filled.text,
            "a <!-- figure: a.rate -->2,823<!-- end --> b <!-- figure: a.time p -->5.5 s<!-- end --> \
             c <!-- figure: a.time p ratio -->0.62×<!-- end --> d"
        );
        assert_eq!((filled.marks, filled.wrong.len()), (3, 0));
        assert_eq!(fill(&filled.text, &results()).text, filled.text);
    }

    #[test]
    fn what_could_not_be_measured_says_so() {
        let page = "<!-- figure: a.time q -->1<!-- end --> <!-- figure: c.x -->2<!-- end -->";
        let filled = fill(page, &results());
        assert_eq!(
            filled.text,
            "<!-- figure: a.time q -->(not measured)<!-- end --> \
             <!-- figure: c.x -->(not measured)<!-- end -->"
        );
        assert_eq!(filled.wrong, [""; 0]);
    }

    #[test]
    fn a_mark_that_names_nothing_is_reported_and_left_alone() {
        for (page, wrong) in [
            ("<!-- figure: a.b -->1<!-- end -->", "a.b is not in"),
            (
                "<!-- figure: a.time z -->1<!-- end -->",
                "a.time has no peer z",
            ),
            ("<!-- figures: a.time a.b -->1<!-- end -->", "a.b is not in"),
            ("<!-- figure: a.time -->1", "has no <!-- end -->"),
        ] {
            let filled = fill(page, &results());
            assert_eq!(filled.text, page);
            assert!(filled.wrong[0].contains(wrong), "{:?}", filled.wrong);
        }
    }
}
