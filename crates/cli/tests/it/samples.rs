//! The samples of the guides, typed into a shell and compared with what the guides show.
//!
//! | a fence that begins with | is |
//! |---|---|
//! | `console` | commands behind `$ ` with their output, run and compared |
//! | `sh run` | commands that are run and must succeed |
//! | `LANGUAGE file=NAME` | a file that the commands find in their folder |
//! | `console not-run`, `sh` | not run: they need a machine, a network or luck |
//!
//! All fences of a page share one shell and one folder. A line `…` stands for any lines, `…` in a line
//! for any text in it. Times, durations, run ids and bars are compared by their shape.
//! `BOOTLACE_SAMPLES=update` writes what the program prints into the pages instead.

mod page;
mod shell;
mod show;

use std::path::{Path, PathBuf};

use self::page::Page;
use self::show::Shown;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Lists every page that people read.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![repository().join("README.md")];
    let mut folders = vec![repository().join("docs")];
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
    pages.sort();
    pages
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "pages of the repository, and a variable that people set for this test"
)]
fn the_samples_of_the_guides_are_what_the_program_prints() {
    let updates = std::env::var("BOOTLACE_SAMPLES").is_ok_and(|value| value == "update");
    let compared = std::thread::scope(|scope| {
        let compare = |path: PathBuf| {
            scope.spawn(move || {
                let text = std::fs::read_to_string(&path).unwrap();
                let page = Page::read(&text);
                let shown = shell::run(&page);
                (path, text, page, shown)
            })
        };
        let running: Vec<_> = pages().into_iter().map(compare).collect();
        let ended = running.into_iter().map(|page| page.join().unwrap());
        ended.collect::<Vec<_>>()
    });
    let mut wrong = Vec::new();
    let mut samples = 0;
    for (path, text, page, shown) in compared {
        samples += shown.len();
        let found = mismatches(&path, &page, &shown);
        if updates && !found.is_empty() {
            std::fs::write(&path, page.updated(&text, &shown)).unwrap();
        }
        wrong.extend(found);
    }
    assert!(samples > 40, "only {samples} samples were found");
    assert!(
        wrong.is_empty(),
        "{}\n{} of {samples} samples differ; BOOTLACE_SAMPLES=update rewrites the pages",
        wrong.join("\n"),
        wrong.len()
    );
}

/// Says which samples of a page are not what was shown.
fn mismatches(path: &Path, page: &Page, shown: &[Shown]) -> Vec<String> {
    let name = path.strip_prefix(repository()).unwrap().display();
    let pairs = page.samples().zip(shown);
    let wrong = pairs.filter(|(sample, shown)| !shown.fits(sample));
    let tell = |(sample, shown): (&page::Sample, &Shown)| {
        format!("{name}:{}: $ {}\n{shown}", sample.line, sample.command)
    };
    wrong.map(tell).collect()
}
